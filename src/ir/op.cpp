#include <unordered_map>

#include "ir/ir.h"

namespace hilo {
namespace {

namespace masks {
constexpr uint8_t Float = MaskFloat, FloatOrComplex = MaskFloat | MaskComplex;
constexpr uint8_t Unsigned = MaskUnsigned, Integral = MaskSigned | MaskUnsigned;
constexpr uint8_t IntegralOrPred = Integral | MaskPred;
constexpr uint8_t Number = Integral | FloatOrComplex, NumberOrPred = Number | MaskPred;
constexpr uint8_t SignedNumber = MaskSigned | FloatOrComplex;
constexpr uint8_t Any = 0xff;
constexpr uint32_t Transcendental = TraitTranscendental, NoTraffic = TraitNoTraffic;
constexpr uint32_t NotFolded = TraitNotFolded, Cheap = TraitCheap;
constexpr uint32_t Effect = TraitEffect, Collective = TraitCollective;
constexpr uint32_t Moves = TraitMoves, Paired = TraitPaired;
constexpr uint32_t Apart = TraitApart, Exact = TraitExact;
constexpr uint32_t Commutes = TraitCommutes, Monoid = TraitMonoid, Idempotent = TraitIdempotent;
constexpr uint32_t Unrounded = TraitUnrounded, Stored = TraitStored;
constexpr uint32_t Rearranges = TraitRearranges, ByDimension = TraitByDimension;
constexpr uint32_t Stated = TraitStated, Transfers = TraitTransfers;
constexpr uint32_t Forwards = TraitForwards, TakesOver = TraitTakesOver;
constexpr uint32_t SameOrder = TraitSameOrder;
constexpr uint32_t traits(uint32_t mask = 0) { return mask; }
constexpr OpInfo infos[] = {
#define OP(name, text, operands, attributes, op_class, types, ...) \
  {text, operands, #attributes, OpClass::op_class, types, traits(__VA_ARGS__)},
#include "ir/ops.def"
#undef OP
};
}  // namespace masks

}  // namespace

const OpInfo& info(Op op) { return masks::infos[static_cast<size_t>(op)]; }

std::optional<Op> op_of(std::string_view text) {
  static const auto* ops = [] {
    auto* map = new std::unordered_map<std::string_view, Op>();
    for (int i = 0; i < op_count; ++i) map->emplace(masks::infos[i].text, static_cast<Op>(i));
    return map;
  }();
  auto found = ops->find(text);
  if (found == ops->end()) return std::nullopt;
  return found->second;
}

}  // namespace hilo
