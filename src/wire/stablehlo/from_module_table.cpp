#include <algorithm>

#include "wire/stablehlo/exporter.h"
#include "wire/stablehlo/text_writer.h"

namespace hilo::mlir {
namespace {

constexpr WriterRow rows[] = {
#define WRITE(op, name, function) {Op::op, name, write_##function},
#include "wire/stablehlo/from_module_ops.def"
#undef WRITE
};

struct ElementwiseRow {
  std::string_view function;
  WriterRow row;
};
constexpr ElementwiseRow elementwise[] = {
#define OP(name, operands, results, function, op, quantised) \
  {#function, {Op::op, name, write_elementwise}},
#include "wire/stablehlo/stablehlo_ops.def"
#undef OP
};

}  // namespace

const WriterRow* find_writer(Op op) {
  const auto* own = std::ranges::find(rows, op, &WriterRow::op);
  if (own != std::end(rows)) return own;
  for (const ElementwiseRow& one : elementwise)
    if (one.function == "elementwise" && one.row.op == op) return &one.row;
  return nullptr;
}

bool is_elementwise(std::string_view stablehlo_name) {
  const auto* found = std::ranges::find(elementwise, stablehlo_name,
                                        [](const ElementwiseRow& one) { return one.row.name; });
  return found != std::end(elementwise) && found->function == "elementwise";
}

}  // namespace hilo::mlir
