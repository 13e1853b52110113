#include "emit/kernel_builder.h"

#include <algorithm>
#include <numeric>

#include "emit/cache_sizes.h"
#include "emit/standalone.h"
#include "emit/vector_registers.h"

namespace hilo {
namespace {

llvm::Function* make_function(llvm::Module& ir, const std::string& name, size_t arrays) {
  llvm::LLVMContext& context = ir.getContext();
  std::vector<llvm::Type*> types(arrays, llvm::PointerType::get(context, 0));
  types.resize(arrays + 2, llvm::Type::getInt64Ty(context));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* out = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, ir);
  for (size_t i = 0; i < arrays; ++i) {
    out->addParamAttr(static_cast<unsigned>(i), llvm::Attribute::NoAlias);
    out->addParamAttr(static_cast<unsigned>(i), llvm::Attribute::NoUndef);
  }
  out->addFnAttr(llvm::Attribute::NoUnwind);
  return out;
}

llvm::BasicBlock* first_block(llvm::Function* function) {
  return llvm::BasicBlock::Create(function->getContext(), "", function);
}

}  // namespace

KernelBuilder::KernelBuilder(const Module& module, llvm::Module& ir, const std::string& name,
                             size_t arrays)
    : b(ir.getContext()),
      elements(module, b),
      function(make_function(ir, name, arrays)),
      begin(function->getArg(static_cast<unsigned>(arrays))),
      end(function->getArg(static_cast<unsigned>(arrays) + 1)) {
  b.SetInsertPoint(first_block(function));
}

void KernelBuilder::set_count(int64_t count) {
  count_ = count;
  if (writes_all) end = int64(b, count);
}

KernelChip KernelBuilder::chip() const {
  const llvm::Module& ir = *function->getParent();
  return {vector_registers(ir), !ir.getModuleFlag(stands_alone), &find_cpu(cpu_of(ir))};
}

void KernelBuilder::set_loop_kind(LoopsOver what) {
  change_hints(*function, [&](KernelHints& hints) { hints.loops_over = what; });
}

ResultBlock write_lanes(KernelBuilder& w, const Dims& dims,
                        llvm::function_ref<void(const Index& place)> body) {
  const int64_t count = element_count(dims), lanes = dims.empty() ? 1 : dims.back();
  const Dims outer(dims.begin(), dims.end() - (dims.empty() ? 0 : 1));
  if (outer.empty() || lanes < KernelLimits::min_lanes) {
    const int64_t each =
        outer.empty() ? std::max<int64_t>(1, std::gcd(count, KernelLimits::whole_lanes)) : 1;
    w.set_count(count / each);
    loop(w.b, multiply_index(w.b, w.begin, each), multiply_index(w.b, w.end, each),
         [&](llvm::Value* number) { body(Index::linear(w.b, dims, number)); });
    return {1, each};
  }
  const int64_t lines = count / lanes,
                each =
                    lines < KernelLimits::min_lines ? std::min(lanes, KernelLimits::tile) : lanes,
                pieces = (lanes + each - 1) / each;
  w.set_count(lines * pieces);
  loop(w.b, w.begin, w.end, [&](llvm::Value* number) {
    Dims split = outer;
    split.push_back(pieces);
    const Index line = Index::linear(w.b, split, number);
    std::vector<llvm::Value*> at;
    for (size_t d = 0; d < outer.size(); ++d) at.push_back(line.at(w.b, d));
    at.push_back(nullptr);
    const auto write = [&](llvm::Value* lane) {
      at.back() = lane;
      body(Index(w.b, dims, at));
    };
    if (pieces == 1) return loop(w.b, lanes, write);
    llvm::Value* first = multiply_index(w.b, line.at(w.b, outer.size()), each);
    llvm::Value* last = add_index(w.b, first, int64(w.b, each));
    if (lanes % each != 0)
      last = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, int64(w.b, lanes));
    loop(w.b, first, last, write);
  });
  return {pieces, lanes};
}

}  // namespace hilo
