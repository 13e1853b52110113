// Puts every array in row-major order without tiles, packing or memory spaces: what literals are,
// and what emitted loops read and write.
//
// Values are logical arrays, so that layouts matter only to bitcast, which keeps physical bytes:
// where one of its layouts is not plain it becomes the transposes and the reshape that it means.
#include <algorithm>

#include "target/row_major.h"

namespace hilo {
namespace {

bool plain(const Shape& shape) { return !shape.has_layout || is_plain(shape); }

// Only the order of the dimensions differs: no tiles, nothing packed.
bool is_transposed_only(const Shape& shape) {
  return !shape.has_layout || (shape.layout.tiles.empty() && shape.layout.element_size_bits == 0);
}

// Dimensions from the most major to the most minor in memory.
Dims major_to_minor(const Shape& shape) {
  Dims out = shape.has_layout ? shape.layout.minor_to_major
                              : Layout::descending(shape.dims.size()).minor_to_major;
  std::ranges::reverse(out);
  return out;
}

Dims permuted(const Dims& dims, const Dims& order) {
  Dims out;
  for (int64_t d : order) out.push_back(dims[static_cast<size_t>(d)]);
  return out;
}

Result<void> expand_bitcast(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  const Shape to = module.shape(id), from = module.shape(module.operand(id, 0));
  if (plain(to) && plain(from)) return {};
  if (!is_transposed_only(to) || !is_transposed_only(from) || to.type != from.type)
    return std::unexpected(
        Error{ErrorKind::Unsupported,
              fmt::format("bitcast of {} to {} on device cpu", to_string(from), to_string(to)),
              module.place(id)});
  const Dims from_order = major_to_minor(from), to_order = major_to_minor(to);
  const Shape stored = Shape::array(from.type, permuted(from.dims, from_order));
  const Shape wanted = Shape::array(to.type, permuted(to.dims, to_order));
  Dims back(to_order.size());
  for (size_t i = 0; i < to_order.size(); ++i)
    back[static_cast<size_t>(to_order[i])] = static_cast<int64_t>(i);
  InstructionId value = module.operand(id, 0);
  value = editor.add(id, Op::Transpose, stored, {&value, 1}, DimensionsAttributes{from_order});
  value = editor.add(id, Op::Reshape, wanted, {&value, 1});
  Shape result = Shape::array(to.type, to.dims);
  value = editor.add(id, Op::Transpose, result, {&value, 1}, DimensionsAttributes{back});
  for (InstructionId user : editor.module().users(id)) {
    const auto operands = editor.module().operands(user);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i] == id) editor.set_operand(user, i, value);
  }
  const ComputationId computation = module[id].computation;
  if (module[computation].root == id) editor.set_root(computation, value);
  return {};
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
  Editor editor(module);
  for (size_t i = 0; i < count; ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (!module[id].removed && module[id].op == Op::Bitcast) HILO_DO(expand_bitcast(editor, id));
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
