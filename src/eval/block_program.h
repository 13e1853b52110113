// Elementwise instructions run over blocks of a few thousand elements, so that values between them
// never stand whole in memory. Private to `eval`.
#pragma once

#include "eval/kernel.h"
#include "eval/view.h"

namespace hilo {

class BlockProgram {
 public:
  static constexpr int64_t block = 4096;  // elements

  // Building. Each returns a register.
  int add_source(ElementType stored);           // element i of the source
  int add_uniform(ElementType stored);          // element 0 for all i
  int add_view(ElementType stored, View view);  // element i of the view
  int add_constant(const Literal& scalar);      // kept in the program
  // (i / inner) % size: the index along a dimension of a row-major array.
  int add_iota(ElementType type, int64_t inner, int64_t size);
  int add_convert(int from, ElementType to);
  int add(const ElementwiseKernel& kernel, std::span<const int> operands);
  void add_output(int value);
  void finish();  // no more is added

  int source_count() const { return arguments_; }  // that the caller gives
  ElementType type_of(int value) const { return registers_[value].type; }

  // Elements [begin, begin + n) of each output, at outputs[r][0...]. sources[s] points to element 0
  // of source s, also for views; uniform sources to their one element.
  void run(std::span<const void* const> sources, std::span<void* const> outputs, int64_t begin,
           int64_t n) const;

 private:
  enum class SourceKind : uint8_t { Stream, Uniform, Strided, Constant, Iota };
  struct Register {
    ElementType type;
    int step = -1;        // that makes it; -1: a source
    int last_use = -1;    // step
    int64_t scratch = 0;  // offset for each element of a block's capacity, in bytes
  };
  struct Source {
    SourceKind kind;
    int value;
    View view;
    Literal constant;
    int64_t inner = 1, size = 1;  // of an iota
    int64_t stored_scratch = 0;   // where elements of a view stand before they are widened
    int argument = -1;            // index among those that the caller gives
    Kernel widen = nullptr;       // from storage to representation
    int64_t bytes = 0;            // of a stored element
  };
  struct BlockStep {
    Kernel kernel;  // null: a copy
    Kernel finish;
    int in[3];
    int inputs, out;
    int64_t first, second;
  };
  struct Output {
    int value;
    bool direct = false;      // its step writes where it is wanted
    Kernel narrow = nullptr;  // from representation to storage
    int64_t bytes = 0;        // of a stored element
  };
  struct Block;
  int add_register(ElementType type);
  int add_source(Source source, ElementType type);
  int64_t claim(int64_t bytes, std::vector<std::pair<int64_t, int64_t>>& free);
  void find_last_uses();
  void assign_registers();
  void choose_direct_outputs();
  void choose_kernels();
  const void* load(const Source& source, const Block& block) const;
  const void* load_repeated(const Source& source, const Block& block) const;
  void store(const Output& output, const void* value, std::byte* to, int64_t n) const;
  void run_steps(const Block& block, const void** at) const;

  std::vector<Register> registers_;
  std::vector<Source> sources_;
  std::vector<BlockStep> steps_;
  std::vector<Output> outputs_;
  int arguments_ = 0;
  int64_t scratch_bytes_ = 0;  // for each element of capacity
};

}  // namespace hilo
