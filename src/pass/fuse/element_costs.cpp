// What one element of a value costs a loop that computes it, and what it is made of.
#include <climits>

#include "pass/fuse/groups.h"

namespace hilo {
namespace {

constexpr size_t max_choices = 16;

}  // namespace

bool is_dense_static_array(const Module& module, InstructionId id) {
  const Shape& shape = module.shape(id);
  return shape.is_array() && is_plain(shape) && is_static(shape);
}

bool is_by_element(const Module& module, InstructionId id) {
  if (is_lookup(module, id)) return module[module.operand(id, 0)].op == Op::Constant;
  if (module[id].op != Op::BitcastConvert) return is_elementwise(module[id].op);
  const Shape &from = module.shape(module.operand(id, 0)), &to = module.shape(id);
  return from.dims == to.dims && bits_of(to.type) >= CHAR_BIT && !is_complex(from.type) &&
         !is_complex(to.type);
}

int transcendental_weight(const Module& module, InstructionId id) {
  constexpr int of_complex = 4, of_two = 4;  // times as much code
  if (!has_trait(module[id].op, TraitTranscendental)) return 0;
  return (is_complex(module.shape(id).type) ? of_complex : 1) *
         (module.operands(id).size() == 2 ? of_two : 1);
}

bool is_sourceless(const Module& module, InstructionId id) {
  if (module[id].op == Op::Broadcast) id = module.operand(id, 0);
  return module[id].op == Op::Constant || module[id].op == Op::Iota;
}

bool is_light(const Module& module, InstructionId id) {
  constexpr int max_ops = 2;
  for (int ops = 1; ops <= max_ops; ++ops) {
    if (!has_trait(module[id].op, TraitCheap) || module[id].op == Op::Divide) return false;
    InstructionId read;
    for (InstructionId operand : module.operands(id)) {
      if (is_sourceless(module, operand) || operand == read) continue;
      if (read) return false;
      read = operand;
    }
    if (!read || !is_elementwise(module[read].op)) return static_cast<bool>(read);
    id = read;
  }
  return false;
}

bool is_free(const Module& module, InstructionId id) {
  const Instruction& instruction = module[id];
  if (instruction.op == Op::Iota) return true;
  if (instruction.op == Op::Constant) return module.shape(id).is_scalar();
  if (instruction.op != Op::Convert && instruction.op != Op::Broadcast) return false;
  // Nothing free stands on something free but a constant, so that none is deep.
  const InstructionId from = module.operand(id, 0);
  const Op source = module[from].op;
  if (source == Op::Broadcast || source == Op::Convert || source == Op::Iota) return false;
  return instruction.op == Op::Broadcast ||
         (!is_elementwise(source) &&
          bits_of(module.shape(from).type) < bits_of(module.shape(id).type));
}

bool is_costly_choice(const Module& module, InstructionId user, InstructionId value) {
  return module[user].op == Op::Concatenate && is_elementwise(module[value].op) &&
         is_complex(module.shape(value).type);
}

bool is_choice_of_many(const Module& module, InstructionId id) {
  return module[id].op == Op::Concatenate && module.operands(id).size() > max_choices;
}

bool reads_repeatedly(const Module& module, InstructionId user, InstructionId value) {
  return module[user].op == Op::Broadcast &&
         element_count(module.shape(user)) > element_count(module.shape(value));
}

bool is_degenerate_reshape(const Module& module, InstructionId id) {
  if (module[id].op != Op::Reshape) return false;
  Dims from = module.shape(module.operand(id, 0)).dims, to = module.shape(id).dims;
  std::erase(from, 1);
  std::erase(to, 1);
  return from == to;
}

}  // namespace hilo
