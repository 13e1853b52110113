// reduce. The order of combining follows from the shapes alone: along a row that is reduced, up to
// 64 lanes side by side and then halves; else in the order of the elements.
#include "emit/reduce.h"

#include <algorithm>
#include <bit>

#include "emit/lane_sums.h"
#include "emit/op_functions.h"
#include "emit/writer.h"

namespace hilo {
namespace {

using llvm::Value;

constexpr int64_t most_lanes = 64;  // of a row that is reduced
// Lanes that are made ready and read together: a whole number of vectors of every chip. The rest of
// a row is read in so many lanes too, some of them a second time.
constexpr int64_t piece = 16, least_lanes = 4;
constexpr int64_t short_row_of_lanes = 256;
// Bytes, of the narrowest elements.
constexpr uint64_t piece_align(int64_t lanes) { return static_cast<uint64_t>(lanes); }
// Elements of rows that are lanes themselves, and where they are read from memory as they lie: more
// would be gathered, which takes longer than to add them.
constexpr double short_row = 16, short_row_in_memory = 8;
// Extrema of fewer numbers of 16 bits are chosen as f32.
constexpr double least_elements_of_keys = 32;
// Columns that are reduced side by side, and fewer where that gives less than so many pieces.
constexpr int64_t tile = 1024, least_tile = 256, wanted_tiles = 16;
// Lines of columns that are combined in one go where an element takes few steps: memory serves
// several streams at once, and sums are loaded and stored once.
constexpr int64_t most_lines = 8;
// Whole lines of fewer bytes that lie one after the other are one stream already.
constexpr int64_t page = 4096, few_bytes = 256;
constexpr int few_steps = 4;

// Whether an element is made by sums of its own, whose code stands once for each vector of lanes.
bool is_made_of_sums(const Elements& e, InstructionId id, int depth = 0) {
  constexpr int deepest = 8;
  const Op op = e.module[id].op;
  if (op == Op::Reduce) return !e.array(id);
  if (depth > deepest || e.array(id) || !is_elementwise(op)) return false;
  return std::ranges::any_of(e.module.operands(id), [&](InstructionId operand) {
    return is_made_of_sums(e, operand, depth + 1);
  });
}

// Whether an element is one of an array, or chosen among such: computed bf16 lie in 32 bits.
bool lies_in_memory(const Elements& e, InstructionId id) {
  const Op op = e.module[id].op;
  if (e.array(id) || op == Op::Constant) return true;
  const auto operands = e.module.operands(id);
  if (op == Op::Select) return lies_in_memory(e, operands[1]) && lies_in_memory(e, operands[2]);
  const bool is_moved = op == Op::Broadcast || op == Op::Copy || op == Op::Reshape ||
                        op == Op::Slice || op == Op::Transpose;
  return is_moved && lies_in_memory(e, operands[0]);
}

// Whether elements follow from their place in the array and in the dimensions before `end`.
bool keeps_columns(const Elements& e, InstructionId id, size_t end) {
  const Module& module = e.module;
  std::vector<InstructionId> seen = {id};
  const int64_t count = element_count(module.shape(id));
  for (size_t i = 0; i < seen.size(); ++i) {
    const InstructionId value = seen[i];
    const Op op = module[value].op;
    if (e.array(value) || (op == Op::Constant && module.shape(value).dims.empty())) continue;
    if (op == Op::Iota) {
      const int64_t along = module.attributes<IotaAttributes>(value).iota_dimension;
      if (module.shape(value).dims != module.shape(id).dims || along >= static_cast<int64_t>(end))
        return false;
      continue;
    }
    if (op == Op::Broadcast) {
      const Dims& to = module.attributes<DimensionsAttributes>(value).dimensions;
      if (module.shape(value).dims != module.shape(id).dims ||
          std::ranges::any_of(to, [&](int64_t d) { return d >= static_cast<int64_t>(end); }))
        return false;
      continue;
    }
    if (!is_elementwise(op)) return false;
    for (InstructionId operand : module.operands(value)) {
      const Shape& shape = module.shape(operand);
      if (!shape.is_array() || (element_count(shape) != count && !shape.dims.empty())) return false;
      if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
    }
  }
  return true;
}

// Short rows have few lanes, so that little is left over when these are full.
int64_t lanes_of_row(const Elements& e, InstructionId element, int64_t size) {
  if (size >= piece && is_made_of_sums(e, element)) return piece;
  if (size % most_lanes == 0 || size >= short_row_of_lanes) return most_lanes;
  return std::min(piece, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size))));
}

// Truths are bytes in the frame: loops over bits do not become vectors.
llvm::Type* frame_type(Builder& b, llvm::Type* held) {
  return held->isIntegerTy(1) ? b.getInt8Ty() : held;
}

// What lies in the frame as values of the type that is computed with, and back; also vectors.
Value* held_value(Builder& b, llvm::Type* held, Value* stored) {
  return held->isIntegerTy(1) ? b.CreateTrunc(stored, stored->getType()->getWithNewBitWidth(1))
                              : stored;
}
Value* stored_value(Builder& b, llvm::Type* held, Value* value) {
  return held->isIntegerTy(1) ? b.CreateZExt(value, value->getType()->getWithNewBitWidth(8))
                              : value;
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

Reduce::Reduce(Elements& elements, InstructionId id)
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
  if (!is_computed && (!is_row() || reduced_elements() >= least_elements_of_keys))
    reducer_.choose_among_keys();
}

size_t Reduce::innermost() const {
  size_t last = dims_.empty() ? 0 : dims_.size() - 1;
  while (last > 0 && dims_[last] == 1) --last;
  return last;
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

void Reduce::merge_columns() {
  if (is_row() || reduced_.empty()) return;
  const size_t first = reduced_.back() + 1;
  const auto operands = e_.module.operands(id_).first(count_);
  if (first + 1 >= dims_.size() || !std::ranges::all_of(operands, [&](InstructionId operand) {
        return keeps_columns(e_, operand, first);
      }))
    return;
  for (; dims_.size() > first + 1; dims_.pop_back()) dims_[first] *= dims_.back();
  std::erase_if(kept_, [&](size_t d) { return d > first; });
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
  const int64_t least = is_pred ? most_lanes : least_lanes;
  return is_row() && !dims_.empty() && dims_[innermost()] >= least &&
         reduced_elements() > without_loop;
}

bool Reduce::has_lanes() const { return is_long() && reducer_.is_associative(); }

std::vector<Value*> Reduce::result(const Index& kept) {
  if (has_lanes()) {
    Value* left = lanes(kept);
    return {finished(across(left))};
  }
  if (is_long() && reducer_.chooses() &&
      reduced_elements() == static_cast<double>(dims_[innermost()]))
    return chosen(kept);
  return in_order(kept);
}

Value* Reduce::finished(Value* combined) { return reducer_.finish(inits()[0], combined); }

std::vector<Value*> Reduce::in_order(const Index& kept) {
  std::vector<Value*> at = place(kept);
  if (rounds_once()) return {reducer_.finish(inits()[0], nest(0, at, {reducer_.identity()})[0])};
  return nest(0, at, inits());
}

bool Reduce::rounds_once() const { return reducer_.is_wide() && reduced_elements() > 0; }

Value* Reduce::lanes(const Index& kept) {
  const size_t last = innermost();
  llvm::Type *held = reducer_.type(), *stored = frame_type(b_, held);
  const int64_t lanes = lanes_of_row(e_, e_.module.operand(id_, 0), dims_[last]),
                each = std::min(lanes, piece);
  Value* sums = frame_array(b_, stored, lanes);
  Value* identity = reducer_.identity();
  const auto slot = [&](Value* i) { return b_.CreateInBoundsGEP(stored, sums, i); };
  // As vectors: a loop would have to be vectorised.
  b_.GetInsertBlock()->getParent()->addFnAttr(lane_sums_attribute);
  Value* nothing =
      b_.CreateVectorSplat(static_cast<unsigned>(each), stored_value(b_, held, identity));
  for (int64_t i = 0; i < lanes; i += each)
    b_.CreateAlignedStore(nothing, slot(int64(b_, i)), llvm::Align(piece_align(each)));
  std::vector<Value*> at = place(kept);
  // The first `again` elements were read before.
  const auto add = [&](Value* first, int64_t n, int64_t again) {
    loop(b_, n, [&](Value* i) {
      at[last] = add_index(b_, first, i);
      Value* value = reducer_.widen(elements_at(at)[0]);
      if (again > 0)
        value = b_.CreateSelect(b_.CreateICmpSLT(i, int64(b_, again)), identity, value);
      Value* now = held_value(b_, held, b_.CreateLoad(stored, slot(i)));
      b_.CreateStore(stored_value(b_, held, reducer_.combine(now, value)), slot(i));
    });
  };
  outer_nest(0, at, [&] { in_lanes(dims_[last], lanes, add); });
  std::vector<Value*> pieces;
  for (int64_t i = 0; i < lanes; i += each)
    pieces.push_back(held_value(
        b_, held,
        b_.CreateAlignedLoad(llvm::FixedVectorType::get(stored, static_cast<unsigned>(each)),
                             slot(int64(b_, i)), llvm::Align(piece_align(each)))));
  for (size_t half = pieces.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) pieces[i] = reducer_.combine(pieces[i], pieces[half + i]);
  return pieces[0];
}

// add(first element, number, how many of them were read before) for all elements of a row.
void Reduce::in_lanes(int64_t size, int64_t lanes,
                      llvm::function_ref<void(Value*, int64_t, int64_t)> add) {
  const int64_t whole = size / lanes, each = std::min(lanes, piece);
  loop(b_, whole, [&](Value* chunk) { add(multiply_index(b_, chunk, lanes), lanes, 0); });
  const int64_t rest = size % lanes, pieces = rest / each * each;
  if (pieces > 0) add(int64(b_, whole * lanes), pieces, 0);
  if (rest > pieces) add(int64(b_, size - each), each, each - (rest - pieces));
}

// One result of a reducer that chooses: by lanes, and where that gives NaN once more in order. An
// element may be chosen from twice.
std::vector<Value*> Reduce::chosen(const Index& kept) {
  const size_t last = innermost();
  const int64_t lanes = lanes_of_row(e_, e_.module.operand(id_, 0), dims_[last]);
  std::vector<llvm::Type*> types;
  std::vector<Value*> memory;
  for (size_t k = 0; k < count_; ++k) {
    types.push_back(held_type(b_, e_.leaf_shape(id_, k).type));
    memory.push_back(frame_array(b_, frame_type(b_, types[k]), lanes));
  }
  const auto slot = [&](size_t k, Value* i) {
    return b_.CreateInBoundsGEP(frame_type(b_, types[k]), memory[k], i);
  };
  const auto load = [&](size_t k, Value* i) {
    return held_value(b_, types[k], b_.CreateLoad(frame_type(b_, types[k]), slot(k, i)));
  };
  const auto store = [&](size_t k, Value* value, Value* i) {
    b_.CreateStore(stored_value(b_, types[k], value), slot(k, i));
  };
  const std::vector<Value*> first = inits();
  std::vector<Value*> at = place(kept);
  const auto add = [&](Value* begin, int64_t n, bool is_first) {
    loop(b_, n, [&](Value* i) {
      at[last] = add_index(b_, begin, i);
      std::vector<Value*> next = elements_at(at), both;
      if (!is_first) {
        for (size_t k = 0; k < count_; ++k) both.push_back(load(k, i));
        both.insert(both.end(), next.begin(), next.end());
        next = reducer_.apply(both);
      }
      for (size_t k = 0; k < count_; ++k) store(k, next[k], i);
    });
  };
  add(int64(b_, 0), lanes, true);
  in_lanes(dims_[last] - lanes, lanes, [&](Value* begin, int64_t n, int64_t) {
    add(add_index(b_, begin, int64(b_, lanes)), n, false);
  });
  std::vector<Value*> all = first;
  for (Value* value : chosen_of_lanes(types, memory, lanes)) all.push_back(value);
  std::vector<Value*> out = reducer_.apply(all);
  if (!is_floating(e_.leaf_shape(id_, 0).type)) return out;
  for (size_t k = 0; k < count_; ++k) store(k, out[k], int64(b_, 0));
  where(b_, b_.CreateFCmpUNO(out[0], out[0]), [&] {
    const std::vector<Value*> again = in_order(kept);
    for (size_t k = 0; k < count_; ++k) store(k, again[k], int64(b_, 0));
  });
  for (size_t k = 0; k < count_; ++k) out[k] = load(k, int64(b_, 0));
  return out;
}

std::vector<Value*> Reduce::chosen_of_lanes(std::span<llvm::Type* const> types,
                                            std::span<Value* const> memory, int64_t lanes) {
  const auto width = static_cast<unsigned>(lanes);
  std::vector<Value*> all;
  for (size_t k = 0; k < count_; ++k)
    all.push_back(held_value(
        b_, types[k],
        b_.CreateLoad(llvm::FixedVectorType::get(frame_type(b_, types[k]), width), memory[k])));
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

void Reduce::outer_nest(size_t i, std::vector<Value*>& at, llvm::function_ref<void()> body) {
  if (i == reduced_.size()) return body();
  if (reduced_[i] == innermost() && is_row()) return outer_nest(i + 1, at, body);
  loop(b_, dims_[reduced_[i]], [&](Value* n) {
    at[reduced_[i]] = n;
    outer_nest(i + 1, at, body);
  });
}

std::vector<Value*> Reduce::nest(size_t i, std::vector<Value*>& at, std::vector<Value*> carried) {
  if (i == reduced_.size()) {
    const std::vector<Value*> values = elements_at(at);
    if (rounds_once()) return {reducer_.combine(carried[0], reducer_.widen(values[0]))};
    carried.insert(carried.end(), values.begin(), values.end());
    return reducer_.apply(carried);
  }
  const int64_t size = dims_[reduced_[i]];
  if (reduced_elements() <= without_loop) {
    for (int64_t n = 0; n < size; ++n) {
      at[reduced_[i]] = int64(b_, n);
      carried = nest(i + 1, at, std::move(carried));
    }
    return carried;
  }
  return loop_carrying(b_, size, std::move(carried), [&](Value* n, std::span<Value* const> now) {
    at[reduced_[i]] = n;
    return nest(i + 1, at, {now.begin(), now.end()});
  });
}

namespace {

void store_results(Writer& w, InstructionId id, Value* position, std::span<Value* const> values) {
  if (w.elements.error()) return;
  for (size_t k = 0; k < w.results.size(); ++k)
    if (w.results[k])
      store_element(w.b, w.elements.leaf_shape(id, k).type, w.results[k], position, values[k]);
}

// Whether a value is made of an array with as many elements, by what is fused with it.
bool is_read(const Elements& elements, InstructionId value) {
  std::vector<InstructionId> seen, waiting = {value};
  const int64_t count = element_count(elements.module.shape(value));
  while (!waiting.empty()) {
    const InstructionId id = waiting.back();
    waiting.pop_back();
    if (std::ranges::count(seen, id) > 0 || !elements.module.shape(id).is_array()) continue;
    seen.push_back(id);
    if (!elements.array(id)) {
      const auto operands = elements.module.operands(id);
      waiting.insert(waiting.end(), operands.begin(), operands.end());
    } else if (element_count(elements.module.shape(id)) >= count) {
      return true;
    }
  }
  return false;
}

void write_rows(Writer& w, InstructionId id, Reduce& reduce) {
  const Dims dims = w.elements.leaf_shape(id, 0).dims;
  const double steps = reduce.reduced_elements();
  const bool is_sum =
      reduce.reducer().is_associative() && is_read(w.elements, w.elements.module.operand(id, 0));
  if (steps > 0 && steps <= (is_sum ? short_row_in_memory : short_row)) {
    reduce.without_loop = short_row;
    return write_lanes(w, dims, steps, [&](const Index& place) {
      store_results(w, id, place.position(w.b), reduce.result(place));
    });
  }
  w.set_count(element_count(dims), steps);
  loop(w.b, w.begin, w.end,
       [&](Value* i) { store_results(w, id, i, reduce.result(Index::linear(w.b, dims, i))); });
}

int64_t tile_of(int64_t outer, int64_t columns) {
  int64_t width = tile;
  while (width > least_tile && outer * ((columns + width - 1) / width) < wanted_tiles) width /= 2;
  return std::min(columns, width);
}

// Steps from what is read to an element; more than `few_steps` where one of them is no cheap one.
int steps_of(const Elements& e, InstructionId id) {
  const Op op = e.module[id].op;
  if (op == Op::Constant || e.array(id)) return 0;
  if (op != Op::Broadcast && !(is_elementwise(op) && has_trait(op, TraitCheap)))
    return few_steps + 1;
  int out = 1;
  for (InstructionId operand : e.module.operands(id))
    if (out <= few_steps) out += steps_of(e, operand);
  return out;
}

// width: of a tile.
int64_t lines_together(const Elements& e, InstructionId id, const Reduce& reduce, int64_t width) {
  int steps = 0;
  for (size_t k = 0; k < reduce.count(); ++k) steps += steps_of(e, e.module.operand(id, k));
  if (steps > few_steps || reduce.reduced().empty()) return 1;
  const auto last = static_cast<int64_t>(reduce.reduced().back());
  const Dims behind(reduce.dims().begin() + last + 1, reduce.dims().end());
  const ElementType type = e.module.shape(e.module.operand(id, 0)).type;
  const int64_t bytes = width * storage_bytes(type);
  if (element_count(behind) == width && bytes > few_bytes && bytes < page) return 1;
  const int64_t size = reduce.dims()[static_cast<size_t>(last)];
  for (int64_t lines = most_lines; 2 * lines > most_lines; --lines)
    if (size % lines == 0) return lines;
  return std::min(size, most_lines);
}

// Loops over the reduced dimensions, outermost first. The body is called at so many places of the
// last one, beginning with the one in `at`.
void nest_of_lines(Builder& b, const Reduce& reduce, size_t i, std::vector<Value*>& at,
                   int64_t together, llvm::function_ref<void(int64_t)> body) {
  if (i == reduce.reduced().size()) return body(1);
  const size_t d = reduce.reduced()[i];
  const int64_t size = reduce.dims()[d];
  if (i + 1 < reduce.reduced().size())
    return loop(b, size, [&](Value* n) {
      at[d] = n;
      nest_of_lines(b, reduce, i + 1, at, together, body);
    });
  const int64_t whole = size / together;
  loop(b, whole, [&](Value* n) {
    at[d] = multiply_index(b, n, together);
    body(together);
  });
  loop(b, size - whole * together, [&](Value* n) {
    at[d] = add_index(b, int64(b, whole * together), n);
    body(1);
  });
}

// What was combined and the elements of so many lines from `at` on, one after the other.
std::vector<Value*> combine_lines(Builder& b, Reduce& reduce, const std::vector<Value*>& at,
                                  int64_t lines, std::vector<Value*> carried) {
  const Reducer& reducer = reduce.reducer();
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<Value*> here = at;
    if (line > 0) {
      Value*& place = here[reduce.reduced().back()];
      place = add_index(b, place, int64(b, line));
    }
    const std::vector<Value*> values = reduce.elements_at(here);
    if (reducer.is_associative()) {
      carried = {reducer.combine(carried[0], reducer.widen(values[0]))};
    } else {
      carried.insert(carried.end(), values.begin(), values.end());
      carried = reducer.apply(carried);
    }
  }
  return carried;
}

// Tiles of columns: [begin, end) counts them, in the order of the results.
void write_columns(Writer& w, InstructionId id, Reduce& reduce) {
  Builder& b = w.b;
  reduce.merge_columns();
  Dims dims;
  for (size_t d : reduce.kept()) dims.push_back(reduce.dims()[d]);
  size_t inner = dims.size() - 1;
  while (inner > 0 && dims[inner] == 1) --inner;
  const Dims outer(dims.begin(), dims.begin() + static_cast<int64_t>(inner));
  const int64_t columns = dims[inner], width = tile_of(element_count(outer), columns);
  const int64_t tiles = (columns + width - 1) / width;
  w.set_count(element_count(outer) * tiles, reduce.reduced_elements() * static_cast<double>(width));
  std::vector<Value*> sums;
  std::vector<llvm::Type*> types;
  for (size_t k = 0; k < reduce.count(); ++k) {
    types.push_back(reduce.reducer().is_associative()
                        ? reduce.reducer().type()
                        : held_type(b, w.elements.leaf_shape(id, k).type));
    sums.push_back(frame_array(b, frame_type(b, types[k]), width));
  }
  const auto slot = [&](size_t k, Value* i) {
    return b.CreateInBoundsGEP(frame_type(b, types[k]), sums[k], i);
  };
  const auto load = [&](size_t k, Value* i) {
    return held_value(b, types[k], b.CreateLoad(frame_type(b, types[k]), slot(k, i)));
  };
  const auto store = [&](size_t k, Value* value, Value* i) {
    b.CreateStore(stored_value(b, types[k], value), slot(k, i));
  };
  loop(b, w.begin, w.end, [&](Value* number) {
    const Index row = Index::linear(b, outer, b.CreateUDiv(number, int64(b, tiles)));
    Value* first = multiply_index(b, b.CreateURem(number, int64(b, tiles)), width);
    Value* left = b.CreateNSWSub(int64(b, columns), first);
    Value* n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, int64(b, width));
    if (tiles == 1) n = int64(b, width);
    // Known to be whole vectors, so that the loops have no rests.
    if (columns % most_lanes == 0 && width % most_lanes == 0)
      n = multiply_index(b, b.CreateUDiv(n, int64(b, most_lanes)), most_lanes);
    std::vector<Value*> kept;
    for (size_t d = 0; d < inner; ++d) kept.push_back(row.at(b, d));
    kept.resize(dims.size(), int64(b, 0));
    const auto place = [&](Value* i) {
      kept[inner] = add_index(b, first, i);
      return Index(b, dims, kept);
    };
    const std::vector<Value*> inits = reduce.inits();
    loop(b, int64(b, 0), n, [&](Value* i) {
      for (size_t k = 0; k < sums.size(); ++k)
        store(k, reduce.reducer().is_associative() ? reduce.reducer().identity() : inits[k], i);
    });
    std::vector<Value*> at = reduce.place(place(int64(b, 0)));
    const int64_t together = lines_together(w.elements, id, reduce, width);
    nest_of_lines(b, reduce, 0, at, together, [&](int64_t lines) {
      loop(b, int64(b, 0), n, [&](Value* i) {
        std::vector<Value*> here = at, carried;
        here[reduce.kept()[inner]] = add_index(b, first, i);
        for (size_t k = 0; k < sums.size(); ++k) carried.push_back(load(k, i));
        const std::vector<Value*> next = combine_lines(b, reduce, here, lines, std::move(carried));
        for (size_t k = 0; k < sums.size(); ++k) store(k, next[k], i);
      });
    });
    loop(b, int64(b, 0), n, [&](Value* i) {
      std::vector<Value*> values;
      for (size_t k = 0; k < sums.size(); ++k) values.push_back(load(k, i));
      if (reduce.reducer().is_associative())
        values = {reduce.reducer().finish(inits[0], values[0])};
      store_results(w, id, place(i).position(b), values);
    });
  });
}

}  // namespace

Value* element_Reduce(Elements& e, InstructionId id, const Index& index, size_t leaf) {
  return Reduce(e, id).in_order(index)[leaf];
}

Result<void> write_Reduce(Writer& w, InstructionId id) {
  Reduce reduce(w.elements, id);
  const bool is_empty =
      reduce.reduced_elements() == 0 || element_count(w.elements.leaf_shape(id, 0).dims) == 0;
  if (reduce.is_row() || is_empty) write_rows(w, id, reduce);
  else write_columns(w, id, reduce);
  return {};
}

}  // namespace hilo
