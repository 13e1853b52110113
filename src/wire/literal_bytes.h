// The bytes of literals as files hold them: sizes, byte order, values that the type cannot hold.
#pragma once

#include "wire/wire.h"

namespace hilo {

// Product of dims times element_bytes; Limit when it cannot be represented.
Result<int64_t> dense_bytes(std::span<const int64_t> dims, int64_t element_bytes);
// A literal with undefined contents; Memory when there is not as much.
Result<Literal> allocate_array(ElementType type, Dims dims);
// From or to the other byte order; complex numbers by their halves.
void swap_byte_order(std::span<std::byte> bytes, ElementType type);
// Pred: any byte but 0 becomes 1. Types below a byte: one that the type cannot hold is an Error.
Result<void> make_valid(std::span<std::byte> bytes, ElementType type);

uint64_t little_endian(std::span<const std::byte> bytes);  // at most 8
void append_little_endian(std::string& to, uint64_t value, int bytes);

}  // namespace hilo
