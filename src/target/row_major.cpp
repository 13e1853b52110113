// Puts every array in row-major order without tiles, packing or memory spaces: what literals are,
// and what emitted loops read and write.
//
// Values are logical arrays, so that layouts matter only to bitcast, which keeps physical bytes:
// where one of its layouts is not plain it becomes the moves that it means (memory_order.h).
#include "target/row_major.h"

#include "target/fused_computations.h"
#include "target/memory_order.h"

namespace hilo {
namespace {

bool plain(const Shape& shape) { return !shape.has_layout || is_plain(shape); }

std::unexpected<Error> unsupported(const Module& module, InstructionId id, std::string_view why) {
  return std::unexpected(Error{
      ErrorKind::Unsupported,
      fmt::format("{} of {} to {} on device cpu: {}", text_of(module[id].op),
                  to_string(module.shape(module.operand(id, 0))), to_string(module.shape(id)), why),
      module.place(id)});
}

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

// A row of elements as one of another type with the same bits in the same order.
InstructionId add_other_type(Editor& editor, InstructionId like, InstructionId row,
                             ElementType type) {
  const Shape from = editor.module().shape(row);
  const int64_t before = storage_bytes(from.type), after = storage_bytes(type);
  const auto add = [&](Op op, ElementType element, Dims dims) {
    row = editor.add(like, op, Shape::array(element, std::move(dims)), {&row, 1});
  };
  if (before == after) {
    add(Op::BitcastConvert, type, from.dims);
  } else if (before > after) {
    const int64_t parts = before / after;
    add(Op::BitcastConvert, type, {from.dims[0], parts});
    add(Op::Reshape, type, {from.dims[0] * parts});
  } else {
    const int64_t parts = after / before, count = (from.dims[0] + parts - 1) / parts;
    row = add_moves(editor, like, row, {}, {}, {count * parts});
    add(Op::Reshape, from.type, {count, parts});
    add(Op::BitcastConvert, type, {count});
  }
  return row;
}

bool is_whole_bytes(const Shape& shape) {
  return bits_of(shape.type) == 8 * storage_bytes(shape.type) && shape.type != ElementType::Pred;
}

Result<void> expand_bitcast(Editor& editor, InstructionId id, bool in_fusion) {
  const Module& module = editor.module();
  const Shape to = module.shape(id), from = module.shape(module.operand(id, 0));
  if (!to.is_array() || !from.is_array()) return {};
  const bool is_plain_already = plain(to) && plain(from);
  if (is_plain_already && (to.type == from.type || !in_fusion)) return {};
  InstructionId value = module.operand(id, 0);
  if (to.type == from.type) {
    if (to.layout.element_size_bits != from.layout.element_size_bits &&
        physical_count(to) != physical_count(from))
      return unsupported(module, id, "elements of other widths in memory");
    value = add_moves(editor, id, value, moves_to_memory(from), moves_to_memory(to), to.dims);
  } else {
    if (!is_whole_bytes(to) || !is_whole_bytes(from) || is_complex(to.type) ||
        is_complex(from.type)) {
      if (is_plain_already) return {};  // evaluated
      return unsupported(module, id, "elements of another type");
    }
    value = add_moves(editor, id, value, moves_to_memory(from), {}, {physical_count(from)});
    value = add_other_type(editor, id, value, to.type);
    value = add_moves(editor, id, value, {}, moves_to_memory(to), to.dims);
  }
  if (value == module.operand(id, 0))  // a computation's result is its own
    value = editor.add(id, Op::Copy, Shape::array(to.type, to.dims), {&value, 1});
  put_for(editor, id, value);
  return {};
}

// A custom call of TPU modules: the rows of the operands' memory side by side are the result's.
void expand_concat_bitcast(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  const Shape to = module.shape(id);
  std::vector<InstructionId> rows;
  int64_t count = 0;
  const auto operands = module.operands(id);
  for (InstructionId operand : std::vector(operands.begin(), operands.end())) {
    const Shape from = module.shape(operand);
    if (from.type != to.type) return;
    const int64_t length = physical_count(from);
    rows.push_back(add_moves(editor, id, operand, moves_to_memory(from), {}, {length}));
    count += length;
  }
  if (rows.empty()) return;
  const InstructionId row = editor.add(id, Op::Concatenate, Shape::array(to.type, {count}), rows,
                                       DimensionsAttributes{Dims{0}});
  put_for(editor, id, add_moves(editor, id, row, {}, moves_to_memory(to), to.dims));
}

bool is_concat_bitcast(const Module& module, InstructionId id) {
  return module[id].op == Op::CustomCall &&
         module.attributes<CustomCallAttributes>(id).custom_call_target == "ConcatBitcast";
}

void make_plain(Shape& shape) {
  for (Shape& element : shape.elements) make_plain(element);
  if (!shape.is_array()) return;
  shape.has_layout = true;
  shape.layout = Layout::descending(shape.dims.size());
}

}  // namespace

Result<bool> put_in_row_major(Module& module, const PassOptions&) {
  const size_t count = module.instructions.size();
  const std::vector<bool> fused = fused_computations(module);
  Editor editor(module);
  for (size_t i = 0; i < count; ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed) continue;
    if (is_concat_bitcast(module, id)) expand_concat_bitcast(editor, id);
    if (module[id].op != Op::Bitcast) continue;
    HILO_DO(expand_bitcast(editor, id, fused[module[id].computation.value]));
  }
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed) continue;
    Shape shape = module.shape(id);
    make_plain(shape);
    module[id].shape = module.shapes.intern(std::move(shape));
  }
  module.header.entry_computation_layout.reset();
  return true;
}

}  // namespace hilo
