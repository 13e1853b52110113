// What shapes and the chip decide of a kernel: how a product, a convolution and a reduce-window are
// laid out as loops, or why they are not. The commands ask it, and `emit` writes what it says. Part
// of the front door of `plan`.
#pragma once

#include <expected>
#include <functional>

#include "ir/ir.h"
#include "machine/machine.h"

namespace hilo {

// Why a step is no kernel.
enum class NoKernel : uint8_t {
#define REASON(name, text) name,
#include "plan/no_kernel.def"
#undef REASON
};
std::string_view text_of(NoKernel reason);

// The vector registers that the sums of a product's block are kept in: a block of more sums than
// there are registers is through memory at each step.
struct VectorRegisters {
  int64_t count = 16, bytes = 16;  // of SSE

  bool are_many() const { return count > 16; }
  // Elements of so many bytes in one of them.
  int64_t lanes(int64_t element_bytes) const { return bytes / element_bytes; }
  // Whether one is read with a mask as fast as without.
  bool have_masks(int64_t element_bytes) const {
    return bytes >= 64 || (bytes == 32 && element_bytes >= 4);
  }
};
inline constexpr VectorRegisters registers_of_avx512 = {32, 64}, registers_of_avx2 = {16, 32},
                                 registers_of_neon = {32, 16};
VectorRegisters registers_of_host();  // of the processor that runs this
// For what kernels are made.
struct KernelChip {
  VectorRegisters registers;
  bool has_routines = true;  // false: an object file by itself, which has no library beside it
  const Machine* machine = &find_cpu("native");  // whose record says what its loops take
};

// Constants of one element stand in the code of who reads them.
bool stands_in_code(const Module& module, InstructionId operand);
// Leaf number of the first leaf of element `element` of a tuple.
size_t first_leaf(const Shape& tuple, size_t element);
// Whether a kernel has an array that holds the elements of a value in their order.
using HasArray = std::function<bool(InstructionId)>;

// Dimensions of an array that are walked as one: `count` steps of `stride` elements.
struct DimWalk {
  int64_t count = 1, stride = 0;
};
// One operand of a product: its walks over batches, over what it alone has, and over what is
// summed, of an array or of what no array holds.
struct DotSide {
  ElementType type;
  bool has_array = false;
  DimWalk batch, own, depth;
};
// The dimensions of an operand that it has alone, ascending.
Dims free_dims(const Dims& dims, const Dims& batch, const Dims& contracting);
// Whether elements stand as rows of terms, one after the other.
bool is_in_rows(const Shape& shape, const DotSide& side);
// Whether lanes of the result hold the sums: of floats that they hold exactly, and of integers,
// whose sums wrap.
bool are_summed_in_lanes(ElementType operand, ElementType result);
// Floats of all widths.
inline bool has_lanes(ElementType type) { return is_floating(type); }

// A column times lines that stand side by side is a row times columns: whether the sides are so.
bool swaps_sides(const DotSide& lhs, const DotSide& rhs);
// How blocks of a product's sums lie.
struct ProductForm {
  ElementType sum;                 // what the sums are held as
  bool transposes = false;         // few columns, which are transposed to lie along the terms
  bool transposes_strips = false;  // strips of columns that lie along the terms become lanes
  bool in_columns = false;         // lanes are columns; else they are terms
  int64_t rows = 1, columns = 1;   // of a block
  int64_t lanes = 1;               // of a sum: columns, or terms
  // Lines of the right operand that are added at a time to all columns of a block, whose sums are
  // in the frame; 0: all, with sums in registers.
  int64_t lines_at_once = 0;
};
// The form that takes the least time on the chip.
ProductForm product_form(const DotSide& lhs, const DotSide& rhs, ElementType result,
                         const KernelChip& chip);

// How a dot is written.
struct DotKernel {
  enum class Way : uint8_t {
    Blocks,           // of registers, over two arrays
    FusedProducer,    // the left operand is computed row by row
    ProducerBatches,  // an operand is computed batch by batch
    Elements          // each element is one expression: is_of_tiny_products()
  };
  Way way = Way::Blocks;
  DotSide lhs, rhs;           // of Elements: not filled in
  bool takes_slices = false;  // an operand is a slice of an array, which no library takes
};
std::expected<DotKernel, NoKernel> dot_kernel(const Module& module, InstructionId dot,
                                              const HasArray& has_array, const KernelChip& chip);
// Whether the dot is a batch of products of so few multiplications that they may stand side by side
// in the code of an element.
bool is_of_tiny_products(const Module& module, InstructionId dot);

// A product of contiguous slices of arrays in memory: a fusion whose root is a dot and whose
// operands are the fusion's own, or contiguous slices of these. A library is given the slices.
//
// What a dynamic slice adds to the number of a slice's first element: a scalar operand of the
// fusion, taken into [0, most], times `stride`.
struct DynamicStart {
  size_t operand;
  int64_t most, stride;
};
struct OperandSlice {
  size_t operand;             // of the fusion
  int64_t first_element = 0;  // less what the starts add
  std::vector<DynamicStart> starts;
};
struct DotOfSlices {
  InstructionId product;
  std::vector<OperandSlice> operands;  // of the product
};

// Nothing where the step is another one.
std::optional<DotOfSlices> dot_of_slices(const Module& module, InstructionId step);

// How a convolution is written: by elements, or in blocks of places and features.
struct ConvolutionKernel {
  bool by_elements = false;
  bool by_inputs = false;  // lanes are input features, which are summed; else output features
};
std::expected<ConvolutionKernel, NoKernel> convolution_kernel(const Module& module,
                                                              InstructionId convolution,
                                                              const HasArray& has_array,
                                                              const KernelChip& chip);
// Whether an element of the convolution is so few products that they may stand side by side in the
// code, of an input that is not dilated.
bool has_few_products(const Module& module, InstructionId convolution);

// A reduce-window in the dimensions that its loops have.
struct Windows {
  InstructionId id;
  std::vector<WindowDim> dims;
  Dims in, out;  // of the array, of the results
};
// Dimensions side by side that have no windows are one where the array stands in memory.
Windows windows_of(const Module& module, InstructionId id, const HasArray& has_array);
// The dimension whose windows hold everything up to a place, or everything from it on.
struct RunningWindow {
  size_t dim = 0;
  bool from_end = false;
  int64_t size = 0;        // of the array
  bool has_empty = false;  // the first result is of no element; from the end, the last one
};
// The one dimension that has windows, if its results are running ones.
std::optional<RunningWindow> find_running(const Windows& windows);
// Whether elements of one array may be combined in any order that shapes decide.
bool combines_numbers(const Module& module, ComputationId computation);

}  // namespace hilo
