#include "eval/dynamic_sizes.h"

#include <algorithm>

#include "eval/strided_copy.h"

namespace hilo {
namespace {

// The corner of `from` into that of `to`.
void copy_corner(const Call& call, const Literal& from, Literal& to, const Dims& sizes) {
  copy_strided(
      call, storage_bytes(from.type()), from.raw().data(), to.mutable_raw().data(),
      {sizes, row_major_strides(from.shape().dims), row_major_strides(to.shape().dims), 0, 0});
}

Literal cut(const Call& call, const Literal& array) {
  if (!array.shape().is_array() || !is_cut(array)) return array;
  Literal out = call.make_held(Shape::array(array.type(), sizes_of(array)));
  copy_corner(call, array, out, out.shape().dims);
  return out;
}

Literal grown(const Call& call, const Literal& array, const Shape& bound) {
  Literal out = call.make_held(bound);
  std::ranges::fill(out.mutable_raw(), std::byte{0});
  copy_corner(call, array, out, array.shape().dims);
  set_dynamic_sizes(out, array.shape().dims);
  return out;
}

Shape cut_shape(const Shape& shape, const Dims& sizes) { return Shape::array(shape.type, sizes); }

}  // namespace

Dims sizes_of(const Literal& array) {
  return array.dynamic_sizes().empty() ? array.shape().dims : array.dynamic_sizes();
}

bool is_cut(const Literal& array) { return sizes_of(array) != array.shape().dims; }

bool has_cut_operand(const Call& call) { return std::ranges::any_of(call.operands, is_cut); }

void set_dynamic_sizes(Literal& array, std::span<const int64_t> sizes) {
  for (size_t d = 0; d < sizes.size(); ++d) array.set_size(d, sizes[d]);
}

Literal masked(const Call& call, const Literal& array, const Literal& fill) {
  if (!is_cut(array)) return array;
  Literal out = call.make_held(array.shape());
  const Dims& dims = out.shape().dims;
  copy_strided(call, storage_bytes(out.type()), fill.raw().data(), out.mutable_raw().data(),
               {dims, Dims(dims.size(), 0), row_major_strides(dims), 0, 0});
  copy_corner(call, array, out, sizes_of(array));
  return out;
}

Result<Literal> evaluate_cut(Call& call, OpFunction op, std::span<const Dims> sizes) {
  std::vector<Literal> operands;
  for (const Literal& operand : call.operands) operands.push_back(cut(call, operand));
  const SharedShape bound = call.result_shape();
  Shape stated = *bound;
  if (!stated.is_tuple()) stated = cut_shape(stated, sizes[0]);
  for (size_t i = 0; i < stated.elements.size(); ++i)
    stated.elements[i] = cut_shape(stated.elements[i], sizes[i]);
  Call inner{call.device,      call.module, call.id,
             call.instruction, operands,    std::make_shared<const Shape>(std::move(stated)),
             call.depth};
  HILO_TRY(const Literal out, op(inner));
  if (!bound->is_tuple()) return grown(call, out, *bound);
  std::vector<Literal> parts;
  for (size_t i = 0; i < bound->elements.size(); ++i)
    parts.push_back(grown(call, out.elements()[i], bound->elements[i]));
  return Literal::tuple(std::move(parts), bound);
}

int64_t count_window_positions(const WindowDim& window, int64_t size) {
  const int64_t dilated = size > 0 ? (size - 1) * window.base_dilation + 1 : 0;
  const int64_t extent = (window.size - 1) * window.window_dilation + 1;
  const int64_t room = dilated + window.padding_low + window.padding_high - extent;
  return room < 0 || window.size == 0 ? 0 : room / window.stride + 1;
}

}  // namespace hilo
