// One element of a product by itself: its multiplications all in one expression, so that the loop
// over the result's innermost dimension becomes vectors along it. For batches of products so small
// that a call for each costs more than they do.
#include "emit/complex.h"
#include "emit/op_functions.h"
#include "plan/plan.h"

namespace hilo {
namespace {

using llvm::Value;

// The operand's place for the batch and for its own dimensions, which are `own` of the result and
// the next; those of the sum are left open.
std::vector<Value*> place(Builder& b, const Index& index, const Dims& dims, const Dims& batch,
                          const Dims& contracting, size_t& own) {
  std::vector<Value*> out(dims.size(), nullptr);
  for (size_t i = 0; i < batch.size(); ++i) out[static_cast<size_t>(batch[i])] = index.at(b, i);
  for (int64_t d : free_dims(dims, batch, contracting))
    out[static_cast<size_t>(d)] = index.at(b, own++);
  return out;
}

Complex add_product(Builder& b, Complex sum, Complex left, Complex right) {
  const auto times = [&](Value* x, Value* y) { return b.CreateFMul(x, y); };
  Value* real = b.CreateFAdd(sum.real, times(left.real, right.real));
  Value* imaginary = b.CreateFAdd(sum.imaginary, times(left.real, right.imaginary));
  return {b.CreateFSub(real, times(left.imaginary, right.imaginary)),
          b.CreateFAdd(imaginary, times(left.imaginary, right.real))};
}

}  // namespace

llvm::Value* element_Dot(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  check(is_of_tiny_products(e.module, id), "dot: the command has few products");
  Builder& b = e.b;
  const auto& a = e.module.attributes<DotAttributes>(id);
  const Dims lhs_dims = e.module.shape(e.module.operand(id, 0)).dims;
  const Dims rhs_dims = e.module.shape(e.module.operand(id, 1)).dims;
  size_t own = a.lhs_batch_dims.size();
  std::vector<llvm::Value*> lhs =
      place(b, index, lhs_dims, a.lhs_batch_dims, a.lhs_contracting_dims, own);
  std::vector<llvm::Value*> rhs =
      place(b, index, rhs_dims, a.rhs_batch_dims, a.rhs_contracting_dims, own);
  const ElementType result = e.module.shape(id).type;
  const bool is_wide = result == ElementType::F64 || result == ElementType::C128;
  llvm::Type* type = is_wide ? b.getDoubleTy() : b.getFloatTy();
  Dims sizes;
  for (int64_t d : a.lhs_contracting_dims) sizes.push_back(lhs_dims[static_cast<size_t>(d)]);
  Dims k(sizes.size(), 0);
  llvm::Value* zero = llvm::ConstantFP::get(type, 0);
  Complex sum{zero, zero};
  do {
    for (size_t i = 0; i < k.size(); ++i) {
      lhs[static_cast<size_t>(a.lhs_contracting_dims[i])] = int64(b, k[i]);
      rhs[static_cast<size_t>(a.rhs_contracting_dims[i])] = int64(b, k[i]);
    }
    llvm::Value* left = e.operand(id, 0, Index(b, lhs_dims, lhs));
    llvm::Value* right = e.operand(id, 1, Index(b, rhs_dims, rhs));
    if (is_complex(result)) {
      sum = add_product(b, sum, parts_of(b, left), parts_of(b, right));
    } else {
      llvm::Value* product = b.CreateFMul(b.CreateFPExt(left, type), b.CreateFPExt(right, type));
      sum.real = b.CreateFAdd(sum.real, product);
    }
  } while (next_index(k, sizes));
  return is_complex(result) ? joined(b, sum) : round_to(b, result, sum.real);
}

}  // namespace hilo
