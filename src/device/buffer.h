// A value in the memory of a device. Shown through device.h.
#pragma once

#include <atomic>

#include "device/event.h"
#include "shape/shape.h"

namespace hilo {

// A value that somebody makes: all else is written before `ready` happens.
struct PromisedValue {
  Event ready = Event::pending();
  Literal value;
  bool is_guarded = false;  // as DeviceBuffer's
};

// A buffer's value for one use, which outlives the buffer.
class HeldValue {
 public:
  // Waits for the value, and gives its error where it has one.
  Result<Literal> take();
  const Bytes& guard() const { return guard_; }
  bool is_there() const { return !promised_ || promised_->ready.is_done(); }

 private:
  friend class DeviceBuffer;
  Literal value_;
  std::shared_ptr<PromisedValue> promised_;  // instead of value_
  Bytes guard_;                              // while it is held, nobody writes over the value
};

// Callable from several threads.
class DeviceBuffer {
 public:
  // With is_guarded nobody writes over its storage, even where it is given away: it is another's.
  explicit DeviceBuffer(Literal value, bool is_guarded = false);
  DeviceBuffer(SharedShape shape, std::shared_ptr<PromisedValue> promised);
  DeviceBuffer(SharedShape shape, HeldValue value);  // another buffer of the same value
  DeviceBuffer(DeviceBuffer&& other) noexcept;       // of one that nobody else knows yet

  const SharedShape& shape() const { return shape_; }
  Event ready() const;
  bool is_deleted() const { return is_deleted_.load(std::memory_order_acquire); }
  // Input where the value was deleted or given away.
  Result<HeldValue> hold() const;
  Result<HeldValue> give_away();  // as hold(), and the buffer is deleted
  void erase();
  // While others keep the address of the value it stays, and is not written over. False where there
  // is no value, or no reference.
  bool add_reference();
  bool drop_reference();

 private:
  class Lock;
  HeldValue held() const;

  mutable std::atomic_flag lock_;  // held for some copies of pointers
  std::atomic<bool> is_deleted_ = false;
  bool is_guarded_ = false;
  int64_t references_ = 0;
  SharedShape shape_;
  Literal value_;
  std::shared_ptr<PromisedValue> promised_;
  HeldValue referred_;  // while there are references
};

}  // namespace hilo
