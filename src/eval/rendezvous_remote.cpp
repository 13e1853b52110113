// Where virtual devices meet those of other processes.
#include <algorithm>

#include "eval/call.h"

namespace hilo {
namespace {

// The kinds of messages, the first number of their tags.
enum Purpose : int64_t { Meet, Pass, PassOnChannel };

Error interrupted_in(const Error& error, std::string_view standings) {
  Error out = error;
  out.message += fmt::format("; {}", standings);
  return out;
}

}  // namespace

Result<void> Rendezvous::exchange_all(Meeting& meeting, RemoteGroup& group) {
  std::vector<Literal> own;
  for (const size_t position : group.own().positions)
    own.insert(own.end(), meeting.brought[position].begin(), meeting.brought[position].end());
  const size_t each = own.size() / group.own().positions.size();
  for (const RemoteGroup::Rank& other : group.ranks())
    if (&other != &group.own()) group.send(other.rank, 0, own);
  const std::vector<SharedShape> shapes = shapes_of(std::span(own).first(each));
  for (const RemoteGroup::Rank& other : group.ranks()) {
    if (&other == &group.own()) continue;
    std::vector<SharedShape> all;
    for (size_t i = 0; i < other.positions.size(); ++i)
      all.insert(all.end(), shapes.begin(), shapes.end());
    HILO_TRY(std::vector<Literal> values, group.receive(other.rank, 0, all));
    auto next = std::make_move_iterator(values.begin());
    for (const size_t position : other.positions) {
      meeting.brought[position].assign(next, next + static_cast<std::ptrdiff_t>(each));
      next += static_cast<std::ptrdiff_t>(each);
    }
  }
  return {};
}

std::vector<Literal> Rendezvous::Meeting::cut_of(size_t sender, size_t receiver,
                                                 const Cut& cut) const {
  if (const auto found = cuts.find({sender, receiver}); found != cuts.end()) return found->second;
  return cut(brought[sender], receiver);
}

Rendezvous::Exchange Rendezvous::exchange_cuts(Cut cut) {
  return [cut = std::move(cut)](Meeting& meeting, RemoteGroup& group) -> Result<void> {
    std::vector<SharedShape> shapes;
    for (const RemoteGroup::Rank& other : group.ranks()) {
      if (&other == &group.own()) continue;
      std::vector<Literal> all;
      for (const size_t sender : group.own().positions)
        for (const size_t receiver : other.positions) {
          std::vector<Literal> one = cut(meeting.brought[sender], receiver);
          if (shapes.empty()) shapes = shapes_of(one);
          std::ranges::move(one, std::back_inserter(all));
        }
      group.send(other.rank, 0, all);
    }
    for (const RemoteGroup::Rank& other : group.ranks()) {
      if (&other == &group.own()) continue;
      std::vector<SharedShape> expected;
      const size_t pairs = other.positions.size() * group.own().positions.size();
      for (size_t i = 0; i < pairs; ++i)
        expected.insert(expected.end(), shapes.begin(), shapes.end());
      HILO_TRY(std::vector<Literal> values, group.receive(other.rank, 0, expected));
      auto next = std::make_move_iterator(values.begin());
      for (const size_t sender : other.positions)
        for (const size_t receiver : group.own().positions) {
          meeting.cuts[{sender, receiver}].assign(next, next + std::ssize(shapes));
          next += std::ssize(shapes);
        }
    }
    return {};
  };
}

// The device counts as one that waits for other processes while the body runs.
template <class Body>
auto Rendezvous::wait_for_others(int64_t device, Standing standing, Body&& body) {
  {
    const std::lock_guard lock(mutex_);
    standing.state = State::Waiting;
    standings_[device] = std::move(standing);
    --running_;
    ++waiting_for_others_;
  }
  auto out = body();
  const std::lock_guard lock(mutex_);
  standings_[device] = {};
  ++running_;
  --waiting_for_others_;
  return out;
}

MessageWait Rendezvous::message_wait() const { return {&stopped_, interrupt_, {}}; }

MessageTag Rendezvous::tag_of(const Parcel& parcel) const {
  return {processes_.run,
          {parcel.is_channel ? PassOnChannel : Pass, parcel.id, parcel.source, parcel.target,
           parcel.ordinal}};
}

Result<void> Rendezvous::conclude_meeting(const Call& call, const DeviceGroup& group,
                                          int64_t ordinal, const std::shared_ptr<Open>& open,
                                          const Conclude& conclude, const Exchange& exchange) {
  if (open->is_remote) {
    RemoteGroup others(*processes_.communicator, ranks_, group.members,
                       {processes_.run, {Meet, call.id.value, group.index, ordinal, 0}},
                       message_wait(), [&](int rank) {
                         const std::lock_guard lock(mutex_);
                         standings_[call.device.id].rank = rank;
                       });
    const auto exchanging = [&] {
      return exchange ? exchange(*open->meeting, others) : exchange_all(*open->meeting, others);
    };
    const Result<void> done =
        wait_for_others(call.device.id, {State::Waiting, call.id, ordinal, open, {}}, exchanging);
    if (!done) return std::unexpected(error_in(call, done.error()));
  }
  return conclude ? conclude(*open->meeting) : Result<void>();
}

Result<std::vector<Literal>> Rendezvous::take_remote(const Call& call, const Parcel& parcel,
                                                     std::span<const SharedShape> shapes) {
  const auto receiving = [&]() -> Result<std::vector<Literal>> {
    HILO_TRY(Message message, processes_.communicator->receive(ranks_.of(parcel.source),
                                                               tag_of(parcel), message_wait()));
    return values_of(std::move(message), shapes);
  };
  auto out = wait_for_others(
      call.device.id,
      {State::Waiting, call.id, parcel.ordinal, {}, parcel, ranks_.of(parcel.source)}, receiving);
  if (!out) return std::unexpected(error_in(call, out.error()));
  return out;
}

// What ended the run, where something has; else what a message is waited for in vain, with what all
// processes wait for.
Error Rendezvous::error_in(const Call& call, const Error& error) {
  std::string standings;
  if (error.kind == ErrorKind::Interrupted) standings = processes_.communicator->standings();
  const std::lock_guard lock(mutex_);
  Error out = error_ ? *error_ : error;
  if (!error_ && !standings.empty()) out = interrupted_in(error, standings);
  if (!out.place.instruction.empty()) return out;
  out.place = module_.place(call.id);
  if (standings.empty())
    out.message += fmt::format("; device {} waits in {} '{}'", call.device.id,
                               text_of(call.instruction.op), call.instruction.name);
  if (error_) error_ = out;
  return out;
}

bool Rendezvous::needs(int rank) const {
  for (int64_t device = 0; device < grid_.count(); ++device)
    if (ranks_.of(device) == rank) return true;
  return false;
}

ProcessStanding Rendezvous::standing() const {
  const std::lock_guard lock(mutex_);
  ProcessStanding out{running_ == 0, waiting_for_others_, ""};
  for (int64_t device = 0; device < grid_.count(); ++device) {
    if (!is_here(device)) continue;
    out.text += (out.text.empty() ? "" : ", ") + describe(device);
  }
  return out;
}

void Rendezvous::stop_for(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (error_) return;
  tells_others_ = false;
  Error named = error;
  const auto waits = std::ranges::find(standings_, State::Waiting, &Standing::state);
  if (waits != standings_.end()) {
    named.message += "; " + describe(waits - standings_.begin());
    if (named.place.instruction.empty()) named.place = module_.place(waits->instruction);
  }
  stop_locked(named);
}

}  // namespace hilo
