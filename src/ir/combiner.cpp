#include <algorithm>

#include "ir/ir.h"

namespace hilo {
namespace {

InstructionId through_convert(const Module& module, InstructionId id) {
  const bool is_convert = module[id].op == Op::Convert && module[id].operand_count == 1;
  return is_convert ? module.operand(id, 0) : id;
}

bool keeps_all_of(ElementType wide, ElementType element) {
  return wide == element ||
         (is_floating(wide) && is_floating(element) && bits_of(wide) > bits_of(element));
}

}  // namespace

std::optional<Combiner> find_combiner(const Module& module, ComputationId id) {
  const Computation& computation = module[id];
  const std::vector<InstructionId>& parameters = computation.parameters;
  if (!computation.root || parameters.size() != 2) return std::nullopt;
  const InstructionId op = through_convert(module, computation.root);
  if (!has_trait(module[op].op, TraitMonoid) || module[op].operand_count != 2) return std::nullopt;
  const std::array sides = {through_convert(module, module.operand(op, 0)),
                            through_convert(module, module.operand(op, 1))};
  if (!std::ranges::is_permutation(sides, parameters)) return std::nullopt;
  Combiner out{op, module.shape(computation.root).type, module.shape(op).type};
  for (InstructionId parameter : parameters)
    if (module.shape(parameter).type != out.element) return std::nullopt;
  if (!keeps_all_of(out.wide, out.element)) return std::nullopt;
  if (is_floating(out.wide) && bits_of(out.wide) < 32) out.wide = ElementType::F32;
  return out;
}

}  // namespace hilo
