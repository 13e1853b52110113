// Shapes and values as messages.
#pragma once

#include "shape/shape.h"
#include "wire/hlo.pb.h"

namespace hilo {

// Repeated number fields of any width to and from Dims.
template <class Repeated>
Dims dims_of(const Repeated& from) {
  return Dims(from.begin(), from.end());
}
template <class Repeated>
void put_dims(const Dims& from, Repeated& to) {
  to.Clear();
  for (int64_t value : from) to.Add(value);
}

void write_shape(const Shape& shape, proto::ShapeProto& to);
Result<Shape> read_shape(const proto::ShapeProto& from);
// The values in the order of the shape's dimension order, as XLA stores them.
void write_literal(const Literal& literal, proto::LiteralProto& to);
Result<Literal> read_literal(const proto::LiteralProto& from);

}  // namespace hilo
