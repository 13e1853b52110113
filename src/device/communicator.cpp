#include "device/communicator.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "device/device.h"
#include "device/error_text.h"
#include "device/mailbox.h"

namespace hilo {
namespace {

using Clock = Transport::Clock;

// What is known of another process.
struct Peer {
  bool has_left = false;
  std::optional<std::string> lost;  // why
  ProcessStanding standing;         // as it said last
  int64_t heartbeats = 0, sent = 0, received = 0;
  // All of what it has said lately is the same: for so many heartbeats.
  int64_t same_heartbeats = 0;
};

struct Failure {
  uint64_t run;  // 0: of all
  Error error;
  bool is_known_to_all;  // the process where it happened has told all others
};

constexpr int64_t certain_heartbeats = 3;  // what all say as often is no passing moment
constexpr size_t remembered_failures = 64;

std::string name_of(int rank) { return fmt::format("rank {}", rank); }

Error failed_elsewhere(int rank, Error error) {
  if (!error.message.starts_with("rank ")) error.message = name_of(rank) + ": " + error.message;
  return error;
}

}  // namespace

struct Communicator::State {
  CommunicatorOptions options;
  HostDevice memory{1};
  Mailbox mailbox;
  mutable std::mutex mutex;  // of what follows, but not while participants are called
  std::vector<Peer> peers;
  std::vector<Participant*> participants;
  std::vector<Failure> failures;        // the latest last
  std::vector<std::string_view> waits;  // outside of runs
  int64_t sent = 0, received = 0, own_same = 0;
  std::string own_text;
  bool is_ending = false;
  std::recursive_mutex calls;  // participants are not removed while they are called
  std::condition_variable ending;
  std::unique_ptr<Transport> transport;
  std::thread thread;

  void receive(int from, Frame frame);
  void lose(int from, const std::string& reason);
  void fail_run(const Failure& failure);
  void tell_others(uint64_t run, const Error& error) const;
  void end_runs(const std::function<std::optional<Error>(const Participant&)>& error_of_run);
  std::optional<Error> failure_of(uint64_t run) const;
  std::optional<Error> why_gone(int from) const;
  ProcessStanding own_waits();
  void hear_heartbeat(Peer& peer, std::string_view bytes);
  void beat();
  void look_for_silence();
  void look_for_deadlock(const ProcessStanding& own);
  std::string all_standings(const ProcessStanding& own) const;
  void run();
};

void Communicator::State::receive(int from, Frame frame) {
  if (frame.kind == FrameKind::Data) {
    mailbox.put(from, frame.tag, std::move(frame.message));
    const std::lock_guard lock(mutex);
    ++received;
    return;
  }
  if (frame.kind == FrameKind::Stop)
    return fail_run({frame.tag.run, failed_elsewhere(from, error_of(frame.message.head)), true});
  {
    const std::lock_guard lock(mutex);
    Peer& peer = peers[static_cast<size_t>(from)];
    hear_heartbeat(peer, frame.message.head);
    if (frame.kind == FrameKind::Leave) peer.has_left = true;
  }
  if (frame.kind == FrameKind::Leave) mailbox.wake();
}

void Communicator::State::lose(int from, const std::string& reason) {
  {
    const std::lock_guard lock(mutex);
    Peer& peer = peers[static_cast<size_t>(from)];
    if (peer.lost || peer.has_left || is_ending) return;
    peer.lost = reason;
  }
  end_runs([&](const Participant& one) -> std::optional<Error> {
    if (!one.needs(from)) return std::nullopt;
    return Error{ErrorKind::Io, fmt::format("{} has died: {}", name_of(from), reason), {}};
  });
  mailbox.wake();
}

void Communicator::State::fail_run(const Failure& failure) {
  {
    const std::lock_guard lock(mutex);
    failures.push_back(failure);
    if (failures.size() > remembered_failures) failures.erase(failures.begin());
  }
  end_runs([&](const Participant& one) -> std::optional<Error> {
    if (failure.run != 0 && one.run() != failure.run) return std::nullopt;
    return failure.error;
  });
  mailbox.wake();
}

void Communicator::State::end_runs(
    const std::function<std::optional<Error>(const Participant&)>& error_of_run) {
  const std::lock_guard calling(calls);
  std::vector<Participant*> now;
  {
    const std::lock_guard lock(mutex);
    now = participants;
  }
  for (Participant* one : now)
    if (const auto error = error_of_run(*one)) one->stop_for(*error);
}

std::optional<Error> Communicator::State::failure_of(uint64_t run) const {
  for (const Failure& failure : failures)
    if (failure.run == 0 || failure.run == run) return failure.error;
  return std::nullopt;
}

std::optional<Error> Communicator::State::why_gone(int from) const {
  const Peer& peer = peers[static_cast<size_t>(from)];
  if (peer.lost) return Error{ErrorKind::Io, name_of(from) + " has died: " + *peer.lost, {}};
  if (peer.has_left) return Error{ErrorKind::Io, name_of(from) + " has ended", {}};
  return std::nullopt;
}

ProcessStanding Communicator::State::own_waits() {
  const std::lock_guard calling(calls);
  std::vector<Participant*> now;
  ProcessStanding out;
  {
    const std::lock_guard lock(mutex);
    now = participants;
    if (now.empty() && !waits.empty())
      return {mailbox.idle_waiters() == std::ssize(waits), std::ssize(waits),
              "waits " + std::string(waits.back())};
  }
  out.is_blocked = !now.empty();
  for (const Participant* one : now) {
    const ProcessStanding standing = one->standing();
    out.is_blocked &= standing.is_blocked;
    out.receivers += standing.receivers;
    out.text += (out.text.empty() ? "" : "; ") + standing.text;
  }
  out.is_blocked = out.is_blocked && out.receivers == mailbox.idle_waiters();
  if (out.text.empty()) out.text = "works outside of the program";
  return out;
}

void Communicator::State::hear_heartbeat(Peer& peer, std::string_view bytes) {
  const int64_t sent_by = take_number(bytes), received_by = take_number(bytes);
  const bool is_blocked = take_number(bytes) != 0;
  const bool is_same = peer.sent == sent_by && peer.received == received_by &&
                       peer.standing.is_blocked == is_blocked && peer.standing.text == bytes;
  peer.same_heartbeats = is_same ? peer.same_heartbeats + 1 : 0;
  ++peer.heartbeats;
  peer.sent = sent_by;
  peer.received = received_by;
  peer.standing = {is_blocked, 0, std::string(bytes)};
}

// What all others are told, and whether all wait for ever.
void Communicator::State::beat() {
  const ProcessStanding own = own_waits();
  std::vector<int> others;
  std::string head;
  {
    const std::lock_guard lock(mutex);
    put_number(head, sent);
    put_number(head, received);
    put_number(head, own.is_blocked);
    own_same = own_text == head + own.text ? own_same + 1 : 0;
    own_text = head + own.text;
    head = own_text;
    for (int rank = 0; rank < std::ssize(peers); ++rank)
      if (const Peer& peer = peers[static_cast<size_t>(rank)];
          rank != transport->rank() && !peer.lost && !peer.has_left)
        others.push_back(rank);
  }
  for (const int rank : others) transport->send(rank, {FrameKind::Heartbeat, {}, {head, {}}});
  if (options.finds_deadlocks) look_for_deadlock(own);
}

void Communicator::State::look_for_silence() {
  const auto now = Clock::now();
  std::vector<int> silent;
  {
    const std::lock_guard lock(mutex);
    for (int rank = 0; rank < std::ssize(peers); ++rank)
      if (const Peer& peer = peers[static_cast<size_t>(rank)];
          rank != transport->rank() && !peer.lost && !peer.has_left &&
          std::chrono::duration<double>(now - transport->last_heard(rank)).count() >
              options.max_silence_s)
        silent.push_back(rank);
  }
  for (const int rank : silent)
    lose(rank, fmt::format("nothing was heard of it for {} s", options.max_silence_s));
}

std::string Communicator::State::all_standings(const ProcessStanding& own) const {
  std::string out;
  for (int rank = 0; rank < std::ssize(peers); ++rank) {
    const Peer& peer = peers[static_cast<size_t>(rank)];
    const bool is_own = rank == transport->rank();
    const std::string text = is_own          ? own.text
                             : peer.lost     ? "has died"
                             : peer.has_left ? "has ended"
                                             : peer.standing.text;
    out += fmt::format("{}{}: {}", rank > 0 ? "; " : "", name_of(rank), text);
  }
  return out;
}

// Nobody sends before somebody else has sent, and nothing is on its way.
void Communicator::State::look_for_deadlock(const ProcessStanding& own) {
  std::optional<Error> found;
  {
    const std::lock_guard lock(mutex);
    int64_t on_the_way = sent - received;
    bool is_certain = own.is_blocked && own_same >= certain_heartbeats;
    for (int rank = 0; rank < std::ssize(peers); ++rank) {
      if (rank == transport->rank()) continue;
      const Peer& peer = peers[static_cast<size_t>(rank)];
      on_the_way += peer.sent - peer.received;
      is_certain &=
          peer.has_left || (peer.standing.is_blocked && peer.same_heartbeats >= certain_heartbeats);
    }
    if (!is_certain || on_the_way != 0) return;
    found = Error{ErrorKind::Deadlock, "all processes wait for ever: " + all_standings(own), {}};
  }
  tell_others(0, *found);  // who is not as certain yet may see this process end
  fail_run({0, *found, true});
}

void Communicator::State::tell_others(uint64_t run, const Error& error) const {
  const std::string head = bytes_of(error);
  for (int other = 0; other < transport->size(); ++other)
    if (other != transport->rank())
      transport->send(other, {FrameKind::Stop, {run, {}}, {head, {}}});
}

void Communicator::State::run() {
  std::unique_lock lock(mutex);
  const auto pause = std::chrono::duration<double>(options.heartbeat_s);
  while (!ending.wait_for(lock, pause, [&] { return is_ending; })) {
    lock.unlock();
    beat();
    look_for_silence();
    lock.lock();
  }
}

Communicator::Communicator(std::unique_ptr<Transport> transport, const CommunicatorOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->peers.resize(static_cast<size_t>(transport->size()));
  state_->transport = std::move(transport);
  State& state = *state_;
  state.transport->start(
      {[&state](int from, Frame frame) { state.receive(from, std::move(frame)); },
       [&state](int from, const std::string& reason) { state.lose(from, reason); }},
      [&state](int64_t bytes) { return state.memory.allocate(bytes); });
  if (size() > 1) state.thread = std::thread([&state] { state.run(); });
}

Communicator::~Communicator() {
  State& state = *state_;
  std::string head;
  {
    const std::lock_guard lock(state.mutex);
    state.is_ending = true;
    put_number(head, state.sent);
    put_number(head, state.received);
    put_number(head, 1);
    head += "has ended";
  }
  state.ending.notify_all();
  if (state.thread.joinable()) state.thread.join();
  for (int other = 0; other < size(); ++other)
    if (other != rank()) state.transport->send(other, {FrameKind::Leave, {}, {head, {}}});
  state.transport.reset();  // before what its threads use
}

int Communicator::rank() const { return state_->transport->rank(); }
int Communicator::size() const { return state_->transport->size(); }

void Communicator::send(int to, const MessageTag& tag, Message message) {
  {
    const std::lock_guard lock(state_->mutex);
    ++state_->sent;
  }
  state_->transport->send(to, {FrameKind::Data, tag, std::move(message)});
}

Result<void> Communicator::bring(int from, Message& message) const {
  for (size_t i = 0; i < message.body.size(); ++i) {
    Payload& array = message.body[i];
    array.bytes = state_->memory.allocate(std::max<int64_t>(1, array.size));
    if (!message.far->read(i, 0, array.bytes.get(), array.size)) return std::unexpected(gone(from));
  }
  message.far.reset();
  return {};
}

Error Communicator::gone(int from) const {
  const std::lock_guard lock(state_->mutex);
  return state_->why_gone(from).value_or(
      Error{ErrorKind::Io, name_of(from) + " has died: its memory cannot be read", {}});
}

Result<Message> Communicator::receive(int from, const MessageTag& tag, const MessageWait& wait) {
  State& state = *state_;
  std::optional<Error> error;
  const auto gives_up = [&] {
    const std::lock_guard lock(state.mutex);
    error = state.failure_of(tag.run);
    if (!error) error = state.why_gone(from);
    if (!error && wait.stopped && wait.stopped->load())
      error = Error{ErrorKind::Interrupted, "the run has been stopped", {}};
    if (!error && wait.interrupt && wait.interrupt->load())
      error = Error{ErrorKind::Interrupted, "stopped by the user", {}};
    return error.has_value();
  };
  const auto note = [&](bool begins) {
    if (wait.text.empty()) return;
    const std::lock_guard lock(state.mutex);
    if (begins) state.waits.push_back(wait.text);
    else state.waits.erase(std::ranges::find(state.waits, wait.text));
  };
  note(true);
  std::optional<Message> out = state.mailbox.take(from, tag, gives_up);
  note(false);
  if (!out) return std::unexpected(std::move(*error));
  if (out->far && !wait.takes_far_arrays) HILO_DO(bring(from, *out));
  return std::move(*out);
}

void Communicator::stop(uint64_t run, const Error& error) {
  {
    const std::lock_guard lock(state_->mutex);
    for (const Failure& failure : state_->failures)
      if (failure.is_known_to_all && (failure.run == 0 || failure.run == run)) return;
  }
  state_->tell_others(run, error);
}

void Communicator::wake() { state_->mailbox.wake(); }

void Communicator::add(Participant& participant) {
  std::optional<Error> before;
  {
    const std::lock_guard lock(state_->mutex);
    state_->participants.push_back(&participant);
    before = state_->failure_of(participant.run());
    for (int rank = 0; !before && rank < size(); ++rank)
      if (rank != this->rank() && participant.needs(rank)) before = state_->why_gone(rank);
  }
  if (before) participant.stop_for(*before);
}

void Communicator::remove(Participant& participant) {
  const std::lock_guard calling(state_->calls);
  const std::lock_guard lock(state_->mutex);
  std::erase(state_->participants, &participant);
}

std::string Communicator::standings() const {
  const ProcessStanding own = state_->own_waits();
  const std::lock_guard lock(state_->mutex);
  return state_->all_standings(own);
}

}  // namespace hilo
