#include "eval/rendezvous.h"

#include <algorithm>

#include "eval/call.h"

namespace hilo {

Rendezvous::Rendezvous(const Module& module, DeviceGrid grid)
    : module_(module), grid_(grid), standings_(grid.count()), running_(grid.count()) {
  for (int64_t i = 0; i < grid.count(); ++i)
    wake_.push_back(std::make_unique<std::condition_variable>());
}

Result<std::shared_ptr<const Rendezvous::Meeting>> Rendezvous::meet(const Call& call,
                                                                    const DeviceGroup& group,
                                                                    std::vector<Literal> values,
                                                                    const Conclude& conclude) {
  const int64_t ordinal = call.device.traffic.executions[call.id.value]++;
  std::unique_lock lock(mutex_);
  if (error_) return std::unexpected(*error_);
  std::shared_ptr<Open>& slot = meetings_[Key{call.id.value, group.index, ordinal}];
  if (!slot) {
    slot = std::make_shared<Open>();
    slot->members = group.members;
    slot->missing = group.members.size();
    slot->came.resize(group.members.size());
    slot->meeting->brought.resize(group.members.size());
  }
  const std::shared_ptr<Open> open = slot;
  open->meeting->brought[group.position] = std::move(values);
  open->came[group.position] = true;
  if (--open->missing > 0) {
    HILO_DO(wait(lock, call.device.id, {State::Waiting, call.id, ordinal, open, {}}));
    return std::shared_ptr<const Meeting>(open->meeting);
  }
  meetings_.erase(Key{call.id.value, group.index, ordinal});
  if (conclude) {
    lock.unlock();
    Result<void> concluded = conclude(*open->meeting);
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
  std::lock_guard lock(mutex_);
  parcels_[parcel] = std::move(values);
  if (standings_[parcel.target].parcel == parcel) resume(parcel.target);
}

Result<std::vector<Literal>> Rendezvous::take(const Call& call, const Parcel& parcel) {
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
  std::lock_guard lock(mutex_);
  stop_locked(error);
}

void Rendezvous::stop_locked(const Error& error) {
  try {
    if (!error_) error_ = error;
  } catch (const std::bad_alloc&) {
    error_ = Error{ErrorKind::Memory, "out of memory", {}};  // so short that it takes none
  }
  stopped_ = true;
  for (auto& wake : wake_) wake->notify_all();
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
  if (standing.parcel) return list_of({standing.parcel->source});
  std::vector<int64_t> devices;
  for (size_t i = 0; i < standing.open->members.size(); ++i)
    if (!standing.open->came[i]) devices.push_back(standing.open->members[i]);
  return list_of(devices);
}

std::string Rendezvous::describe(int64_t device) const {
  const Standing& standing = standings_[device];
  if (standing.state == State::Finished) return fmt::format("device {} has finished", device);
  const Instruction& instruction = module_[standing.instruction];
  return fmt::format("device {} waits in {} '{}' (execution {}) for {}", device,
                     text_of(instruction.op), instruction.name, standing.ordinal + 1,
                     missing(standing));
}

// Called whenever a device stops running: when none runs, those that wait do so for ever.
void Rendezvous::look_for_deadlock() {
  if (running_ > 0 || error_) return;
  auto stuck = std::ranges::find(standings_, State::Waiting, &Standing::state);
  if (stuck == standings_.end()) return;
  std::string message = fmt::format("{} '{}' can never complete: {} will not come",
                                    text_of(module_[stuck->instruction].op),
                                    module_[stuck->instruction].name, missing(*stuck));
  constexpr int64_t shown = 64;
  for (int64_t i = 0; i < std::min(grid_.count(), shown); ++i) message += "; " + describe(i);
  if (grid_.count() > shown) message += fmt::format("; and {} more", grid_.count() - shown);
  stop_locked({ErrorKind::Deadlock, std::move(message), module_.place(stuck->instruction)});
}

}  // namespace hilo
