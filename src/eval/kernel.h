// Loops over typed arrays: one for each op and representation. Private to `eval`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// How elements are held while they are computed with. Floats narrower than 32 bits are f32 values
// that are rounded after each op; integers narrower than 8 bits and pred are bytes.
enum class Representation : uint8_t { U8, S8, U16, S16, U32, S32, U64, S64, F32, F64, C64, C128 };
inline constexpr int representation_count = 12;
Representation representation_of(ElementType type);
int64_t bytes_of(Representation representation);

struct KernelArguments {
  const void* in[3] = {};
  void* out = nullptr;  // may be an input
  int64_t n = 0;
  int64_t first = 0, second = 0;  // op's own: width of the type, kept bits
  template <class T>
  const T* input(int i) const {
    return static_cast<const T*>(in[i]);
  }
  template <class T>
  T* output() const {
    return static_cast<T*>(out);
  }
};
using Kernel = void (*)(const KernelArguments&);

struct KernelEntry {
  Op op;
  Kernel kernels[representation_count];  // null where the op does not take it
};

// Rows of ops whose operands and result have one representation (is-finite, compare, real, imag
// and abs of complex: another result).
std::span<const KernelEntry> float_kernels();
std::span<const KernelEntry> integer_kernels();
std::span<const KernelEntry> complex_kernels();
Kernel compare_kernel(ComparisonDirection direction, bool total_order, Representation operands);
Kernel convert_kernel(ElementType from, ElementType to);
Kernel select_kernel(Representation values);
Kernel stochastic_convert_kernel(ElementType from, ElementType to);

// Rounds or wraps representations in place to what the type can hold; null: all fit.
Kernel finish_kernel(ElementType type);
// From storage to representation and back; null: they are the same bytes.
Kernel load_kernel(ElementType type);
Kernel store_kernel(ElementType type);

// A kernel with all that an instruction adds to it.
struct ElementwiseKernel {
  Kernel kernel = nullptr;
  Kernel finish = nullptr;
  int64_t first = 0, second = 0;
  ElementType operands[3];  // to which operands are converted before
  ElementType result;
  std::optional<ElementType> rounded = {};  // to which the result is converted after
};
// Of widths that are mixed, as widened_shapes says.
Result<ElementwiseKernel> elementwise_kernel(const Module& module, const Instruction& instruction,
                                             bool ideal);
// Of an op whose operands and result are of one type; `kernel` is null where the op does not take
// it.
ElementwiseKernel elementwise_kernel(Op op, ElementType type);

}  // namespace hilo
