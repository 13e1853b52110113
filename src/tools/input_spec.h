// Values given on the command line: --input=4x8xf32=0.5, --input=f32=1, --input=2x3xs32=[1 2 3][4 5
// 6],
// --input=@x.npy, --input=4x8xf32=@x.bin; with "I=" or "I@D=" before it for parameter leaf I (on
// device D), or "NAME=" or "NAME@D=" for the leaf of that name; without, leaves are given in order.
#pragma once

#include "ir/ir.h"

namespace hilo::tools {

struct InputSpec {
  std::optional<int64_t> leaf, device;
  std::string name;   // of a leaf, without '%', where it is not given by its number
  std::string value;  // what stands after the leaf
};
InputSpec parse_input_spec(std::string_view text);
// "4x8xf32", or "f32" for a scalar.
std::optional<Shape> parse_shape_spec(std::string_view text);
// The shape that a spec states itself, or that of its .npy file; none for raw bytes.
Result<std::optional<Shape>> stated_shape(const InputSpec& spec);

// The value for a parameter leaf of this shape; an error names the parameter and what was expected.
Result<Literal> read_input(const InputSpec& spec, std::string_view parameter, const Shape& shape);

// Values for a leaf by a generator that anybody can repeat: splitmix64 from the state that is the
// first output of splitmix64(seed * 2^32 + l * 2^16 + d), for leaf l on device d; element i draws
// its i-th output. Floats: (s - 131070) * sqrt(3) / 655360 with the sum s of the output's four
// 16-bit parts, which is about 0.1 * N(0, 1) and made as fast as memory takes it; integers: 0 ... 7
// (as many as the type holds); pred: false or true; complex: two floats.
Literal random_input(const Shape& shape, uint64_t seed, int64_t leaf, int64_t device);

}  // namespace hilo::tools
