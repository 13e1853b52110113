// The table of ops, by name.
#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

constexpr Row rows[] = {
#define OP(name, operands, results, function, op, quantised) \
  {name, operands, results, convert_##function, Op::op, Quantised::quantised},
#include "wire/stablehlo/stablehlo_ops.def"
#undef OP
};

}  // namespace

const Row* find_row(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Row*> out;
    for (const Row& row : rows) out.emplace(row.name, &row);
    return out;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace hilo::mlir
