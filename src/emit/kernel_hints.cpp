#include "emit/kernel_hints.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Metadata.h>

namespace hilo {
namespace {

constexpr const char* kind = "hilo.hints";

// The one order of the fields, for both directions; large arrays follow.
template <class Hints, class Visit>
void visit_fields(Hints& hints, Visit visit) {
  visit(hints.loops_over);
  visit(hints.has_accumulators);
  visit(hints.has_whole_runs);
  visit(hints.is_beyond_caches);
  visit(hints.has_quick_gathers);
}

uint64_t number_at(const llvm::MDNode& node, unsigned i) {
  return llvm::mdconst::extract<llvm::ConstantInt>(node.getOperand(i))->getZExtValue();
}

}  // namespace

KernelHints hints_of(const llvm::Function& function) {
  KernelHints out;
  const llvm::MDNode* node = function.getMetadata(kind);
  if (!node) return out;
  unsigned next = 0;
  visit_fields(out, [&]<class Field>(Field& field) {
    field = static_cast<Field>(number_at(*node, next++));
  });
  while (next < node->getNumOperands())
    out.large_arrays.push_back(static_cast<unsigned>(number_at(*node, next++)));
  return out;
}

void change_hints(llvm::Function& function, llvm::function_ref<void(KernelHints&)> change) {
  KernelHints hints = hints_of(function);
  change(hints);
  llvm::LLVMContext& context = function.getContext();
  llvm::SmallVector<llvm::Metadata*, 8> numbers;
  const auto add = [&](auto field) {
    auto* number =
        llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), static_cast<uint64_t>(field));
    numbers.push_back(llvm::ConstantAsMetadata::get(number));
  };
  visit_fields(hints, add);
  for (unsigned array : hints.large_arrays) add(array);
  function.setMetadata(kind, llvm::MDNode::get(context, numbers));
}

}  // namespace hilo
