// The opcode table as types. Shown through ir.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hilo {

enum class Op : uint8_t {
#define OP(name, text, operands, attributes, op_class, types, ...) name,
#include "ir/ops.def"
#undef OP
};
inline constexpr int op_count = 0
#define OP(name, text, operands, attributes, op_class, types, ...) +1
#include "ir/ops.def"
#undef OP
    ;

enum class OpClass : uint8_t { Elementwise, Structural };
// Element types that an elementwise op takes.
enum TypeMask : uint8_t {
  MaskPred = 1,
  MaskSigned = 2,
  MaskUnsigned = 4,
  MaskFloat = 8,
  MaskComplex = 16,
  MaskSpecial = 32,
};
// What some ops have in common; the words of ops.def.
enum OpTrait : uint32_t {
  TraitTranscendental = 1,
  TraitNoTraffic = 2,
  TraitNotFolded = 4,
  TraitCheap = 8,
  TraitEffect = 16,
  TraitCollective = 32,
  TraitMoves = 64,
  TraitPaired = 128,
  TraitApart = 256,
  TraitExact = 512,
  TraitCommutes = 1 << 10,
  TraitMonoid = 1 << 11,
  TraitIdempotent = 1 << 12,
  TraitUnrounded = 1 << 13,
  TraitRearranges = 1 << 14,
  TraitByDimension = 1 << 15,
  TraitStated = 1 << 16,
  TraitTransfers = 1 << 17,
  TraitStored = 1 << 18,
  TraitForwards = 1 << 19,
  TraitTakesOver = 1 << 20,
  TraitSameOrder = 1 << 21
};
struct OpInfo {
  std::string_view text;
  int operands;                 // -1: any number
  std::string_view attributes;  // "Dot"
  OpClass op_class;
  uint8_t types;    // TypeMask
  uint32_t traits;  // OpTrait
};
const OpInfo& info(Op op);
inline std::string_view text_of(Op op) { return info(op).text; }
std::optional<Op> op_of(std::string_view text);
inline bool has_trait(Op op, uint32_t traits) { return (info(op).traits & traits) != 0; }
inline bool is_elementwise(Op op) { return info(op).op_class == OpClass::Elementwise; }

}  // namespace hilo
