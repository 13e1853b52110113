// Arrays as the bytes that their layouts put into memory. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// Bits that one element takes in memory: E(n) of the layout, else its storage.
int64_t physical_bits(const Shape& shape);

// The padded physical array, element by element in storage bytes, of a literal whose shape is
// `declared` but for the element type's width, which is that of the literal; padding is zero.
Bytes to_physical(const Call& call, const Literal& literal, const Shape& declared);
// The literal of the held shape whose physical array under `declared` is `physical`.
Literal from_physical(const Call& call, const std::byte* physical, int64_t count,
                      const Shape& declared, const Shape& held);

// Whether each element is its storage, bit for bit: any bits are an element.
bool is_whole(ElementType type, int64_t bits);
// Elements of `bits` bits each, side by side, low bits first; from and to one element a storage. An
// element of fewer bits is extended: by its sign where it has one, else by zeros. Back, its low
// bits are taken; a pred is whether any bit is set.
void pack_bits(const std::byte* elements, int64_t count, ElementType type, int64_t bits,
               std::byte* packed);
void unpack_bits(const std::byte* packed, int64_t count, ElementType type, int64_t bits,
                 std::byte* elements);

}  // namespace hilo
