#include <algorithm>
#include <cstring>
#include <mutex>

#include "eval/all_reduce.h"

namespace hilo {
namespace {

using Meeting = Rendezvous::Meeting;

struct Chunk {
  int64_t begin, end;
};
// The elements that one of so many takes.
Chunk chunk_of(int64_t count, int64_t index, int64_t parts) {
  return {count * index / parts, count * (index + 1) / parts};
}

// Elements of an array, as one of one dimension, where they lie.
Literal slice_of(const Literal& array, const Chunk& chunk) {
  std::byte* const start = array.storage().get() + chunk.begin * storage_bytes(array.type());
  return Literal::view(Shape::array(array.type(), {chunk.end - chunk.begin}),
                       Bytes(array.storage(), start));
}

bool is_dynamic(const std::vector<Literal>& values) {
  return std::ranges::any_of(values, [](const Literal& one) {
    return !one.shape().is_array() || one.shape().has_dynamic_dims();
  });
}

// Each process gets a chunk of the elements of all members, combines it in their order, and gives
// it to all others. What others send is read where it lies, a block at a time.
class ReduceOverProcesses {
 public:
  ReduceOverProcesses(const Call& call, ComputationId computation, const Meeting& meeting,
                      RemoteGroup& group)
      : call_(call), computation_(computation), meeting_(meeting), group_(group) {
    for (const Literal& array : like())
      largest_ = std::max<int64_t>(largest_, std::ssize(array.raw()));
  }

  Result<std::vector<Literal>> run() {
    send_operands();
    HILO_DO(receive_operands());
    make_results();
    HILO_DO(combine());
    HILO_DO(gather());
    return std::move(results_);
  }

 private:
  enum Step : int64_t { Operands, Sums, Read };

  const std::vector<Literal>& like() const { return meeting_.brought[group_.own().positions[0]]; }
  int64_t processes() const { return std::ssize(group_.ranks()); }
  Chunk chunk(const Literal& array, int64_t process) const {
    return chunk_of(array.count(), process, processes());
  }
  int64_t own_index() const { return static_cast<int64_t>(group_.own_index()); }
  // The other processes, each one beginning with the next.
  template <class Body>
  Result<void> for_others(Body&& body) {
    for (int64_t step = 1; step < processes(); ++step)
      HILO_DO(body((own_index() + step) % processes()));
    return {};
  }
  int rank(int64_t process) const { return group_.ranks()[static_cast<size_t>(process)].rank; }

  // Of an array whose chunks are copied before they are sent: nobody hears that others have them.
  bool is_small(int64_t bytes) const { return bytes / processes() < min_far_bytes; }
  // A chunk that others read; that of a small array may change meanwhile.
  Literal shown(const Literal& array, const Chunk& chunk) const {
    Literal out = slice_of(array, chunk);
    if (is_small(std::ssize(array.raw()))) out.mutable_raw();
    return out;
  }

  void send_operands() {
    (void)for_others([&](int64_t process) -> Result<void> {
      std::vector<Literal> all;
      for (const size_t member : group_.own().positions)
        for (const Literal& array : meeting_.brought[member])
          all.push_back(shown(array, chunk(array, process)));
      group_.send(rank(process), Operands, all);
      return {};
    });
  }

  // Which member brought what is read of which array of a process.
  struct Source {
    size_t process = 0, array = 0;
  };
  Result<void> receive_operands() {
    sources_.resize(meeting_.brought.size());
    far_.resize(static_cast<size_t>(processes()));
    return for_others([&](int64_t process) -> Result<void> {
      const auto at = static_cast<size_t>(process);
      std::vector<SharedShape> expected;
      for (const size_t member : group_.ranks()[at].positions) {
        sources_[member] = {at, expected.size()};
        for (const Literal& array : like())
          expected.push_back(slice_of(array, chunk(array, own_index())).shared_shape());
      }
      HILO_TRY(far_[at], group_.receive_far(rank(process), Operands, expected));
      return {};
    });
  }

  // In their final memory where the only member of this process has told it.
  void make_results() {
    const bool is_known = group_.own().positions.size() == 1 && !call_.widened && !call_.ideal() &&
                          call_.into.size() == like().size();
    for (size_t i = 0; i < like().size(); ++i) {
      const Shape& shape = like()[i].shape();
      results_.push_back(is_known ? Literal::view(shape, call_.into[i]) : call_.make_held(shape));
    }
  }
  std::byte* result_at(size_t array, int64_t element) const {
    return results_[array].storage().get() + element * storage_bytes(results_[array].type());
  }

  // Blocks of all arrays together, for the computation may combine them so.
  Result<void> combine() {
    const int64_t blocks = std::max<int64_t>(1, largest_ / processes() / far_block_bytes);
    std::mutex mutex;
    Result<void> outcome;
    call_.parallel(blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        Result<void> done = within_memory([&] { return combine_block(block, blocks); });
        if (done) continue;
        const std::lock_guard lock(mutex);
        outcome = std::move(done);
      }
    });
    far_.clear();  // what was read others need not keep
    return outcome;
  }

  // In the coordinates of the whole array.
  Chunk block_of(const Literal& array, int64_t block, int64_t blocks) const {
    const Chunk all = chunk(array, own_index());
    const Chunk out = chunk_of(all.end - all.begin, block, blocks);
    return {all.begin + out.begin, all.begin + out.end};
  }

  Result<void> combine_block(int64_t block, int64_t blocks) {
    Result<void> outcome;
    HILO_TRY(const std::vector<Literal> sums,
             reduce_members(call_, computation_, std::ssize(meeting_.brought), [&](int64_t member) {
               auto values = values_of(static_cast<size_t>(member), block, blocks);
               if (values) return std::move(*values);
               outcome = std::unexpected(values.error());
               std::vector<Literal> none;
               for (const Literal& array : like())
                 none.push_back(slice_of(array, block_of(array, block, blocks)));
               return none;
             }));
    HILO_DO(outcome);
    for (size_t i = 0; i < sums.size(); ++i) {
      std::byte* const to = result_at(i, block_of(like()[i], block, blocks).begin);
      if (sums[i].raw().data() != to) std::ranges::copy(sums[i].raw(), to);
    }
    return {};
  }

  // Those of the first member lie where the sums are to lie, and become these.
  Result<std::vector<Literal>> values_of(size_t member, int64_t block, int64_t blocks) {
    const std::vector<Literal>& brought = meeting_.brought[member];
    std::vector<Literal> out;
    for (size_t i = 0; i < like().size(); ++i) {
      const Chunk elements = block_of(like()[i], block, blocks);
      if (member > 0 && !brought.empty()) {
        out.push_back(slice_of(brought[i], elements));
        continue;
      }
      const Shape shape = Shape::array(like()[i].type(), {elements.end - elements.begin});
      Literal& value = out.emplace_back(
          member > 0
              ? call_.make_held(shape)
              : Literal::view(shape, Bytes(result_at(i, elements.begin), [](std::byte*) {})));
      if (brought.empty()) {
        HILO_DO(read(sources_[member], i, elements.begin, value));
      } else {
        std::ranges::copy(slice_of(brought[i], elements).raw(), value.mutable_raw().begin());
      }
    }
    return out;
  }

  // From an element of a whole array on.
  Result<void> read(const Source& source, size_t array, int64_t element, Literal& to) const {
    const int64_t first = chunk(like()[array], own_index()).begin;
    return far_[source.process]->read(
        source.array + array, (element - first) * storage_bytes(to.type()), to.mutable_raw());
  }

  // The chunks of all others; ends when they have read the own one.
  Result<void> gather() {
    HILO_DO(for_others([&](int64_t process) -> Result<void> {
      std::vector<Literal> all;
      for (const Literal& array : results_) all.push_back(shown(array, chunk(array, own_index())));
      group_.send(rank(process), Sums, all);
      return {};
    }));
    HILO_DO(for_others([&](int64_t process) { return take_sums(process); }));
    if (is_small(largest_)) return {};
    return for_others([&](int64_t process) { return group_.hear(rank(process), Read); });
  }

  Result<void> take_sums(int64_t process) {
    std::vector<SharedShape> expected;
    for (const Literal& array : like())
      expected.push_back(slice_of(array, chunk(array, process)).shared_shape());
    {
      HILO_TRY(const FarValues sums, group_.receive_far(rank(process), Sums, expected));
      for (size_t i = 0; i < like().size(); ++i) {
        const Chunk elements = chunk(like()[i], process);
        const auto bytes = static_cast<size_t>(literal_bytes(*expected[i]));
        HILO_DO(sums.read(i, 0, {result_at(i, elements.begin), bytes}));
      }
    }
    if (!is_small(largest_)) group_.send(rank(process), Read, {});
    return {};
  }

  const Call& call_;
  ComputationId computation_;
  const Meeting& meeting_;
  RemoteGroup& group_;
  int64_t largest_ = 0;                        // bytes of an array
  std::vector<Source> sources_;                // by member; of those of other processes
  std::vector<std::optional<FarValues>> far_;  // by process
  std::vector<Literal> results_;
};

}  // namespace

Result<void> reduce_over_processes(const Call& call, ComputationId computation, Meeting& meeting,
                                   RemoteGroup& others) {
  const std::vector<size_t>& own = others.own().positions;
  if (is_dynamic(meeting.brought[own[0]])) {
    for (const size_t member : own)  // others may read them later
      for (Literal& value : meeting.brought[member]) value.mutable_raw();
    return Rendezvous::exchange_all(meeting, others);
  }
  HILO_TRY(meeting.common, ReduceOverProcesses(call, computation, meeting, others).run());
  return {};
}

}  // namespace hilo
