#include "eval/rendezvous.h"

#include <algorithm>

#include "eval/call.h"

namespace hilo {

Rendezvous::Rendezvous(const Module& module, DeviceGrid grid, const EvalOptions& options)
    : module_(module),
      grid_(grid),
      processes_(options.processes),
      ranks_(processes_, grid.count()),
      interrupt_(options.interrupt),
      standings_(grid.count()),
      running_(0) {
  for (int64_t i = 0; i < grid.count(); ++i) {
    wake_.push_back(std::make_unique<std::condition_variable>());
    running_ += is_here(i);
  }
  if (processes_.communicator) processes_.communicator->add(*this);
}

Rendezvous::~Rendezvous() {
  if (processes_.communicator) processes_.communicator->remove(*this);
}

std::shared_ptr<Rendezvous::Open> Rendezvous::open_meeting(const Key& key,
                                                           const DeviceGroup& group) {
  std::shared_ptr<Open>& slot = meetings_[key];
  if (slot) return slot;
  slot = std::make_shared<Open>();
  slot->members = group.members;
  for (const int64_t member : group.members) slot->missing += is_here(member);
  slot->is_remote = slot->missing < group.members.size();
  slot->came.resize(group.members.size());
  slot->meeting->brought.resize(group.members.size());
  return slot;
}

Result<std::shared_ptr<const Rendezvous::Meeting>> Rendezvous::meet(const Call& call,
                                                                    const DeviceGroup& group,
                                                                    std::vector<Literal> values,
                                                                    const Conclude& conclude,
                                                                    const Exchange& exchange) {
  const int64_t ordinal = call.device.traffic.executions[call.id.value]++;
  const Key key = {call.id.value, group.index, ordinal};
  std::unique_lock lock(mutex_);
  if (error_) return std::unexpected(*error_);
  const std::shared_ptr<Open> open = open_meeting(key, group);
  open->meeting->brought[group.position] = std::move(values);
  open->came[group.position] = true;
  if (--open->missing > 0) {
    HILO_DO(wait(lock, call.device.id, {State::Waiting, call.id, ordinal, open, {}}));
    return std::shared_ptr<const Meeting>(open->meeting);
  }
  meetings_.erase(key);
  if (conclude || open->is_remote) {
    lock.unlock();
    Result<void> concluded = conclude_meeting(call, group, ordinal, open, conclude, exchange);
    lock.lock();
    if (!concluded) {
      stop_locked(concluded.error());
      return std::unexpected(concluded.error());
    }
  }
  open->complete = true;
  for (int64_t member : open->members)
    if (standings_[member].open == open) resume(member);
  return std::shared_ptr<const Meeting>(open->meeting);
}

void Rendezvous::post(const Parcel& parcel, std::vector<Literal> values) {
  if (!is_here(parcel.target))
    return processes_.communicator->send(ranks_.of(parcel.target), tag_of(parcel),
                                         message_of(values));
  std::lock_guard lock(mutex_);
  parcels_[parcel] = std::move(values);
  if (standings_[parcel.target].parcel == parcel) resume(parcel.target);
}

Result<std::vector<Literal>> Rendezvous::take(const Call& call, const Parcel& parcel,
                                              std::span<const SharedShape> shapes) {
  if (!is_here(parcel.source)) return take_remote(call, parcel, shapes);
  std::unique_lock lock(mutex_);
  if (!parcels_.contains(parcel))
    HILO_DO(wait(lock, call.device.id, {State::Waiting, call.id, parcel.ordinal, {}, parcel}));
  if (error_) return std::unexpected(*error_);
  auto found = parcels_.find(parcel);
  std::vector<Literal> values = std::move(found->second);
  parcels_.erase(found);
  return values;
}

Result<void> Rendezvous::wait(std::unique_lock<std::mutex>& lock, int64_t device,
                              Standing standing) {
  if (error_) return std::unexpected(*error_);
  standings_[device] = std::move(standing);
  --running_;
  look_for_deadlock();
  wake_[device]->wait(lock, [&] { return error_ || standings_[device].state == State::Running; });
  if (error_) return std::unexpected(*error_);
  return {};
}

// Counted here and not when the thread wakes, so that `running_` is never too small.
void Rendezvous::resume(int64_t device) {
  standings_[device] = {};
  ++running_;
  wake_[device]->notify_one();
}

void Rendezvous::finish(int64_t device) {
  std::lock_guard lock(mutex_);
  standings_[device] = {State::Finished, {}, 0, {}, {}};
  --running_;
  look_for_deadlock();
}

void Rendezvous::stop(const Error& error) {
  std::unique_lock lock(mutex_);
  stop_locked(error);
  if (!processes_.communicator || !std::exchange(tells_others_, false)) return;
  const Error first = *error_;
  lock.unlock();
  processes_.communicator->stop(processes_.run, first);
}

void Rendezvous::stop_locked(const Error& error) {
  try {
    if (!error_) error_ = error;
  } catch (const std::bad_alloc&) {
    error_ = Error{ErrorKind::Memory, "out of memory", {}};  // so short that it takes none
  }
  stopped_ = true;
  for (auto& wake : wake_) wake->notify_all();
  if (processes_.communicator) processes_.communicator->wake();
}

std::optional<Error> Rendezvous::error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

namespace {

std::string list_of(const std::vector<int64_t>& devices) {
  std::string text = devices.size() == 1 ? "device" : "devices";
  for (size_t i = 0; i < devices.size() && i < 16; ++i)
    text += fmt::format("{} {}", i > 0 ? "," : "", devices[i]);
  if (devices.size() > 16) text += fmt::format(" and {} more", devices.size() - 16);
  return text;
}

}  // namespace

std::string Rendezvous::missing(const Standing& standing) const {
  if (standing.rank) {
    std::vector<int64_t> devices;
    for (const int64_t member :
         standing.open ? standing.open->members : std::vector{standing.parcel->source})
      if (ranks_.of(member) == *standing.rank) devices.push_back(member);
    return fmt::format("rank {} ({})", *standing.rank, list_of(devices));
  }
  if (standing.parcel) return list_of({standing.parcel->source});
  std::vector<int64_t> devices;
  const bool is_complete_here = standing.open->missing == 0;
  for (size_t i = 0; i < standing.open->members.size(); ++i)
    if (!standing.open->came[i] && (is_complete_here || is_here(standing.open->members[i])))
      devices.push_back(standing.open->members[i]);
  return list_of(devices);
}

std::string Rendezvous::describe(int64_t device) const {
  const Standing& standing = standings_[device];
  if (standing.state == State::Finished) return fmt::format("device {} has finished", device);
  if (standing.state == State::Running) return fmt::format("device {} computes", device);
  const Instruction& instruction = module_[standing.instruction];
  return fmt::format("device {} waits in {} '{}' (execution {}) for {}", device,
                     text_of(instruction.op), instruction.name, standing.ordinal + 1,
                     missing(standing));
}

// Called whenever a device stops running: when none runs, those that wait do so for ever.
void Rendezvous::look_for_deadlock() {
  if (running_ > 0 || waiting_for_others_ > 0 || error_) return;
  auto stuck = std::ranges::find(standings_, State::Waiting, &Standing::state);
  if (stuck == standings_.end()) return;
  std::string message = fmt::format("{} '{}' can never complete: {} will not come",
                                    text_of(module_[stuck->instruction].op),
                                    module_[stuck->instruction].name, missing(*stuck));
  constexpr int64_t shown = 64;
  for (int64_t i = 0; i < std::min(grid_.count(), shown); ++i)
    if (is_here(i)) message += "; " + describe(i);
  if (grid_.count() > shown) message += fmt::format("; and {} more", grid_.count() - shown);
  stop_locked({ErrorKind::Deadlock, std::move(message), module_.place(stuck->instruction)});
}

}  // namespace hilo
