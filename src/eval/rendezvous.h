// Where virtual devices meet: collectives, transfers, and the end of all when one fails or when
// nobody can go on. Private to `eval`.
#pragma once

#include <condition_variable>
#include <mutex>

#include "eval/remote_group.h"

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

class Rendezvous : public Participant {
 public:
  // What of a member's values the one at a position of the group needs.
  using Cut =
      std::function<std::vector<Literal>(const std::vector<Literal>& values, size_t position)>;
  // What the members of a group brought to one execution of a collective.
  struct Meeting {
    std::vector<std::vector<Literal>> brought;  // by member, in the order of the group
    std::vector<Literal> common;                // made by `conclude`
    // What members of other processes brought for those of this one, where it was cut; by sender
    // and receiver. Instead of `brought`.
    std::map<std::pair<size_t, size_t>, std::vector<Literal>> cuts;
    // For the receiver.
    std::vector<Literal> cut_of(size_t sender, size_t receiver, const Cut& cut) const;
  };
  using Conclude = std::function<Result<void>(Meeting&)>;
  // What processes do with a group that has members in several of them, instead of sending all that
  // was brought to each other.
  using Exchange = std::function<Result<void>(Meeting&, RemoteGroup&)>;
  // Names what passes from one device to another: an instruction's execution or a channel's.
  struct Parcel {
    bool is_channel = false;
    int64_t id = 0, source = 0, target = 0, ordinal = 0;
    auto operator<=>(const Parcel&) const = default;
  };

  Rendezvous(const Module& module, DeviceGrid grid, const EvalOptions& options);
  ~Rendezvous() override;
  DeviceGrid grid() const { return grid_; }
  bool is_here(int64_t device) const { return ranks_.is_here(device); }

  // Brings values to the group's next execution of the call's instruction and waits until all
  // members came. The last one of each process runs `exchange` where members live in several, and
  // then `conclude`, where they are given.
  Result<std::shared_ptr<const Meeting>> meet(const Call& call, const DeviceGroup& group,
                                              std::vector<Literal> values,
                                              const Conclude& conclude = {},
                                              const Exchange& exchange = {});
  // Each process sends all that its members brought to all others.
  static Result<void> exchange_all(Meeting& meeting, RemoteGroup& group);
  // An exchange of what each member needs of each other.
  static Exchange exchange_cuts(Cut cut);
  // Never waits.
  void post(const Parcel& parcel, std::vector<Literal> values);
  // Waits until the parcel was posted: values of these shapes.
  Result<std::vector<Literal>> take(const Call& call, const Parcel& parcel,
                                    std::span<const SharedShape> shapes);

  // The device has ended well.
  void finish(int64_t device);
  // The device has failed: all others end with the same error. The first error stays.
  void stop(const Error& error);
  std::optional<Error> error() const;
  // Whether some device has failed; asked before each instruction.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // As other processes see it.
  uint64_t run() const override { return processes_.run; }
  bool needs(int rank) const override;
  ProcessStanding standing() const override;
  void stop_for(const Error& error) override;

 private:
  struct Open {  // a meeting that is not complete, or whose conclusion runs
    std::shared_ptr<Meeting> meeting = std::make_shared<Meeting>();
    std::vector<int64_t> members;
    std::vector<bool> came;
    size_t missing = 0;      // in this process
    bool is_remote = false;  // members live in other processes
    bool complete = false;
  };
  enum class State : uint8_t { Running, Waiting, Finished };
  struct Standing {
    State state = State::Running;
    InstructionId instruction;  // while waiting
    int64_t ordinal = 0;
    std::shared_ptr<Open> open;    // waits for a meeting, or
    std::optional<Parcel> parcel;  // for a parcel
    std::optional<int> rank = {};  // that it comes from, or of members of the meeting
  };
  using Key = std::array<int64_t, 3>;  // instruction, group, ordinal

  Result<void> wait(std::unique_lock<std::mutex>& lock, int64_t device, Standing standing);
  std::shared_ptr<Open> open_meeting(const Key& key, const DeviceGroup& group);
  Result<void> conclude_meeting(const Call& call, const DeviceGroup& group, int64_t ordinal,
                                const std::shared_ptr<Open>& open, const Conclude& conclude,
                                const Exchange& exchange);
  Result<std::vector<Literal>> take_remote(const Call& call, const Parcel& parcel,
                                           std::span<const SharedShape> shapes);
  template <class Body>
  auto wait_for_others(int64_t device, Standing standing, Body&& body);
  MessageWait message_wait() const;
  Error error_in(const Call& call, const Error& error);
  MessageTag tag_of(const Parcel& parcel) const;
  void resume(int64_t device);
  void look_for_deadlock();
  void stop_locked(const Error& error);
  std::string describe(int64_t device) const;
  std::string missing(const Standing& standing) const;

  const Module& module_;
  DeviceGrid grid_;
  Processes processes_;
  DeviceRanks ranks_;
  const std::atomic<bool>* interrupt_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<std::condition_variable>> wake_;  // of each device
  std::vector<Standing> standings_;
  int64_t running_;                 // devices of this process that wait for nobody
  int64_t waiting_for_others_ = 0;  // those that wait for other processes
  std::map<Key, std::shared_ptr<Open>> meetings_;
  std::map<Parcel, std::vector<Literal>> parcels_;
  std::optional<Error> error_;
  std::atomic<bool> stopped_ = false;
  bool tells_others_ = true;  // other processes have not heard of the error
};

}  // namespace hilo
