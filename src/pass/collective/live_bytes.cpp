#include "pass/collective/live_bytes.h"

#include <algorithm>

namespace hilo {
namespace {

bool only_names(Op op) {
  return op == Op::Tuple ||
         (has_trait(op, TraitNoTraffic) && op != Op::Parameter && op != Op::Constant);
}

// Of the arrays that an instruction makes: a start gives its operands back.
int64_t own_bytes(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  if (op == Op::Parameter || op == Op::Constant || only_names(op)) return 0;
  const Shape& shape = module.shape(id);
  const bool gives_back = has_trait(op, TraitEffect) && shape.is_tuple() &&
                          shape.elements.size() > 1 &&
                          (has_trait(op, TraitMoves) || op == Op::AsyncStart);
  int64_t out = 0;
  for_each_leaf(gives_back ? shape.elements[1] : shape,
                [&](const Shape& leaf, std::span<const int64_t>) {
                  if (leaf.is_array()) out += literal_bytes(leaf);
                });
  return out;
}

}  // namespace

LiveBytes::LiveBytes(const Module& module, std::span<const InstructionId> order)
    : module_(module),
      bytes_(module.instructions.size()),
      bases_(module.instructions.size()),
      is_alive_(module.instructions.size()) {
  for (InstructionId id : order) {
    bytes_[id.value] = own_bytes(module, id);
    std::vector<InstructionId>& bases = bases_[id.value];
    if (!only_names(module[id].op)) {
      if (bytes_[id.value] > 0) bases = {id};
      continue;
    }
    for (InstructionId operand : module.operands(id))
      bases.insert(bases.end(), bases_[operand.value].begin(), bases_[operand.value].end());
    std::ranges::sort(bases, {}, &InstructionId::value);
    bases.erase(std::ranges::unique(bases).begin(), bases.end());
  }
}

int64_t LiveBytes::change(InstructionId id) const {
  int64_t out = is_alive_[id.value] ? -bytes_[id.value] : 0;
  std::vector<InstructionId> counted;
  if (only_names(module_[id].op)) return out;
  for (InstructionId operand : module_.operands(id))
    for (InstructionId base : bases_[operand.value])
      if (!is_alive_[base.value] && std::ranges::find(counted, base) == counted.end()) {
        out += bytes_[base.value];
        counted.push_back(base);
      }
  return out;
}

void LiveBytes::step_back(InstructionId id) {
  if (is_alive_[id.value]) is_alive_[id.value] = false, alive_ -= bytes_[id.value];
  if (only_names(module_[id].op)) return;
  for (InstructionId operand : module_.operands(id))
    for (InstructionId base : bases_[operand.value])
      if (!is_alive_[base.value]) is_alive_[base.value] = true, alive_ += bytes_[base.value];
}

int64_t LiveBytes::peak(std::span<const InstructionId> order) const {
  LiveBytes walk = *this;
  walk.restart();
  int64_t out = 0;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t made = walk.is_alive_[order[i].value] ? 0 : bytes_[order[i].value];
    walk.step_back(order[i]);
    out = std::max(out, walk.alive_ + made);
  }
  return out;
}

}  // namespace hilo
