#include "eval/remote_group.h"

#include <algorithm>
#include <cstring>

namespace hilo {
namespace {

// The sizes that dynamic dimensions have now, of each array: how many numbers, and these.
void put_sizes(std::string& to, const Dims& sizes) {
  const auto count = static_cast<int64_t>(sizes.size());
  to.append(reinterpret_cast<const char*>(&count), sizeof(count));
  to.append(reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof(int64_t));
}

bool take_sizes(std::string_view& from, Literal& value) {
  const auto take = [&](int64_t& number) {
    if (from.size() < sizeof(number)) return false;
    std::memcpy(&number, from.data(), sizeof(number));
    from.remove_prefix(sizeof(number));
    return true;
  };
  int64_t count = 0;
  if (!take(count) || (count != 0 && count != value.shape().rank())) return false;
  for (int64_t dim = 0; dim < count; ++dim) {
    int64_t size = 0;
    const int64_t bound = value.shape().dims[static_cast<size_t>(dim)];
    if (!take(size) || size < 0 || size > bound) return false;
    if (size != bound) value.set_size(static_cast<size_t>(dim), size);
  }
  return true;
}

// The value of a shape out of the arrays of a message, one after another.
class Unpacking {
 public:
  explicit Unpacking(Message& message) : message_(message), sizes_(message.head) {}

  bool take(const SharedShape& shape, Literal& to) {
    if (shape->is_tuple()) {
      std::vector<Literal> elements(shape->elements.size());
      for (size_t i = 0; i < elements.size(); ++i)
        if (!take(std::make_shared<Shape>(shape->elements[i]), elements[i])) return false;
      to = Literal::tuple(std::move(elements), shape);
      return true;
    }
    if (!shape->is_array()) return to = Literal::token(), true;
    if (next_ == message_.body.size()) return false;
    Payload& array = message_.body[next_++];
    if (array.size != literal_bytes(*shape)) return false;
    to = Literal::uninitialized(shape, [&](int64_t) { return std::move(array.bytes); });
    return take_sizes(sizes_, to);
  }
  bool is_empty() const { return next_ == message_.body.size() && sizes_.empty(); }

 private:
  Message& message_;
  std::string_view sizes_;
  size_t next_ = 0;
};

}  // namespace

Message message_of(std::span<const Literal> values) {
  Message out;
  for (const Literal& value : values)
    for_each_leaf(value, [&](const Literal& leaf) {
      if (!leaf.shape().is_array()) return;
      put_sizes(out.head, leaf.dynamic_sizes());
      out.body.push_back({leaf.storage(), static_cast<int64_t>(leaf.raw().size())});
    });
  return out;
}

Result<std::vector<Literal>> values_of(Message message, std::span<const SharedShape> shapes) {
  std::vector<Literal> out(shapes.size());
  Unpacking unpacking(message);
  for (size_t i = 0; i < shapes.size(); ++i)
    if (!unpacking.take(shapes[i], out[i]))
      return fail(ErrorKind::Format, "another process has sent values of other shapes");
  if (!unpacking.is_empty()) return fail(ErrorKind::Format, "another process has sent more values");
  return out;
}

std::vector<SharedShape> shapes_of(std::span<const Literal> values) {
  std::vector<SharedShape> out;
  for (const Literal& value : values) out.push_back(value.shared_shape());
  return out;
}

DeviceRanks::DeviceRanks(const Processes& processes, int64_t devices) {
  if (!processes.communicator) return;
  rank_ = processes.communicator->rank();
  if (processes.ranks.size() > 1 && devices == 1) return;
  ranks_ = processes.ranks;
  const int64_t each = std::max<int64_t>(1, devices / processes.communicator->size());
  if (ranks_.empty())
    for (int64_t device = 0; device < devices; ++device)
      ranks_.push_back(static_cast<int>(device / each));
}

RemoteGroup::RemoteGroup(Communicator& communicator, const DeviceRanks& ranks,
                         const std::vector<int64_t>& members, const MessageTag& tag,
                         const MessageWait& wait, std::function<void(int rank)> note_wait)
    : communicator_(communicator), tag_(tag), wait_(wait), note_wait_(std::move(note_wait)) {
  for (size_t position = 0; position < members.size(); ++position) {
    const int rank = ranks.of(members[position]);
    auto found = std::ranges::lower_bound(ranks_, rank, {}, &Rank::rank);
    if (found == ranks_.end() || found->rank != rank) found = ranks_.insert(found, {rank, {}});
    found->positions.push_back(position);
  }
  own_ = static_cast<size_t>(std::ranges::find(ranks_, ranks.rank(), &Rank::rank) - ranks_.begin());
}

void RemoteGroup::send(int rank, int64_t step, std::span<const Literal> values) {
  MessageTag tag = tag_;
  tag.key.back() = step;
  communicator_.send(rank, tag, message_of(values));
}

Result<Message> RemoteGroup::receive(int rank, int64_t step, bool takes_far_arrays) {
  MessageTag tag = tag_;
  tag.key.back() = step;
  note_wait_(rank);
  MessageWait wait = wait_;
  wait.takes_far_arrays = takes_far_arrays;
  return communicator_.receive(rank, tag, wait);
}

Result<std::vector<Literal>> RemoteGroup::receive(int rank, int64_t step,
                                                  std::span<const SharedShape> shapes) {
  HILO_TRY(Message message, receive(rank, step, false));
  return values_of(std::move(message), shapes);
}

Result<FarValues> RemoteGroup::receive_far(int rank, int64_t step,
                                           std::span<const SharedShape> shapes) {
  HILO_TRY(Message message, receive(rank, step, true));
  const bool fits =
      std::ranges::equal(message.body, shapes, [](const Payload& array, const SharedShape& shape) {
        return array.size == literal_bytes(*shape);
      });
  if (!fits) return fail(ErrorKind::Format, "another process has sent values of other shapes");
  return FarValues(communicator_, rank, std::move(message));
}

Result<void> RemoteGroup::hear(int rank, int64_t step) {
  HILO_DO(receive(rank, step, false));
  return {};
}

Result<void> FarValues::read(size_t array, int64_t offset, std::span<std::byte> to) const {
  const auto size = static_cast<int64_t>(to.size());
  if (!message_.far) std::memcpy(to.data(), message_.body[array].bytes.get() + offset, to.size());
  else if (!message_.far->read(array, offset, to.data(), size))
    return std::unexpected(communicator_->gone(rank_));
  return {};
}

}  // namespace hilo
