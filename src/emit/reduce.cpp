// reduce. The order of combining follows from the shapes alone: along a row that is reduced, up to
// 64 lanes side by side and then halves; else in the order of the elements.
#include "emit/reduce.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "emit/kernel_builder.h"
#include "emit/nested_sums.h"
#include "emit/op_functions.h"
#include "emit/partition_points.h"

namespace hilo {
namespace {

using llvm::Value;

constexpr int64_t max_lanes = KernelLimits::whole_lanes;  // of a row that is reduced
constexpr int64_t max_lanes_of_choices = 32;              // each of a value and its place
// Lanes that are made ready and read together: a whole number of vectors of every chip. The rest of
// a row is read in so many lanes too, some of them a second time.
constexpr int64_t piece = KernelLimits::widest_lanes, min_lanes = KernelLimits::narrow_lanes;
constexpr int64_t short_row_of_lanes = 256;
// Pieces of a row that are read at once, of rows of so many bytes.
constexpr int64_t max_streams = 4, min_stream_bytes = 1 << 16;
// Rows, or lines of columns, of more elements are read by loops between their partition points.
constexpr int64_t min_partitioned_size = 32;
// Bytes, of the narrowest elements.
constexpr uint64_t chunk_alignment(int64_t lanes) { return static_cast<uint64_t>(lanes); }
// Elements that lie inside of a place of the row, whose code stands once for each of them, and the
// ops that these are made by; or how many where some op is no cheap one.
constexpr int64_t max_inside = 8, max_ops_inside = 192, max_costly_inside = 2;
// Extrema of fewer numbers of 16 bits are chosen as f32.
constexpr double min_key_elements = 32;

// Whether an element is one of an array, or chosen among such: computed bf16 lie in 32 bits.
bool lies_in_memory(const ElementEmitter& e, InstructionId id) {
  const Op op = e.module[id].op;
  if (e.array(id) || op == Op::Constant) return true;
  const auto operands = e.module.operands(id);
  if (op == Op::Select) return lies_in_memory(e, operands[1]) && lies_in_memory(e, operands[2]);
  const bool is_moved = op == Op::Broadcast || op == Op::Copy || op == Op::Reshape ||
                        op == Op::Slice || op == Op::Transpose;
  return is_moved && lies_in_memory(e, operands[0]);
}

// Short rows have few lanes, so that little is left over when these are full.
int64_t lanes_of_row(const ElementEmitter& e, InstructionId element, int64_t size) {
  if (size >= piece && is_computed_from_sums(e, element)) return piece;
  if (size % max_lanes == 0 || size >= short_row_of_lanes) return max_lanes;
  return std::min(piece, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size))));
}

// Which elements of a vector of 2 * half are its first half, and which its second.
std::pair<std::vector<int>, std::vector<int>> halves(int half) {
  std::pair<std::vector<int>, std::vector<int>> out;
  for (int i = 0; i < half; ++i) {
    out.first.push_back(i);
    out.second.push_back(half + i);
  }
  return out;
}

}  // namespace

Reduce::Reduce(ElementEmitter& elements, InstructionId id)
    : e_(elements), b_(elements.b), id_(id), reducer_(elements, id) {
  const auto& attributes = e_.module.attributes<ReduceAttributes>(id);
  count_ = e_.module.operands(id).size() / 2;
  dims_ = e_.module.shape(e_.module.operand(id, 0)).dims;
  for (size_t d = 0; d < dims_.size(); ++d)
    (std::ranges::count(attributes.dimensions, static_cast<int64_t>(d)) > 0 ? reduced_ : kept_)
        .push_back(d);
  const InstructionId element = e_.module.operand(id, 0);
  const bool is_computed =
      e_.module.shape(element).type == ElementType::BF16 && !lies_in_memory(e_, element);
  if (is_row()) partition_points_ = partition_points_along(row());
  if (!is_computed && (!is_row() || reduced_elements() >= min_key_elements))
    reducer_.choose_among_keys();
}

PartitionPoints Reduce::partition_points_along(size_t dim) const {
  const auto operands = e_.module.operands(id_).first(count_);
  const bool is_merged = dims_ != e_.module.shape(operands[0]).dims;
  if (is_merged || dim >= dims_.size() || dims_[dim] <= min_partitioned_size) return {};
  PartitionPoints out = find_partition_points(e_.module, operands, dim);
  return out.group == 1 ? out : PartitionPoints{};
}

size_t Reduce::innermost() const { return innermost_dim(dims_); }

size_t Reduce::row() const {
  size_t out = innermost();
  if (out >= dims_.size() || dims_[out] >= piece) return out;
  const auto inner = static_cast<uint64_t>(dims_[out]);
  const bool is_vector = inner * held(0)->getPrimitiveSizeInBits() >= middle_vector_bits;
  if (std::has_single_bit(inner) && is_vector) return out;
  const auto ops = cheap_ops(e_, {e_.module.operand(id_, 0)}, Op::Iota);
  const int64_t most =
      ops ? std::min(max_inside, max_ops_inside / std::max<int64_t>(1, *ops)) : max_costly_inside;
  int64_t inside = dims_[out];
  for (size_t d = out; d-- > 0;) {
    if (dims_[d] == 1) continue;
    const bool is_row = std::ranges::count(reduced_, d) > 0 && inside <= most;
    if (!is_row || dims_[d] >= piece) return is_row ? d : out;
    inside *= dims_[d];
  }
  return out;
}

bool Reduce::is_row() const {
  for (size_t d = dims_.size(); d-- > 0;)
    if (dims_[d] != 1) return std::ranges::count(reduced_, d) > 0;
  return true;
}

double Reduce::reduced_elements() const {
  double out = 1;
  for (size_t d : reduced_) out *= static_cast<double>(dims_[d]);
  return out;
}

std::vector<Value*> Reduce::inits() {
  std::vector<Value*> out;
  for (size_t k = 0; k < count_; ++k) out.push_back(e_.operand(id_, count_ + k, Index::scalar(b_)));
  return out;
}

std::vector<Value*> Reduce::elements_at(const std::vector<Value*>& at) {
  std::vector<Value*> out;
  for (size_t k = 0; k < count_; ++k) out.push_back(e_.operand(id_, k, Index(b_, dims_, at)));
  if (see) see(at);
  return out;
}

std::vector<Value*> Reduce::place(const Index& kept) {
  std::vector<Value*> at(dims_.size(), int64(b_, 0));
  for (size_t i = 0; i < kept_.size(); ++i) at[kept_[i]] = kept.at(b_, i);
  return at;
}

bool Reduce::is_long() const {
  const bool is_pred = reducer_.is_associative() && reducer_.type()->isIntegerTy(1);
  const int64_t least = is_pred ? max_lanes : min_lanes;
  return is_row() && !dims_.empty() && dims_[row()] >= least && reduced_elements() > without_loop;
}

bool Reduce::has_lanes() const { return is_long() && reducer_.is_associative(); }

std::vector<Value*> Reduce::result(const Index& kept) {
  if (has_lanes()) {
    Value* left = lanes(kept);
    return {finished(across(left))};
  }
  if (is_long() && reducer_.chooses() && reduced_elements() == static_cast<double>(dims_[row()]))
    return chosen(kept);
  return in_order(kept);
}

Value* Reduce::finished(Value* combined) { return reducer_.finish(inits()[0], combined); }

std::vector<Value*> Reduce::in_order(const Index& kept) {
  std::vector<std::vector<Value*>> at(1, place(kept));
  if (rounds_once()) return {reducer_.finish(inits()[0], nest(0, at, {reducer_.identity()})[0])};
  return nest(0, at, inits());
}

std::vector<Value*> Reduce::several_in_order(std::span<const Index> kept) {
  std::vector<std::vector<Value*>> at;
  std::vector<Value*> carried;
  const std::vector<Value*> begin = inits();
  for (const Index& each : kept) {
    at.push_back(place(each));
    carried.insert(carried.end(), begin.begin(), begin.end());
  }
  return nest(0, at, carried);
}

bool Reduce::waits_for_itself() const {
  constexpr size_t max_reducer_instructions = 8;
  return !reducer_.is_associative() && !reducer_.chooses() &&
         reducer_.size() <= max_reducer_instructions && reduced_elements() > without_loop &&
         !is_costly(e_, id_, *this);
}

bool Reduce::rounds_once() const { return reducer_.is_wide() && reduced_elements() > 0; }

Value* Reduce::lanes(const Index& kept) {
  const int64_t size = dims_[row()], lanes = lanes_of_row(e_, e_.module.operand(id_, 0), size),
                each = std::min(lanes, piece);
  std::vector<Value*> pieces =
      combined_in_lanes(kept, lanes, each, [&](AddLanes add) { in_lanes(0, size, lanes, add); });
  for (size_t half = pieces.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) pieces[i] = reducer_.combine(pieces[i], pieces[half + i]);
  return pieces[0];
}

// What is left of a run is at the end of as many elements, which begin with the first column too.
Value* Reduce::columns(const Index& kept, int64_t columns, int64_t lanes) {
  const int64_t size = dims_[row()], whole = size / lanes, rest = size % lanes;
  const auto over = [&](AddLanes add) {
    loop(b_, whole, [&](Value* chunk) {
      add({multiply_index(b_, chunk, lanes), {0, whole * lanes - 1}, 0, lanes, 0});
    });
    if (rest > 0) add({int64(b_, size - lanes), {size - lanes, size - 1}, 0, lanes, lanes - rest});
  };
  Value* all =
      llvm::concatenateVectors(b_, combined_in_lanes(kept, lanes, std::gcd(lanes, piece), over));
  for (int64_t half = lanes / 2; half >= columns; half /= 2) {
    const auto [low, high] = halves(static_cast<int>(half));
    all = reducer_.combine(b_.CreateShuffleVector(all, low), b_.CreateShuffleVector(all, high));
  }
  return all;
}

std::vector<Value*> Reduce::combined_in_lanes(const Index& kept, int64_t lanes, int64_t each,
                                              llvm::function_ref<void(AddLanes)> over) {
  const size_t row = this->row();
  const LocalArray sums(b_, reducer_.type(), lanes);
  Value* identity = reducer_.identity();
  // As vectors: a loop would have to be vectorised.
  set_accumulators(*b_.GetInsertBlock()->getParent());
  for (int64_t i = 0; i < lanes; i += each)
    sums.fill_lanes(identity, i, each, chunk_alignment(each));
  std::vector<Value*> at = place(kept);
  const auto add = [&](const Lanes& some) {
    loop(b_, some.count, [&](Value* i) {
      at[row] = index_in_row(some, i);
      Value* value = combined_inside(row, at);
      if (some.overlap > 0)
        value = b_.CreateSelect(b_.CreateICmpSLT(i, int64(b_, some.overlap)), identity, value);
      Value* lane = add_index(b_, i, int64(b_, some.first));
      sums.store(reducer_.combine(sums.load(lane), value), lane);
    });
  };
  outer_nest(row, at, [&] { over(add); });
  std::vector<Value*> pieces;
  for (int64_t i = 0; i < lanes; i += each)
    pieces.push_back(sums.load_lanes(i, each, chunk_alignment(each)));
  return pieces;
}

// What the elements behind dimension `row` come to at one place of it.
Value* Reduce::combined_inside(size_t row, std::vector<Value*> at) {
  int64_t count = 1;
  for (size_t d = row + 1; d < dims_.size(); ++d) count *= dims_[d];
  Value* out = nullptr;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    for (size_t d = dims_.size(); d-- > row + 1; rest /= dims_[d])
      at[d] = int64(b_, rest % dims_[d]);
    Value* value = reducer_.widen(elements_at(at)[0]);
    out = out ? reducer_.combine(out, value) : value;
  }
  return out;
}

Value* Reduce::index_in_row(const Lanes& lanes, Value* i) {
  Value* out = add_index(b_, lanes.place, i);
  if (has_partition_points()) e_.bind_counter(out, lanes.bounds.first, lanes.bounds.last + 1);
  return out;
}

// Where memory is read as several pieces of a long row at once, the lanes have a share of these
// each. (AMD's Zen 3 gives one thread 1.4 times as much by four streams as by one.)
int64_t Reduce::streams_of_row(int64_t elements, int64_t lanes, int64_t piece) const {
  const int64_t bytes = elements * storage_bytes(e_.module.shape(e_.module.operand(id_, 0)).type);
  if (has_partition_points() || lanes < max_streams * piece || bytes < min_stream_bytes) return 1;
  return e_.register_bytes() < widest_vector ? max_streams : 1;
}

// add() for all elements of a row from `begin` on, by loops between its partition points.
void Reduce::in_lanes(int64_t begin, int64_t end, int64_t lanes, AddLanes add) {
  const int64_t whole = (end - begin) / lanes, each = std::min(lanes, piece);
  const auto add_at = [&](int64_t place, int64_t lane, int64_t count, int64_t overlap = 0) {
    if (has_partition_points()) e_.forget();
    add({int64(b_, place), {place, place + count - 1}, lane, count, overlap});
  };
  const auto add_chunks = [&](int64_t first, int64_t count) {
    for (int64_t lane = 0; lane < count; lane += each) add_at(first + lane, lane, each);
  };
  const int64_t streams = streams_of_row(whole * lanes, lanes, each);
  for (const auto& [from, to] : between_partition_points(begin, lanes, whole)) {
    const int64_t first = begin + from * lanes, last = begin + to * lanes - 1;
    if (has_partition_points() && to == from + 1) add_chunks(first, lanes);
    else
      loop(b_, to - from, [&](Value* chunk) {
        if (has_partition_points()) e_.forget();
        for (int64_t stream = 0; stream < streams; ++stream) {
          Value* place = multiply_index(b_, chunk, lanes / streams);
          const int64_t start = first + stream * (to - from) * (lanes / streams);
          if (start > 0) place = add_index(b_, place, int64(b_, start));
          add({place, {first, last}, stream * (lanes / streams), lanes / streams, 0});
        }
      });
  }
  const int64_t rest = (end - begin) % lanes, pieces = rest / each * each;
  if (has_partition_points()) add_chunks(end - rest, pieces);
  else if (pieces > 0) add_at(end - rest, 0, pieces);
  if (rest > pieces) add_at(end - each, 0, each, each - (rest - pieces));
}

// Runs of chunks of so many lanes, `count` of them from place `begin` on: those with a partition
// point inside are alone.
std::vector<std::pair<int64_t, int64_t>> Reduce::between_partition_points(int64_t begin,
                                                                          int64_t lanes,
                                                                          int64_t count) const {
  std::vector<int64_t> ends = {0, count};
  for (int64_t point : partition_points_.ends) {
    const int64_t at = std::max<int64_t>(0, point - begin);
    ends.push_back(std::min(count, at / lanes));
    ends.push_back(std::min(count, (at + lanes - 1) / lanes));
  }
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::vector<std::pair<int64_t, int64_t>> out;
  for (size_t i = 0; i + 1 < ends.size(); ++i) out.emplace_back(ends[i], ends[i + 1]);
  return out;
}

// One result of a reducer that chooses: by lanes, and where that gives NaN once more in order. An
// element may be chosen from twice.
std::vector<Value*> Reduce::chosen(const Index& kept) {
  const size_t last = innermost();
  const int64_t lanes =
      std::min(lanes_of_row(e_, e_.module.operand(id_, 0), dims_[last]), max_lanes_of_choices);
  const std::vector<LocalArray> held = local_arrays(lanes);
  set_accumulators(*b_.GetInsertBlock()->getParent());
  const auto store = [&](const std::vector<Value*>& values, Value* i) {
    for (size_t k = 0; k < count_; ++k) held[k].store(values[k], i);
  };
  std::vector<Value*> at = place(kept);
  const auto add = [&](const Lanes& some, bool is_first) {
    loop(b_, some.count, [&](Value* i) {
      at[last] = index_in_row(some, i);
      Value* lane = add_index(b_, i, int64(b_, some.first));
      std::vector<Value*> next = elements_at(at), both;
      if (!is_first) {
        for (const LocalArray& each : held) both.push_back(each.load(lane));
        both.insert(both.end(), next.begin(), next.end());
        next = reducer_.apply(both);
      }
      store(next, lane);
    });
  };
  add({int64(b_, 0), {0, lanes - 1}, 0, lanes, 0}, true);
  in_lanes(lanes, dims_[last], lanes, [&](const Lanes& some) { add(some, false); });
  return result_of_lanes(held, 0, lanes, kept);
}

std::vector<Value*> Reduce::result_of_lanes(std::span<const LocalArray> held, int64_t first,
                                            int64_t lanes, const Index& kept) {
  if (reducer_.is_associative())
    return {finished(
        across(held[0].load_lanes(first, lanes, chunk_alignment(std::min(lanes, piece)))))};
  std::vector<Value*> all = inits();
  for (Value* value : chosen_of_lanes(held, first, lanes)) all.push_back(value);
  std::vector<Value*> out = reducer_.apply(all);
  if (!is_floating(e_.leaf_shape(id_, 0).type)) return out;
  const auto store = [&](const std::vector<Value*>& values) {
    for (size_t k = 0; k < count_; ++k) held[k].store(values[k], int64(b_, first));
  };
  store(out);
  where(b_, b_.CreateFCmpUNO(out[0], out[0]), [&] { store(in_order(kept)); });
  for (size_t k = 0; k < count_; ++k) out[k] = held[k].load(int64(b_, first));
  return out;
}

llvm::Type* Reduce::held(size_t k) const {
  return reducer_.is_associative() ? reducer_.type() : held_type(b_, e_.leaf_shape(id_, k).type);
}

std::vector<LocalArray> Reduce::local_arrays(int64_t count) {
  std::vector<LocalArray> out;
  for (size_t k = 0; k < count_; ++k) out.emplace_back(b_, held(k), count);
  return out;
}

std::vector<Value*> Reduce::chosen_of_lanes(std::span<const LocalArray> held, int64_t first,
                                            int64_t lanes) {
  std::vector<Value*> all;
  for (const LocalArray& each : held)
    all.push_back(each.load_lanes(first, lanes, chunk_alignment(std::min(lanes, piece))));
  for (int half = static_cast<int>(lanes) / 2; half > 0; half /= 2) {
    const auto [low, high] = halves(half);
    std::vector<Value*> both;
    for (Value* value : all) both.push_back(b_.CreateShuffleVector(value, low));
    for (Value* value : all) both.push_back(b_.CreateShuffleVector(value, high));
    all = reducer_.apply(both);
  }
  for (Value*& value : all) value = b_.CreateExtractElement(value, uint64_t{0});
  return all;
}

// The lanes of one vector, combined by halves. Where numbers are chosen, NaN is looked for once.
Value* Reduce::across(Value* all) {
  const auto lanes =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(all->getType())->getNumElements());
  const auto choice = reducer_.extremum();
  Value* any_nan = nullptr;
  if (choice) {
    Value* are_nan = b_.CreateFCmpUNO(all, all);
    any_nan =
        b_.CreateIsNotNull(b_.CreateBitCast(are_nan, b_.getIntNTy(static_cast<unsigned>(lanes))));
  }
  for (int half = lanes / 2; half > 0; half /= 2) {
    const auto [low, high] = halves(half);
    Value *first = b_.CreateShuffleVector(all, low), *second = b_.CreateShuffleVector(all, high);
    all = choice ? b_.CreateSelect(b_.CreateFCmp(*choice, second, first), second, first)
                 : reducer_.combine(first, second);
  }
  Value* out = b_.CreateExtractElement(all, uint64_t{0});
  return choice ? b_.CreateSelect(any_nan, llvm::ConstantFP::getNaN(out->getType()), out) : out;
}

void Reduce::outer_nest(size_t along, std::vector<Value*>& at, llvm::function_ref<void()> body,
                        size_t i) {
  if (i == reduced_.size() || reduced_[i] > along) return body();
  if (reduced_[i] == along) return outer_nest(along, at, body, i + 1);
  loop(b_, dims_[reduced_[i]], [&](Value* n) {
    at[reduced_[i]] = n;
    outer_nest(along, at, body, i + 1);
  });
}

std::vector<Value*> Reduce::nest(size_t i, std::vector<std::vector<Value*>>& at,
                                 std::vector<Value*> carried) {
  if (i == reduced_.size()) return with_elements(at, carried);
  const int64_t size = dims_[reduced_[i]];
  const auto go_on = [&](Value* n, std::vector<Value*> now) {
    for (std::vector<Value*>& place : at) place[reduced_[i]] = n;
    return nest(i + 1, at, std::move(now));
  };
  if (reduced_elements() <= without_loop) {
    for (int64_t n = 0; n < size; ++n) carried = go_on(int64(b_, n), std::move(carried));
    return carried;
  }
  return loop_carrying(b_, size, std::move(carried), [&](Value* n, std::span<Value* const> now) {
    return go_on(n, {now.begin(), now.end()});
  });
}

std::vector<Value*> Reduce::with_elements(const std::vector<std::vector<Value*>>& at,
                                          std::span<Value* const> carried) {
  std::vector<Value*> out;
  const size_t each = carried.size() / at.size();
  for (size_t k = 0; k < at.size(); ++k) {
    const std::vector<Value*> values = elements_at(at[k]);
    std::vector<Value*> arguments(carried.begin() + static_cast<std::ptrdiff_t>(k * each),
                                  carried.begin() + static_cast<std::ptrdiff_t>((k + 1) * each));
    if (rounds_once()) {
      out.push_back(reducer_.combine(arguments[0], reducer_.widen(values[0])));
      continue;
    }
    arguments.insert(arguments.end(), values.begin(), values.end());
    const std::vector<Value*> combined = reducer_.apply(arguments);
    out.insert(out.end(), combined.begin(), combined.end());
  }
  return out;
}

void store_results(KernelBuilder& w, InstructionId id, Value* position,
                   std::span<Value* const> values) {
  for (size_t k = 0; k < w.results.size(); ++k)
    if (w.results[k])
      store_element(w.b, w.elements.leaf_shape(id, k).type, w.results[k], position, values[k]);
}

}  // namespace hilo
