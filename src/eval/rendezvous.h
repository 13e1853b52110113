// Where virtual devices meet: collectives, transfers, and the end of all when one fails or when
// nobody can go on. Private to `eval`.
#pragma once

#include <condition_variable>
#include <mutex>

#include "eval/eval.h"

namespace hilo {

struct Call;

struct DeviceGrid {
  int64_t replicas = 1, partitions = 1;
  int64_t count() const { return replicas * partitions; }
};

// Devices that take part in one collective.
struct DeviceGroup {
  int64_t index = 0;             // distinguishes the groups of an instruction
  std::vector<int64_t> members;  // device ids in the order of the group
  size_t position = 0;           // of the calling device; members.size(): it is in no group
};

class Rendezvous;

// What one device remembers of its own traffic; used only by its own thread.
struct Traffic {
  struct Receive {  // a recv whose recv-done has not come
    int64_t source, channel, ordinal;
  };
  Rendezvous* rendezvous = nullptr;
  std::unordered_map<uint32_t, int64_t> executions;     // of each collective instruction so far
  std::map<std::array<int64_t, 3>, int64_t> transfers;  // by channel, source, target
  std::vector<Receive> receives;                        // a recv's context is 1 + its index
  // Operands of collectives that an AsyncCollectiveStart takes up, by their instruction.
  std::unordered_map<uint32_t, std::vector<Literal>> started;
  size_t infeed_position = 0;
};

class Rendezvous {
 public:
  // What the members of a group brought to one execution of a collective.
  struct Meeting {
    std::vector<std::vector<Literal>> brought;  // by member, in the order of the group
    std::vector<Literal> common;                // made by `conclude`
  };
  using Conclude = std::function<Result<void>(Meeting&)>;
  // Names what passes from one device to another: an instruction's execution or a channel's.
  struct Parcel {
    bool is_channel = false;
    int64_t id = 0, source = 0, target = 0, ordinal = 0;
    auto operator<=>(const Parcel&) const = default;
  };

  Rendezvous(const Module& module, DeviceGrid grid);
  DeviceGrid grid() const { return grid_; }

  // Brings values to the group's next execution of the call's instruction and waits until all
  // members came. The last one runs `conclude` first, when there is one.
  Result<std::shared_ptr<const Meeting>> meet(const Call& call, const DeviceGroup& group,
                                              std::vector<Literal> values,
                                              const Conclude& conclude = {});
  // Never waits.
  void post(const Parcel& parcel, std::vector<Literal> values);
  // Waits until the parcel was posted.
  Result<std::vector<Literal>> take(const Call& call, const Parcel& parcel);

  // The device has ended well.
  void finish(int64_t device);
  // The device has failed: all others end with the same error. The first error stays.
  void stop(const Error& error);
  std::optional<Error> error() const;
  // Whether some device has failed; asked before each instruction.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  struct Open {  // a meeting that is not complete, or whose conclusion runs
    std::shared_ptr<Meeting> meeting = std::make_shared<Meeting>();
    std::vector<int64_t> members;
    std::vector<bool> came;
    size_t missing = 0;
    bool complete = false;
  };
  enum class State : uint8_t { Running, Waiting, Finished };
  struct Standing {
    State state = State::Running;
    InstructionId instruction;  // while waiting
    int64_t ordinal = 0;
    std::shared_ptr<Open> open;    // waits for a meeting, or
    std::optional<Parcel> parcel;  // for a parcel
  };
  using Key = std::array<int64_t, 3>;  // instruction, group, ordinal

  Result<void> wait(std::unique_lock<std::mutex>& lock, int64_t device, Standing standing);
  void resume(int64_t device);
  void look_for_deadlock();
  void stop_locked(const Error& error);
  std::string describe(int64_t device) const;
  std::string missing(const Standing& standing) const;

  const Module& module_;
  DeviceGrid grid_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<std::condition_variable>> wake_;  // of each device
  std::vector<Standing> standings_;
  int64_t running_;
  std::map<Key, std::shared_ptr<Open>> meetings_;
  std::map<Parcel, std::vector<Literal>> parcels_;
  std::optional<Error> error_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace hilo
