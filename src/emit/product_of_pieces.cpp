#include "emit/product_of_pieces.h"

#include "analysis/analysis.h"

namespace hilo {
namespace {

std::optional<OperandPiece> piece_of(const Module& module, InstructionId id) {
  int64_t first = 0;
  while (module[id].op != Op::Parameter) {
    const Op op = module[id].op;
    const int64_t start = op == Op::Slice ? start_of_piece(module, id) : 0;
    if (start < 0 || (op != Op::Slice && op != Op::Reshape)) return std::nullopt;
    first += start;
    id = module.operand(id, 0);
  }
  const int64_t number = module.attributes<ParameterAttributes>(id).number;
  return OperandPiece{static_cast<size_t>(number), first};
}

}  // namespace

std::optional<ProductOfPieces> product_of_pieces(const Module& module, InstructionId step) {
  if (module[step].op != Op::Fusion) return std::nullopt;
  ProductOfPieces out{module[module.attributes<FusionAttributes>(step).calls].root, {}};
  if (module[out.product].op != Op::Dot) return std::nullopt;
  for (InstructionId operand : module.operands(out.product)) {
    const std::optional<OperandPiece> piece = piece_of(module, operand);
    if (!piece) return std::nullopt;
    out.operands.push_back(*piece);
  }
  return out;
}

}  // namespace hilo
