// Puts every array in row-major order without tiles, packing or memory spaces: what literals are,
// and what emitted loops read and write.
//
// Values are logical arrays, so that layouts matter only to who sees bytes in memory: bitcast, and
// the custom calls whose row in eval/custom_call.def says so. They become the moves that they mean
// (memory_order.h, memory_bytes.h). Nothing else is asked about layouts after this.
#include "pass/pass.h"

#include <algorithm>

#include "pass/layout/custom_call_bytes.h"

namespace hilo {
namespace {

bool plain(const Shape& shape) { return !shape.has_layout || is_plain(shape); }

// All users get the new value, which keeps the layout until all are read; the old instruction stays
// for the next pass to remove.
void put_for(Editor& editor, InstructionId id, InstructionId value) {
  editor.set_shape(value, editor.module().shape(id));
  const ComputationId computation = editor.module()[id].computation;
  const std::vector<InstructionId> users = editor.module().users(id);
  for (InstructionId user : users) {
    const auto operands = editor.module().operands(user);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i] == id) editor.set_operand(user, i, value);
  }
  if (editor.module()[computation].root == id) editor.set_root(computation, value);
}

bool is_reshape(const Shape& from, const Shape& to) {
  return from.type == to.type && plain(from) && plain(to);
}

// Null: the instruction means the same without layouts.
ExpandCall expansion_of(const Module& module, InstructionId id, const PassOptions& options) {
  if (module[id].op == Op::Bitcast) {
    const Shape &from = module.shape(module.operand(id, 0)), &to = module.shape(id);
    return from.is_array() && to.is_array() && !is_reshape(from, to) ? expand_to_shape : nullptr;
  }
  if (module[id].op != Op::CustomCall) return nullptr;
  const std::string& target = module.attributes<CustomCallAttributes>(id).custom_call_target;
  return options.is_supplied(target) ? nullptr : find_expansion(target);
}

Result<void> expand(Editor& editor, InstructionId id, ExpandCall expansion) {
  HILO_TRY(InstructionId value, expansion(editor, id));
  const auto operands = editor.module().operands(id);
  if (std::ranges::find(operands, value) != operands.end()) {  // a result is a value of its own
    const Shape shape = editor.module().shape(id);
    value = editor.add(id, Op::Copy, Shape::array(shape.type, shape.dims), {&value, 1});
  }
  put_for(editor, id, value);
  return {};
}

// Results that lie over operands of other sizes do so in their layouts only.
void drop_unequal_aliases(Module& module, InstructionId id) {
  const auto shape_of = [&](InstructionId value, const Dims& index) {
    const Shape* out = &module.shape(value);
    for (int64_t i : index) out = &out->elements[static_cast<size_t>(i)];
    return *out;
  };
  visit_attributes_type(module[id].op, [&]<class A>(std::type_identity<A>) {
    if constexpr (requires(A a) { a.output_to_operand_aliasing; }) {
      if (module.attributes<A>(id).output_to_operand_aliasing.empty()) return;
      std::erase_if(module.mutable_attributes<A>(id).output_to_operand_aliasing,
                    [&](const OutputOperandAlias& alias) {
                      const auto operand = static_cast<size_t>(alias.operand);
                      return !same_dims(shape_of(id, alias.output_index),
                                        shape_of(module.operand(id, operand), alias.operand_index));
                    });
    }
  });
}

void make_plain(Shape& shape) {
  for (Shape& element : shape.elements) make_plain(element);
  if (!shape.is_array()) return;
  shape.has_layout = true;
  shape.layout = Layout::descending(shape.dims.size());
}

}  // namespace

Result<bool> put_in_row_major(Module& module, const PassOptions& options) {
  const size_t count = module.instructions.size();
  Editor editor(module);
  for (size_t i = 0; i < count; ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed) continue;
    if (const ExpandCall expansion = expansion_of(module, id, options))
      HILO_DO(expand(editor, id, expansion));
  }
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed) continue;
    Shape shape = module.shape(id);
    make_plain(shape);
    module[id].shape = module.shapes.intern(std::move(shape));
  }
  for (size_t i = 0; i < module.instructions.size(); ++i)
    if (!module.instructions[i].removed) drop_unequal_aliases(module, {static_cast<uint32_t>(i)});
  module.header.entry_computation_layout.reset();
  return true;
}

}  // namespace hilo
