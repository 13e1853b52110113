#include <algorithm>
#include <bit>

#include "emit/kernel_builder.h"
#include "emit/loop_limits.h"
#include "emit/op_functions.h"
#include "emit/vector_registers.h"

namespace hilo {
namespace {

// An array whose last dimension that is turned has short runs of elements behind it, as pixels of
// images: vectors of runs, whose order is turned in the register.
class ReversedRuns {
 public:
  ReversedRuns(KernelBuilder& w, InstructionId id)
      : w_(w),
        b_(w.b),
        shape_(w.elements.module.shape(id)),
        reversed_(w.elements.module.attributes<DimensionsAttributes>(id).dimensions),
        from_(w.elements.array(w.elements.module.operand(id, 0))) {
    for (int64_t d = shape_.rank(); d-- > 0;) {
      if (is_reversed(d)) {
        count_ = size(d);
        before_ = Dims(shape_.dims.begin(), shape_.dims.begin() + d);
        break;
      }
      run_ *= size(d);
    }
    const int64_t register_bytes = vector_registers(*w.function->getParent()).lanes(1);
    // Bytes of a register of AVX2 cross its halves by several instructions.
    const int64_t most =
        bytes() < 4 && register_bytes < widest_vector ? narrow_vector : register_bytes;
    runs_ = run_ == 0 ? 0 : std::min(count_, most / (run_ * bytes()));
  }

  bool has_vectors() const {
    // Others than whole registers are stored in parts, which pays where elements are bytes.
    const bool is_whole = std::has_single_bit(static_cast<uint64_t>(runs_ * run_));
    return from_ && run_ > 1 && runs_ > 1 && bytes() <= (is_whole ? 8 : 1) &&
           element_count(shape_) > 0;
  }

  // Iterations are lines of runs. The last vector of a line may lie over the one before it.
  void write() {
    w_.set_count(element_count(before_));
    loop(b_, w_.begin, w_.end, [&](llvm::Value* line) {
      llvm::Value* from = multiply_index(b_, source_of(line), count_ * run_);
      llvm::Value* to = multiply_index(b_, line, count_ * run_);
      loop(b_, (count_ + runs_ - 1) / runs_, [&](llvm::Value* block) {
        llvm::Value* first =
            lesser_index(b_, multiply_index(b_, block, runs_), int64(b_, count_ - runs_));
        llvm::Value* last = b_.CreateNSWSub(int64(b_, count_ - runs_), first);
        write_runs(add_index(b_, to, multiply_index(b_, first, run_)),
                   add_index(b_, from, multiply_index(b_, last, run_)));
      });
    });
  }

 private:
  int64_t size(int64_t d) const { return shape_.dims[static_cast<size_t>(d)]; }
  bool is_reversed(int64_t d) const { return size(d) != 1 && std::ranges::count(reversed_, d) > 0; }
  int64_t bytes() const { return storage_bytes(shape_.type); }

  // The line of the operand that is a line of the result.
  llvm::Value* source_of(llvm::Value* line) {
    const Index lines = Index::linear(b_, before_, line);
    std::vector<llvm::Value*> at;
    bool is_same = true;
    for (size_t d = 0; d < before_.size(); ++d) {
      const bool is_reversed_dim = is_reversed(static_cast<int64_t>(d));
      is_same = is_same && !is_reversed_dim;
      if (is_reversed_dim)
        at.push_back(b_.CreateNSWSub(int64(b_, before_[d] - 1), lines.at(b_, d)));
      else at.push_back(lines.at(b_, d));
    }
    return is_same ? line : Index(b_, before_, std::move(at)).position(b_);
  }

  void write_runs(llvm::Value* to, llvm::Value* from) {
    llvm::Type* element = b_.getIntNTy(static_cast<unsigned>(8 * bytes()));
    auto* vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(runs_ * run_));
    std::vector<int> order;
    for (int64_t run = runs_; run-- > 0;)
      for (int64_t i = 0; i < run_; ++i) order.push_back(static_cast<int>(run * run_ + i));
    const llvm::Align align(static_cast<uint64_t>(bytes()));
    llvm::Value* read =
        b_.CreateAlignedLoad(vector, b_.CreateInBoundsGEP(element, from_, from), align);
    b_.CreateAlignedStore(b_.CreateShuffleVector(read, order),
                          b_.CreateInBoundsGEP(element, w_.results[0], to), align);
  }

  KernelBuilder& w_;
  Builder& b_;
  const Shape& shape_;
  const Dims& reversed_;
  llvm::Value* from_;
  Dims before_;                  // the last dimension that is turned
  int64_t count_ = 1, run_ = 1;  // runs of a line, and elements of one
  int64_t runs_ = 0;             // of a vector
};

}  // namespace

llvm::Value* element_Reverse(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  const Dims& dims = e.module.shape(id).dims;
  const Dims& reversed = e.module.attributes<DimensionsAttributes>(id).dimensions;
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < dims.size(); ++d) {
    llvm::Value* from = index.at(e.b, d);
    const bool is_reversed_dim = std::ranges::count(reversed, static_cast<int64_t>(d)) > 0;
    at.push_back(is_reversed_dim ? e.b.CreateNSWSub(int64(e.b, dims[d] - 1), from) : from);
  }
  return e.operand(id, 0, Index(e.b, dims, std::move(at)));
}

void write_Reverse(KernelBuilder& w, InstructionId id) {
  ReversedRuns runs(w, id);
  if (runs.has_vectors()) runs.write();
  else write_elements(w, id);
}

}  // namespace hilo
