// Elements of dense attributes as MLIR stores them, in bytecode's blobs and in text's hexadecimal.
#pragma once

#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

// Puts the elements of a tensor of this type into `out`: little-endian, row-major, booleans eight
// to a byte or one to a byte, other types below a byte one to a byte; one element stands for all.
// The fault, or "".
std::string set_elements(const Builder& builder, TypeId tensor, std::string_view raw,
                         Attribute& out);
// The value of a float's bits.
double float_of_bits(ElementType type, uint64_t bits);

// A number as a float type can hold it.
double rounded_to(ElementType type, double value);

}  // namespace hilo::mlir
