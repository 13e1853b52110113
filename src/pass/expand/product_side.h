// One side of a matrix product: which of its dimensions are batch, free and contracting. Private to
// `pass`.
#pragma once

#include <algorithm>

#include "shape/shape.h"

namespace hilo {

struct ProductSide {
  Dims batch, free, contracting;
  ProductSide(const Shape& shape, Dims batch_dims, Dims contracting_dims)
      : batch(std::move(batch_dims)), contracting(std::move(contracting_dims)) {
    for (int64_t i = 0; i < shape.rank(); ++i)
      if (std::ranges::find(batch, i) == batch.end() &&
          std::ranges::find(contracting, i) == contracting.end())
        free.push_back(i);
  }
};

// Floats whose products are summed in f32, or f64 of such results.
inline bool is_summed(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::BF16 ||
         type == ElementType::F16;
}

// Elements of these dimensions.
inline int64_t count_of(const Shape& shape, const Dims& dims) {
  int64_t out = 1;
  for (int64_t dim : dims) out *= shape.dims[static_cast<size_t>(dim)];
  return out;
}

}  // namespace hilo
