// reduce: the operands as [outer, reduced, inner], many lanes at once. The order of combining
// follows from the shape alone, so that results have the same bits for any number of threads.
#include <bit>
#include <cstring>

#include "eval/convert.h"
#include "eval/dynamic_sizes.h"
#include "eval/first_error.h"
#include "eval/lanes.h"
#include "eval/strided_copy.h"

namespace hilo {
namespace {

constexpr int64_t lanes_wanted = 2048;
constexpr int64_t chunk_elements = int64_t{1} << 18;  // of a long row; chunks run in parallel
constexpr int64_t short_row = 256;

struct Reduction {
  const Call& call;
  LaneProgram step = {}, join = {};  // of what was combined with elements, and with its like
  bool any_order = false;
  int64_t outer = 1, reduced = 1, inner = 1;
  std::vector<Literal> operands;  // dense [outer, reduced, inner]
  std::vector<Literal> inits;     // of the types that are combined in

  size_t count() const { return operands.size(); }
  int64_t bytes(size_t k) const { return storage_bytes(operands[k].type()); }
  ElementType held(size_t k) const { return inits[k].type(); }
  int64_t held_bytes(size_t k) const { return storage_bytes(held(k)); }
  const std::byte* at(size_t k, int64_t element) const {
    return operands[k].raw().data() + element * bytes(k);
  }
};

// Lanes of all operands, as they are held, side by side in scratch memory.
class Lanes {
 public:
  Lanes(const Reduction& r, int64_t capacity) : reduction_(r), storage_(r.count()) {
    for (size_t k = 0; k < r.count(); ++k) storage_[k].resize(capacity * r.held_bytes(k) + 64);
  }
  std::byte* at(size_t k, int64_t lane) {
    return storage_[k].data() + lane * reduction_.held_bytes(k);
  }
  // Lanes [0, n) from elements of operand k.
  void take(size_t k, const std::byte* elements, int64_t n) {
    convert_lanes(reduction_.operands[k].type(), elements, reduction_.held(k), at(k, 0), n);
  }
  // Lanes [0, n) from the initial values.
  void start(int64_t n) {
    for (size_t k = 0; k < reduction_.count(); ++k)
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(at(k, i), reduction_.inits[k].raw().data(), reduction_.held_bytes(k));
  }
  // accumulators [0, n) = body(accumulators, others), where `other` gives operand k's values.
  template <class Other>
  Result<void> combine(const LaneProgram& body, int64_t n, const Other& other) {
    const size_t count = reduction_.count();
    inputs_.resize(2 * count), outputs_.resize(count);
    for (size_t k = 0; k < count; ++k) {
      inputs_[k] = outputs_[k] = at(k, 0);
      inputs_[count + k] = other(k);
    }
    return body.run(inputs_, outputs_, n);
  }

 private:
  const Reduction& reduction_;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

// Rows [first, first + rows) of `inner` elements into one, left in lanes [0, inner). Of a tree,
// groups of rows are lanes beside each other, whose halves are combined at the end; else the
// initial values come first.
Result<void> reduce_rows(const Reduction& r, int64_t first, int64_t rows, bool tree, Lanes& lanes) {
  int64_t group = 1;
  if (tree)
    while (2 * group * r.inner <= lanes_wanted && 2 * group <= rows) group *= 2;
  const int64_t width = group * r.inner;
  if (!tree) lanes.start(r.inner);
  else
    for (size_t k = 0; k < r.count(); ++k) lanes.take(k, r.at(k, first * r.inner), width);
  for (int64_t row = tree ? group : 0; row < rows; row += group) {
    const int64_t n = std::min(group, rows - row) * r.inner;
    HILO_DO(lanes.combine(r.step, n, [&](size_t k) { return r.at(k, (first + row) * r.inner); }));
  }
  for (; group > 1; group /= 2)
    HILO_DO(lanes.combine(r.join, group / 2 * r.inner,
                          [&](size_t k) { return lanes.at(k, group / 2 * r.inner); }));
  return {};
}

// Of many short rows, one element of each at a time: outputs [begin, end) of outer.
Result<void> reduce_columns(const Reduction& r, int64_t begin, int64_t end, Lanes& lanes,
                            Lanes& column) {
  const int64_t outputs = end - begin;
  if (!r.any_order) lanes.start(outputs * r.inner);
  for (int64_t row = 0; row < r.reduced; ++row) {
    const bool is_first = row == 0 && r.any_order;
    for (size_t k = 0; k < r.count(); ++k) {
      const bool stays = r.held(k) == r.operands[k].type();
      const int64_t stride = r.reduced * r.inner * r.bytes(k), run = r.inner * r.bytes(k);
      const std::byte* from = r.at(k, (begin * r.reduced + row) * r.inner);
      std::byte* to = (is_first && stays ? lanes : column).at(k, 0);
      for (int64_t i = 0; i < outputs; ++i) std::memcpy(to + i * run, from + i * stride, run);
      if (is_first && !stays) lanes.take(k, to, outputs * r.inner);
    }
    if (!is_first)
      HILO_DO(lanes.combine(r.step, outputs * r.inner, [&](size_t k) { return column.at(k, 0); }));
  }
  return {};
}

void store(const Reduction& r, Lanes& lanes, int64_t n, std::vector<Literal>& results,
           int64_t position) {
  for (size_t k = 0; k < r.count(); ++k)
    std::memcpy(const_cast<std::byte*>(results[k].raw().data()) + position * r.held_bytes(k),
                lanes.at(k, 0), n * r.held_bytes(k));
}

std::vector<Literal> make_results(const Reduction& r, int64_t count) {
  std::vector<Literal> out;
  for (const Literal& init : r.inits)
    out.push_back(r.call.make_held(Shape::array(init.type(), {count})));
  return out;
}

Result<std::vector<Literal>> reduce_short(const Reduction& r) {
  std::vector<Literal> results = make_results(r, r.outer * r.inner);
  const int64_t piece = std::max<int64_t>(1, lanes_wanted / r.inner);
  FirstError error;
  r.call.parallel(r.outer, piece, [&](int64_t begin, int64_t end) {
    Lanes lanes(r, piece * r.inner), column(r, piece * r.inner);
    error.note(reduce_columns(r, begin, end, lanes, column));
    store(r, lanes, (end - begin) * r.inner, results, begin * r.inner);
  });
  HILO_DO(error.result());
  return results;
}

Result<std::vector<Literal>> reduce_long(Reduction& r) {
  const bool tree = r.any_order;
  const int64_t rows =
      tree ? std::max<int64_t>(2, chunk_elements / r.inner) : std::max<int64_t>(1, r.reduced);
  const int64_t chunks = (r.reduced + rows - 1) / rows;
  std::vector<Literal> results = make_results(r, r.outer * chunks * r.inner);
  const int64_t work = std::max<int64_t>(1, std::min(rows, r.reduced) * r.inner);
  const int64_t piece = std::max<int64_t>(1, (chunk_elements / 4) / work);
  const int64_t capacity = std::max(lanes_wanted, r.inner);
  FirstError error;
  r.call.parallel(r.outer * chunks, piece, [&](int64_t begin, int64_t end) {
    Lanes lanes(r, capacity);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % chunks * rows;
      error.note(reduce_rows(r, i / chunks * r.reduced + first, std::min(rows, r.reduced - first),
                             tree, lanes));
      store(r, lanes, r.inner, results, i * r.inner);
    }
  });
  HILO_DO(error.result());
  if (chunks == 1) return results;
  r.operands = std::move(results);
  r.reduced = chunks;
  r.step = r.join;
  return reduce_long(r);
}

// body(init, value) for each of the results.
Result<void> apply_inits(const Reduction& r, std::vector<Literal>& results) {
  const int64_t count = results[0].count();
  FirstError error;
  r.call.parallel(count, 16 * lanes_wanted, [&](int64_t begin, int64_t end) {
    Lanes lanes(r, lanes_wanted);
    for (int64_t at = begin; at < end; at += lanes_wanted) {
      const int64_t n = std::min(lanes_wanted, end - at);
      lanes.start(n);
      if (r.reduced > 0)
        error.note(lanes.combine(
            r.join, n, [&](size_t k) { return results[k].raw().data() + at * r.held_bytes(k); }));
      store(r, lanes, n, results, at);
    }
  });
  return error.result();
}

// Kept dimensions before and after the reduced ones; operands whose dimensions stand otherwise are
// transposed to (kept, reduced).
void order_dimensions(Reduction& r, std::span<const bool> is_reduced) {
  const Dims dims = r.operands[0].shape().dims;
  int changes = 0;
  bool before = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    if (is_reduced[d] != before) ++changes;
    before = is_reduced[d];
  }
  Dims order;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (is_reduced[d]) r.reduced *= dims[d];
    else (changes <= 2 && r.reduced != 1 ? r.inner : r.outer) *= dims[d];
    if (!is_reduced[d]) order.push_back(static_cast<int64_t>(d));
  }
  if (changes <= 2) return;
  for (size_t d = 0; d < dims.size(); ++d)
    if (is_reduced[d]) order.push_back(static_cast<int64_t>(d));
  for (Literal& operand : r.operands) {
    const Dims strides = row_major_strides(dims);
    StridedCopy copy;
    for (int64_t d : order) {
      copy.sizes.push_back(dims[d]);
      copy.from_strides.push_back(strides[d]);
    }
    copy.to_strides = row_major_strides(copy.sizes);
    Literal moved = r.call.make_held(Shape::array(operand.type(), copy.sizes));
    copy_strided(r.call, storage_bytes(operand.type()), operand.raw().data(),
                 moved.mutable_raw().data(), copy);
    operand = std::move(moved);
  }
}

Result<void> take_operands(Call& call, Reduction& r, std::span<const InstructionId> parameters) {
  const size_t n = call.operands.size() / 2;
  if (n == 0 || call.operands.size() != 2 * n || parameters.size() != 2 * n)
    return call.error(ErrorKind::Shape, "operands, as many initial values, a body for both");
  for (size_t k = 0; k < n; ++k) {
    const ElementType type = call.held(call.module.shape(parameters[k]).type);
    r.inits.push_back(converted(call, call.operands[n + k], type));
    r.operands.push_back(converted(call, call.operands[k], type));
    call.operands[k] = Literal();
    if (r.operands[k].shape().dims != r.operands[0].shape().dims)
      return call.error(ErrorKind::Shape, "operands of different dimensions");
    r.operands[k] = masked(call, r.operands[k], r.inits[k]);
  }
  return {};
}

Literal shaped(const Call& call, std::vector<Literal> results,
               std::span<const int64_t> kept_sizes) {
  const Shape stated = call.held(call.shape());
  for (size_t k = 0; k < results.size(); ++k) {
    Shape shape = stated.is_tuple() ? stated.elements[k] : stated;
    const ElementType type = shape.type;
    shape.type = results[k].type();
    results[k] = converted(call, results[k].with_shape(std::move(shape)), type);
    for (size_t d = 0; d < kept_sizes.size(); ++d) results[k].set_size(d, kept_sizes[d]);
  }
  if (!stated.is_tuple()) return std::move(results[0]);
  return Literal::tuple(std::move(results), call.result_shape());
}

// Other bodies than associative ones go in the order of the elements, from the initial values on:
// the place of a maximum is the first of equals.
Result<std::vector<Literal>> run(Reduction& r) {
  if (r.reduced == 0 || r.outer * r.inner == 0) return make_results(r, r.outer * r.inner);
  const bool has_short_rows = r.reduced * r.inner <= short_row && r.outer >= 16;
  return has_short_rows ? reduce_short(r) : reduce_long(r);
}

bool is_complex_product(const Module& module, const Combiner& combiner) {
  return is_complex(combiner.element) && module[combiner.instruction].op == Op::Multiply;
}

Result<void> choose_programs(Reduction& r, ComputationId body) {
  const std::optional<Combiner> combiner = find_combiner(r.call.module, body);
  const ElementType element = r.operands[0].type();
  // Products of complex numbers of which one is infinite depend on their order.
  r.any_order = combiner.has_value() && !is_complex_product(r.call.module, *combiner);
  if (const auto wide = wide_type(r.call, combiner, element)) {
    r.inits[0] = converted(r.call, r.inits[0], *wide);
    HILO_TRY(r.step, LaneProgram::make(r.call, *combiner, element));
    HILO_TRY(r.join, LaneProgram::make(r.call, *combiner, *wide));
    return {};
  }
  HILO_TRY(r.join, LaneProgram::make(r.call, body, element_types(r.operands, r.operands),
                                     element_types(r.operands)));
  r.step = r.join;
  return {};
}

}  // namespace

Result<Literal> evaluate_Reduce(Call& call) {
  const ReduceAttributes& attributes = call.attributes<ReduceAttributes>();
  Dims kept_sizes;
  std::unique_ptr<bool[]> is_reduced(new bool[call.operands[0].shape().dims.size() + 1]());
  const std::span<bool> reduced(is_reduced.get(), call.operands[0].shape().dims.size());
  for (int64_t d : attributes.dimensions) {
    if (d < 0 || d >= static_cast<int64_t>(reduced.size()))
      return call.error(ErrorKind::Shape, "a reduced dimension that the operand lacks");
    reduced[d] = true;
  }
  if (!call.operands[0].dynamic_sizes().empty())
    for (size_t d = 0; d < reduced.size(); ++d)
      if (!reduced[d]) kept_sizes.push_back(call.operands[0].size(d));
  Reduction r{call};
  HILO_DO(take_operands(call, r, call.module[attributes.to_apply].parameters));
  HILO_DO(choose_programs(r, attributes.to_apply));
  const std::vector<ElementType> elements = element_types(r.operands);
  order_dimensions(r, reduced);
  HILO_TRY(std::vector<Literal> results, run(r));
  if (r.any_order || r.reduced == 0) HILO_DO(apply_inits(r, results));
  for (size_t k = 0; k < results.size(); ++k) results[k] = converted(call, results[k], elements[k]);
  return shaped(call, std::move(results), kept_sizes);
}

}  // namespace hilo
