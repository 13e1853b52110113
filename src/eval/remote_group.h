// Members of a group that live in other processes. Private to `eval`.
#pragma once

#include "device/device.h"
#include "eval/eval.h"

namespace hilo {

// Values as what one process sends to another: their arrays as they lie.
Message message_of(std::span<const Literal> values);
// The other way: values of these shapes. Format where the message has others.
Result<std::vector<Literal>> values_of(Message message, std::span<const SharedShape> shapes);
std::vector<SharedShape> shapes_of(std::span<const Literal> values);

// Which process runs which device.
class DeviceRanks {
 public:
  DeviceRanks(const Processes& processes, int64_t devices);
  int rank() const { return rank_; }
  int of(int64_t device) const {
    return ranks_.empty() ? rank_ : ranks_[static_cast<size_t>(device)];
  }
  bool is_here(int64_t device) const { return of(device) == rank_; }

 private:
  int rank_ = 0;
  std::vector<int> ranks_;  // empty: all are here
};

// Arrays that another process has sent, read where they lie.
class FarValues {
 public:
  // Io, naming the rank, where it has gone.
  Result<void> read(size_t array, int64_t offset, std::span<std::byte> to) const;

 private:
  friend class RemoteGroup;
  FarValues(Communicator& communicator, int rank, Message message)
      : communicator_(&communicator), rank_(rank), message_(std::move(message)) {}

  Communicator* communicator_;
  int rank_;
  Message message_;
};

// One execution of a collective, as its members in this process see those in others.
class RemoteGroup {
 public:
  struct Rank {
    int rank;
    std::vector<size_t> positions;  // of its members in the group
  };
  // tag: of the execution; its last number counts the steps. note_wait: told whom it waits for.
  RemoteGroup(Communicator& communicator, const DeviceRanks& ranks,
              const std::vector<int64_t>& members, const MessageTag& tag, const MessageWait& wait,
              std::function<void(int rank)> note_wait);

  // All processes of the group, by rank.
  const std::vector<Rank>& ranks() const { return ranks_; }
  const Rank& own() const { return ranks_[own_]; }
  size_t own_index() const { return own_; }
  void send(int rank, int64_t step, std::span<const Literal> values);
  Result<std::vector<Literal>> receive(int rank, int64_t step, std::span<const SharedShape> shapes);
  // Arrays of no dynamic sizes, which may be left where they lie.
  Result<FarValues> receive_far(int rank, int64_t step, std::span<const SharedShape> shapes);
  // Of a step without values.
  Result<void> hear(int rank, int64_t step);

 private:
  Result<Message> receive(int rank, int64_t step, bool takes_far_arrays);

  Communicator& communicator_;
  MessageTag tag_;
  MessageWait wait_;
  std::function<void(int rank)> note_wait_;
  std::vector<Rank> ranks_;
  size_t own_ = 0;
};

}  // namespace hilo
