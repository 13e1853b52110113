// Kernels of reductions: which of the ways to reduce fits a step.
#include <algorithm>

#include "emit/op_functions.h"
#include "emit/reduce.h"

namespace hilo {

using llvm::Value;

namespace {

// Elements of rows that are lanes themselves, and where they are read from memory as they lie: more
// would be gathered, which takes longer than to add them.
constexpr double short_row = KernelLimits::short_row, short_row_in_memory = KernelLimits::min_lanes;
// Rows of so many elements are vectors too where their results, which would be lanes, fill less
// than half of the widest vectors, or of narrower ones one and a part.
constexpr double short_row_of_few = KernelLimits::min_lanes;

// Whether a value is made of an array with as many elements, by what is fused with it.
bool is_read(const ElementEmitter& elements, InstructionId value) {
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

// Whether the results that lie side by side are too few for lanes.
bool has_few_results(const ElementEmitter& e, const Dims& dims, int64_t element_bytes) {
  const auto last =
      std::ranges::find_if(dims.rbegin(), dims.rend(), [](int64_t d) { return d > 1; });
  if (last == dims.rend()) return false;
  const int64_t bytes = e.register_bytes(), lanes = bytes / element_bytes;
  return bytes >= widest_vector ? *last < lanes / 2 : *last < 2 * lanes && *last % lanes != 0;
}

// Results from number `first` on whose steps do not wait for each other's.
constexpr int64_t at_once = 8;
void write_several(KernelBuilder& w, InstructionId id, Reduce& reduce, Value* first) {
  std::vector<Index> places;
  for (int64_t k = 0; k < at_once; ++k)
    places.push_back(Index::linear(w.b, w.elements.leaf_shape(id, 0).dims,
                                   add_index(w.b, first, int64(w.b, k))));
  const std::vector<Value*> all = reduce.several_in_order(places);
  const auto each = std::span(all).size() / places.size();
  for (int64_t k = 0; k < at_once; ++k)
    store_results(w, id, add_index(w.b, first, int64(w.b, k)),
                  std::span(all).subspan(static_cast<size_t>(k) * each, each));
}

void write_rows(KernelBuilder& w, InstructionId id, Reduce& reduce) {
  const Dims dims = w.elements.leaf_shape(id, 0).dims;
  const double steps = reduce.reduced_elements();
  const bool is_sum =
      reduce.reducer().is_associative() && is_read(w.elements, w.elements.module.operand(id, 0));
  const int64_t element_bytes =
      std::max<int64_t>(1, static_cast<int64_t>(reduce.held(0)->getPrimitiveSizeInBits()) / 8);
  const double bytes = steps * static_cast<double>(element_bytes);
  if (steps > 0 && steps <= (is_sum ? short_row_in_memory : short_row) &&
      !(is_sum && bytes >= widest_vector) &&
      !(reduce.reducer().is_associative() && steps >= short_row_of_few &&
        has_few_results(w.elements, dims, element_bytes))) {
    reduce.without_loop = short_row;
    write_lanes(w, dims, [&](const Index& place) {
      store_results(w, id, place.position(w.b), reduce.result(place));
    });
    return;
  }
  w.set_count(element_count(dims));
  Value* begin = w.begin;
  if (reduce.waits_for_itself()) {
    Value* rounds = w.b.CreateUDiv(w.b.CreateSub(w.end, w.begin), int64(w.b, at_once));
    loop(w.b, int64(w.b, 0), rounds, [&](Value* round) {
      write_several(w, id, reduce, add_index(w.b, w.begin, multiply_index(w.b, round, at_once)));
    });
    w.elements.forget();
    begin = add_index(w.b, w.begin, multiply_index(w.b, rounds, at_once));
  }
  loop(w.b, begin, w.end,
       [&](Value* i) { store_results(w, id, i, reduce.result(Index::linear(w.b, dims, i))); });
}

}  // namespace

Value* element_Reduce(ElementEmitter& e, InstructionId id, const Index& index, size_t leaf) {
  return Reduce(e, id).in_order(index)[leaf];
}

void write_Reduce(KernelBuilder& w, InstructionId id) {
  Reduce reduce(w.elements, id);
  const bool is_empty =
      reduce.reduced_elements() == 0 || element_count(w.elements.leaf_shape(id, 0).dims) == 0;
  if (is_empty) {
    write_rows(w, id, reduce);
  } else if (reduce.is_row()) {
    if (write_short_rows(w, id, reduce)) return;
    if (const auto run = reduce.run()) reduce.merge(*run);
    write_rows(w, id, reduce);
  } else if (!write_narrow_columns(w, id, reduce) && !write_slabs(w, id, reduce)) {
    write_columns(w, id, reduce);
  }
}

}  // namespace hilo
