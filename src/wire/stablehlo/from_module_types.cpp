// Shapes as types.
#include "wire/stablehlo/exporter.h"

namespace hilo::mlir {

Result<TypeId> Exporter::type_of(const Shape& shape) {
  if (shape.is_token()) return builder.intern({.kind = TypeKind::Token});
  if (shape.is_tuple()) {
    Type out{.kind = TypeKind::Tuple};
    for (const Shape& element : shape.elements) {
      HILO_TRY(out.types.emplace_back(), type_of(element));
    }
    return builder.intern(std::move(out));
  }
  if (!shape.is_array() || shape.type == ElementType::S1 || shape.type == ElementType::U1)
    return fail(ErrorKind::Unsupported, "StableHLO has no type {}", text_of(shape.type));
  if (const Release since = first_release(shape.type); since > release)
    return fail(ErrorKind::Unsupported, "{} came with StableHLO {}; {} is written",
                text_of(shape.type), to_string(since), to_string(release));
  Type out{.kind = TypeKind::Tensor, .dims = shape.dims};
  out.element_type = builder.scalar(shape.type);
  if (shape.has_dynamic_dims()) out.bounds.assign(out.dims.size(), Type::dynamic);
  for (size_t i = 0; i < out.dims.size(); ++i) {
    if (out.dims[i] == Shape::unbounded) out.dims[i] = Type::dynamic;
    if (!shape.is_dynamic(i)) continue;
    out.bounds[i] = shape.dims[i];
    out.dims[i] = Type::dynamic;
  }
  return builder.intern(std::move(out));
}

Result<std::vector<TypeId>> Exporter::leaf_types(const Shape& shape) {
  std::vector<TypeId> out;
  if (!shape.is_tuple()) {
    HILO_TRY(out.emplace_back(), type_of(shape));
    return out;
  }
  for (const Shape& element : shape.elements) {
    HILO_TRY(const auto inner, leaf_types(element));
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

}  // namespace hilo::mlir
