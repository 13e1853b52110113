#include "device/buffer.h"

#include <thread>

namespace hilo {

Result<Literal> HeldValue::take() {
  if (!promised_) return std::move(value_);
  promised_->ready.wait();
  if (const Error* error = promised_->ready.error()) return std::unexpected(*error);
  if (promised_->is_guarded) guard_ = promised_->value.storage();
  if (promised_.use_count() == 1) return std::move(promised_->value);
  return promised_->value;
}

class DeviceBuffer::Lock {
 public:
  explicit Lock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Lock() { flag_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic_flag& flag_;
};

DeviceBuffer::DeviceBuffer(Literal value, bool is_guarded)
    : is_guarded_(is_guarded), shape_(value.shared_shape()), value_(std::move(value)) {}

DeviceBuffer::DeviceBuffer(SharedShape shape, std::shared_ptr<PromisedValue> promised)
    : shape_(std::move(shape)), promised_(std::move(promised)) {}

DeviceBuffer::DeviceBuffer(SharedShape shape, HeldValue value)
    : is_guarded_(value.guard_ != nullptr),
      shape_(std::move(shape)),
      value_(std::move(value.value_)),
      promised_(std::move(value.promised_)) {}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : is_guarded_(other.is_guarded_),
      shape_(std::move(other.shape_)),
      value_(std::move(other.value_)),
      promised_(std::move(other.promised_)) {}

Event DeviceBuffer::ready() const {
  const Lock lock(lock_);
  return promised_ ? promised_->ready : Event();
}

HeldValue DeviceBuffer::held() const {
  HeldValue out;
  out.value_ = value_;
  out.promised_ = promised_;
  if (is_guarded_) out.guard_ = value_.storage();
  return out;
}

Result<HeldValue> DeviceBuffer::hold() const {
  const Lock lock(lock_);
  if (is_deleted()) return fail(ErrorKind::Input, "the array has been deleted or donated");
  return held();
}

Result<HeldValue> DeviceBuffer::give_away() {
  HeldValue out;
  const Lock lock(lock_);
  if (is_deleted_.exchange(true))
    return fail(ErrorKind::Input, "the array has been deleted or donated");
  if (is_guarded_) out.guard_ = value_.storage();
  out.value_ = std::move(value_);
  out.promised_ = std::move(promised_);
  value_ = Literal();
  return out;
}

// What lets go of memory may call others: not under the lock.
void DeviceBuffer::erase() {
  Literal value;
  std::shared_ptr<PromisedValue> promised;
  const Lock lock(lock_);
  is_deleted_.store(true, std::memory_order_release);
  std::swap(value, value_);
  std::swap(promised, promised_);
}

bool DeviceBuffer::add_reference() {
  const Lock lock(lock_);
  if (is_deleted()) return false;
  if (references_++ == 0) referred_ = held();
  return true;
}

bool DeviceBuffer::drop_reference() {
  HeldValue last;
  const Lock lock(lock_);
  if (references_ == 0) return false;
  if (--references_ == 0) std::swap(last, referred_);
  return true;
}

}  // namespace hilo
