#include <algorithm>
#include <cstring>

#include "eval/all_reduce.h"

namespace hilo {
namespace {

using Meeting = Rendezvous::Meeting;

struct Chunk {
  int64_t begin, end;
};
// The elements that one of so many processes combines.
Chunk chunk_of(int64_t count, size_t index, size_t processes) {
  const auto part = static_cast<int64_t>(index), parts = static_cast<int64_t>(processes);
  return {count * part / parts, count * (part + 1) / parts};
}

// A process's chunk of each array, as an array of one dimension, where it lies.
std::vector<Literal> chunks_of(std::span<const Literal> arrays, size_t index, size_t processes) {
  std::vector<Literal> out;
  for (const Literal& array : arrays) {
    const Chunk chunk = chunk_of(array.count(), index, processes);
    std::byte* const start = array.storage().get() + chunk.begin * storage_bytes(array.type());
    out.push_back(Literal::view(Shape::array(array.type(), {chunk.end - chunk.begin}),
                                Bytes(array.storage(), start)));
  }
  return out;
}

bool is_dynamic(const std::vector<Literal>& values) {
  return std::ranges::any_of(values, [](const Literal& one) {
    return !one.shape().is_array() || one.shape().has_dynamic_dims();
  });
}

// Each process's chunk of what its members brought, at the process that combines it.
Result<std::vector<std::vector<Literal>>> scatter_chunks(const Meeting& meeting,
                                                         RemoteGroup& group) {
  const size_t processes = group.ranks().size();
  std::vector<std::vector<Literal>> out(meeting.brought.size());
  for (size_t index = 0; index < processes; ++index) {
    std::vector<Literal> all;
    for (const size_t member : group.own().positions) {
      std::vector<Literal> chunks = chunks_of(meeting.brought[member], index, processes);
      if (index == group.own_index()) out[member] = std::move(chunks);
      else std::ranges::move(chunks, std::back_inserter(all));
    }
    if (index != group.own_index()) group.send(group.ranks()[index].rank, 0, all);
  }
  const std::vector<SharedShape> shapes = shapes_of(out[group.own().positions[0]]);
  for (const RemoteGroup::Rank& other : group.ranks()) {
    if (&other == &group.own()) continue;
    std::vector<SharedShape> expected;
    for (size_t i = 0; i < other.positions.size(); ++i)
      expected.insert(expected.end(), shapes.begin(), shapes.end());
    HILO_TRY(std::vector<Literal> values, group.receive(other.rank, 0, expected));
    auto next = std::make_move_iterator(values.begin());
    for (const size_t member : other.positions) {
      out[member].assign(next, next + std::ssize(shapes));
      next += std::ssize(shapes);
    }
  }
  return out;
}

// The whole of each array out of the chunks of all processes.
Result<std::vector<Literal>> gather_chunks(const Call& call, std::span<const Literal> like,
                                           std::span<const Literal> own, RemoteGroup& group) {
  const size_t processes = group.ranks().size();
  for (const RemoteGroup::Rank& other : group.ranks())
    if (&other != &group.own()) group.send(other.rank, 1, own);
  std::vector<Literal> out;
  for (const Literal& array : like) out.push_back(call.make_held(array.shape()));
  for (size_t index = 0; index < processes; ++index) {
    std::vector<Literal> chunks;
    if (index == group.own_index()) {
      chunks.assign(own.begin(), own.end());
    } else {
      const std::vector<SharedShape> shapes = shapes_of(chunks_of(like, index, processes));
      HILO_TRY(chunks, group.receive(group.ranks()[index].rank, 1, shapes));
    }
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t bytes = storage_bytes(out[i].type());
      const Chunk chunk = chunk_of(out[i].count(), index, processes);
      std::memcpy(out[i].mutable_raw().data() + chunk.begin * bytes, chunks[i].raw().data(),
                  chunks[i].raw().size());
    }
  }
  return out;
}

}  // namespace

Result<void> reduce_over_processes(const Call& call, ComputationId computation, Meeting& meeting,
                                   RemoteGroup& others) {
  const std::vector<Literal>& own = meeting.brought[others.own().positions[0]];
  if (is_dynamic(own)) return Rendezvous::exchange_all(meeting, others);
  HILO_TRY(std::vector<std::vector<Literal>> chunks, scatter_chunks(meeting, others));
  HILO_TRY(std::vector<Literal> sums,
           reduce_members(call, computation, std::ssize(chunks), [&](int64_t member) {
             return std::move(chunks[static_cast<size_t>(member)]);
           }));
  HILO_TRY(meeting.common, gather_chunks(call, own, sums, others));
  return {};
}

}  // namespace hilo
