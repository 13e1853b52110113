// Reductions that keep few columns of many lines, as the coordinates of points or the parts of a
// colour: memory is read in vectors of several lines, whose columns come in turns.
#include <numeric>

#include "emit/reduce.h"

namespace hilo {
namespace {

using llvm::Value;

constexpr int64_t most_columns = 16;
// Bytes of a vector of the widest chips, and of so many vectors side by side as hide how long a sum
// takes.
constexpr int64_t vector_bytes = 64, wanted_bytes = 4 * vector_bytes;

// Lines side by side: a whole number of vectors and of lines. The lines are a power of two.
int64_t lanes_of_columns(const Reducer& reducer, int64_t columns) {
  const int64_t bits = reducer.type()->getScalarSizeInBits(),
                bytes = std::max<int64_t>(1, bits / 8);
  int64_t lanes = std::lcm(columns, vector_bytes / bytes);
  while (2 * lanes * bytes <= wanted_bytes) lanes *= 2;
  return lanes;
}

}  // namespace

bool write_narrow_columns(Writer& w, InstructionId id, Reduce& reduce) {
  const auto run = reduce.run();
  if (!reduce.reducer().is_associative() || !run || run->columns > most_columns) return false;
  const int64_t columns = run->columns, lanes = lanes_of_columns(reduce.reducer(), columns);
  if (run->size < 2 * lanes) return false;
  const double steps = reduce.reduced_elements() * static_cast<double>(columns);
  reduce.merge(*run);
  Dims outer;
  for (size_t d : reduce.kept()) outer.push_back(reduce.dims()[d]);
  w.set_count(element_count(outer), steps);
  loop(w.b, w.begin, w.end, [&](Value* number) {
    const Index place = Index::linear(w.b, outer, number);
    Value* combined = reduce.columns(place, columns, lanes);
    Value* first = multiply_index(w.b, number, columns);
    for (int64_t i = 0; i < columns; ++i) {
      Value* one = w.b.CreateExtractElement(combined, static_cast<uint64_t>(i));
      store_results(w, id, add_index(w.b, first, int64(w.b, i)), std::array{reduce.finished(one)});
    }
  });
  return true;
}

}  // namespace hilo
