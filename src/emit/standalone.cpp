#include "emit/standalone.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace hilo {
namespace {

constexpr uint64_t alignment = 64;
int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

struct LibmFunction {
  const void* address;
  const char* name;
  unsigned operands;
};
using Real = double (*)(double);
using Real2 = double (*)(double, double);
const void* address_of(Real function) { return reinterpret_cast<const void*>(function); }
const void* address_of(Real2 function) { return reinterpret_cast<const void*>(function); }

// What call_pure is given; tests/compile/object_file_test.py calls each of them.
std::span<const LibmFunction> libm_functions() {
#define REAL(name) {address_of(Real(&::name)), #name, 1}
#define REAL2(name) {address_of(Real2(&::name)), #name, 2}
  static const LibmFunction functions[] = {
      REAL(acos), REAL(acosh), REAL(asin), REAL(asinh),  REAL(atanh), REAL(cbrt),  REAL(cos),
      REAL(cosh), REAL(erf),   REAL(exp),  REAL(expm1),  REAL(log),   REAL(log1p), REAL(sin),
      REAL(sinh), REAL(tan),   REAL(tanh), REAL2(atan2), REAL2(pow)};
#undef REAL
#undef REAL2
  return functions;
}

// Puts the object's own constants and libm's functions in the place of addresses.
class Addressed {
 public:
  Addressed(const Module& module, llvm::Module& ir) : ir_(ir) {
    for (const Instruction& instruction : module.instructions) {
      if (instruction.removed || instruction.op != Op::Constant) continue;
      const auto& literal = module.attributes<ConstantAttributes>(instruction).literal.literal;
      if (literal && literal->shape().is_array() && !literal->raw().empty())
        constants_[reinterpret_cast<uint64_t>(literal->raw().data())] = {literal->raw(), nullptr};
    }
  }

  void replace_all() {
    for (llvm::Function& function : ir_)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        for (llvm::Use& use : instruction.operands())
          if (auto* constant = llvm::dyn_cast<llvm::ConstantExpr>(use.get()))
            use.set(replaced(constant));
  }
  Result<void> done() const {
    if (!unknown_) return {};
    return fail(ErrorKind::Unsupported, "an object file cannot call what is in this process");
  }

  // Null, and an error of done(), where nothing of the module or of libm is there.
  llvm::Constant* at(uint64_t address) {
    for (const LibmFunction& libm : libm_functions())
      if (reinterpret_cast<uint64_t>(libm.address) == address) return declared(libm);
    auto found = constants_.upper_bound(address);
    if (found == constants_.begin()) return nothing();
    --found;
    auto& [bytes, global] = found->second;
    const uint64_t offset = address - found->first;
    if (offset >= bytes.size()) return nothing();
    if (!global) global = stored(bytes);
    if (offset == 0) return global;
    llvm::Type* byte = llvm::Type::getInt8Ty(ir_.getContext());
    auto* distance = llvm::ConstantInt::get(llvm::Type::getInt64Ty(ir_.getContext()), offset);
    return llvm::ConstantExpr::getInBoundsGetElementPtr(byte, global, distance);
  }

 private:
  llvm::Constant* replaced(llvm::ConstantExpr* constant) {
    const auto* address = llvm::dyn_cast<llvm::ConstantInt>(constant->getOperand(0));
    if (constant->getOpcode() == llvm::Instruction::IntToPtr && address)
      return at(address->getZExtValue());
    std::vector<llvm::Constant*> operands;
    for (llvm::Use& use : constant->operands()) {
      auto* inner = llvm::dyn_cast<llvm::ConstantExpr>(use.get());
      operands.push_back(inner ? replaced(inner) : llvm::cast<llvm::Constant>(use.get()));
    }
    return constant->getWithOperands(operands);
  }

  llvm::Constant* stored(std::span<const std::byte> bytes) {
    llvm::Constant* data = llvm::ConstantDataArray::get(
        ir_.getContext(),
        llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    auto* out = new llvm::GlobalVariable(ir_, data->getType(), true,
                                         llvm::GlobalValue::PrivateLinkage, data, "hilo.constant");
    out->setAlignment(llvm::Align(alignment));
    return out;
  }

  llvm::Constant* declared(const LibmFunction& libm) {
    llvm::Type* real = llvm::Type::getDoubleTy(ir_.getContext());
    const std::vector<llvm::Type*> operands(libm.operands, real);
    return llvm::cast<llvm::Constant>(
        ir_.getOrInsertFunction(libm.name, llvm::FunctionType::get(real, operands, false))
            .getCallee());
  }

  llvm::Constant* nothing() {
    unknown_ = true;
    return llvm::ConstantPointerNull::get(llvm::PointerType::get(ir_.getContext(), 0));
  }

  llvm::Module& ir_;
  std::map<uint64_t, std::pair<std::span<const std::byte>, llvm::Constant*>> constants_;
  bool unknown_ = false;
};

// The C function: finds memory for each allocation, calls the program, and copies what did not
// come to lie where the caller wants it.
class Entry {
 public:
  Entry(Program& program, Addressed& addressed, const std::string& name)
      : program_(program),
        module_(program.module),
        addressed_(addressed),
        b_(program.ir.getContext()) {
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(),
                                         {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, program.ir);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "", function_));
    number_parameters();
    find_results();
  }

  void write(llvm::Function* run) {
    const auto& pieces = program_.code.memory;
    memory_ = frame_array(b_, b_.getPtrTy(), static_cast<int64_t>(pieces.size()));
    for (size_t i = 0; i < pieces.size(); ++i) b_.CreateStore(place_of(i), field(memory_, i));
    llvm::Value* old_mode = enter_float_mode();
    llvm::Value* status = b_.CreateCall(run, {context()});
    leave_float_mode(old_mode);
    for (size_t i = 0; i < results_.size(); ++i)
      if (!results_[i].is_direct) copy_result(i);
    b_.CreateRet(status);
    program_.code.workspace_bytes = workspace_;
  }

 private:
  struct ResultLeaf {
    Address address;
    int64_t bytes;
    bool is_direct;
  };

  void number_parameters() {
    uint64_t number = 0;
    const auto& parameters = module_[module_.entry].parameters;
    for (size_t i = 0; i < parameters.size(); ++i)
      for_each_leaf(module_.shape(parameters[i]),
                    [&](const Shape& leaf, std::span<const int64_t> index) {
                      if (!leaf.is_array()) return;
                      parameters_[{static_cast<int64_t>(i), Dims(index.begin(), index.end())}] = {
                          number++, literal_bytes(leaf)};
                    });
  }

  // A result that fills an allocation alone is computed where the caller wants it.
  void find_results() {
    size_t leaf = 0;
    for_each_leaf(module_.shape(module_[module_.entry].root),
                  [&](const Shape& shape, std::span<const int64_t>) {
                    const Address address = program_.code.results[leaf++];
                    if (shape.is_array())
                      results_.push_back({address, literal_bytes(shape), false});
                  });
    for (ResultLeaf& result : results_) {
      const MemoryPiece& piece = program_.code.memory[result.address.allocation];
      const auto sharing = std::ranges::count_if(results_, [&](const ResultLeaf& other) {
        return other.address.allocation == result.address.allocation;
      });
      result.is_direct = piece.source == MemorySource::Result && sharing == 1 &&
                         result.address.offset == 0 &&
                         piece.bytes <= std::max<int64_t>(result.bytes, 1);
    }
  }

  llvm::Value* field(llvm::Value* list, size_t number) {
    return b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), list, number);
  }
  llvm::Value* given(unsigned list, uint64_t number) {
    return b_.CreateLoad(b_.getPtrTy(), field(function_->getArg(list), number));
  }
  llvm::Value* in_workspace(int64_t bytes) {
    llvm::Value* out = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), function_->getArg(2),
                                                     static_cast<uint64_t>(workspace_));
    workspace_ += aligned(bytes);
    return out;
  }

  llvm::Value* place_of(size_t allocation) {
    const MemoryPiece& piece = program_.code.memory[allocation];
    if (piece.source == MemorySource::None) return llvm::ConstantPointerNull::get(b_.getPtrTy());
    if (piece.source == MemorySource::Constant)
      return addressed_.at(reinterpret_cast<uint64_t>(piece.constant));
    if (piece.source == MemorySource::Argument) {
      const auto& [number, bytes] = parameters_.at({piece.parameter, piece.parameter_index});
      llvm::Value* argument = given(0, number);
      if (!piece.is_written) return argument;
      llvm::Value* copy = in_workspace(piece.bytes);
      b_.CreateMemCpy(copy, llvm::Align(alignment), argument, llvm::Align(alignment),
                      static_cast<uint64_t>(bytes));
      return copy;
    }
    for (size_t i = 0; i < results_.size(); ++i)
      if (results_[i].is_direct && results_[i].address.allocation == allocation) return given(1, i);
    return in_workspace(piece.bytes);
  }

  void copy_result(size_t number) {
    const ResultLeaf& result = results_[number];
    llvm::Value* base = b_.CreateLoad(b_.getPtrTy(), field(memory_, result.address.allocation));
    llvm::Value* from = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base,
                                                      static_cast<uint64_t>(result.address.offset));
    b_.CreateMemMove(given(1, number), llvm::Align(1), from, llvm::Align(1),
                     static_cast<uint64_t>(result.bytes));
  }

  // A RunContext without library steps, whose pieces run one after the other.
  llvm::Value* context() {
    auto* never =
        new llvm::GlobalVariable(program_.ir, b_.getInt8Ty(), true,
                                 llvm::GlobalValue::PrivateLinkage, b_.getInt8(0), "hilo.never");
    auto* nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
    llvm::Value* out = frame_array(b_, b_.getPtrTy(), 5);
    llvm::Value* const fields[] = {memory_, never, serial(), nothing, nothing};
    for (size_t i = 0; i < std::size(fields); ++i) b_.CreateStore(fields[i], field(out, i));
    return out;
  }

  // RunContext::parallel.
  llvm::Function* serial() {
    auto* type = llvm::FunctionType::get(
        b_.getVoidTy(),
        {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
    auto* out =
        llvm::Function::Create(type, llvm::Function::InternalLinkage, "hilo.serial", program_.ir);
    out->addFnAttr(llvm::Attribute::NoUnwind);
    Builder b(b_.getContext());
    b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "", out));
    auto* tile = llvm::FunctionType::get(b.getVoidTy(),
                                         {b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty()}, false);
    b.CreateCall(tile, out->getArg(1), {out->getArg(2), b.getInt64(0), out->getArg(3)});
    b.CreateRetVoid();
    return out;
  }

  // Subnormal floats are zeros, as FlushSubnormals makes them; null where the chip has no such
  // mode.
  llvm::Value* enter_float_mode() {
    if (!program_.ir.getTargetTriple().isX86()) return nullptr;
    llvm::Value* old = frame_array(b_, b_.getInt32Ty(), 1);
    llvm::Value* mode = frame_array(b_, b_.getInt32Ty(), 1);
    b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::x86_sse_stmxcsr, {old});
    constexpr uint32_t flush_to_zero = 0x8000, denormals_are_zeros = 0x40;
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), old),
                               b_.getInt32(flush_to_zero | denormals_are_zeros)),
                   mode);
    b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::x86_sse_ldmxcsr, {mode});
    return old;
  }
  void leave_float_mode(llvm::Value* old) {
    if (old) b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::x86_sse_ldmxcsr, {old});
  }

  Program& program_;
  const Module& module_;
  Addressed& addressed_;
  Builder b_;
  llvm::Function* function_ = nullptr;
  llvm::Value* memory_ = nullptr;
  std::map<std::pair<int64_t, Dims>, std::pair<uint64_t, int64_t>> parameters_;
  std::vector<ResultLeaf> results_;
  int64_t workspace_ = 0;
};

// The first by its place, and all by their names.
Result<void> check_emitted_whole(const Module& module, const Code& code) {
  if (code.library_steps.empty()) return {};
  constexpr size_t most = 8;
  std::string names;
  for (size_t i = 0; i < std::min(most, code.library_steps.size()); ++i) {
    const LibraryStep& step = code.library_steps[i];
    names += fmt::format("{}{} '{}' ({})", i ? ", " : "", text_of(module[step.instruction].op),
                         module[step.instruction].name, step.reason);
  }
  if (code.library_steps.size() > most) names += ", ...";
  return std::unexpected(
      Error{ErrorKind::Unsupported,
            fmt::format("an object file needs code for every step, and {} would be evaluated: {}",
                        code.library_steps.size(), names),
            module.place(code.library_steps[0].instruction)});
}

}  // namespace

Result<void> make_standalone(Program& program, const std::string& name) {
  HILO_DO(check_emitted_whole(program.module, program.code));
  check(program.parts.size() == 1, "make_standalone: a program of one part");
  llvm::Function* run = program.ir.getFunction("run");
  for (llvm::Function& function : program.ir)
    if (!function.isDeclaration()) {
      function.setLinkage(llvm::Function::InternalLinkage);
      function.setVisibility(llvm::GlobalValue::DefaultVisibility);
      function.setName("hilo." + function.getName());
    }
  Addressed addressed(program.module, program.ir);
  addressed.replace_all();
  if (program.ir.getNamedValue(name))
    return fail(ErrorKind::Usage, "the function cannot be named {}, for it calls libm's {}", name,
                name);
  Entry(program, addressed, name).write(run);
  return addressed.done();
}

}  // namespace hilo
