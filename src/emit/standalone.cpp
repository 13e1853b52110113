#include "emit/standalone.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <map>

#include "emit/loop_limits.h"
#include "emit/ready_kernels.h"
#include "emit/symbols.h"

namespace hilo {
namespace {

constexpr const char* run_time = "hilo_run_object_2";  // compile/object_run_time.cpp
constexpr int64_t message_bytes = 512;                 // of the workspace, which it may write
int64_t aligned(int64_t bytes) { return (bytes + cache_line - 1) / cache_line * cache_line; }

// The constants of the module, elements of tuples too, as arrays of the object.
class Constants {
 public:
  Constants(const Module& module, llvm::Module& ir) : module_(module), ir_(ir) {
    for (const Instruction& instruction : module.instructions) {
      if (instruction.removed || instruction.op != Op::Constant) continue;
      const auto& literal = module.attributes<ConstantAttributes>(instruction).literal.literal;
      if (literal)
        for_each_leaf(*literal, [&](const Literal& leaf) {
          if (leaf.shape().is_array()) at_.emplace(leaf.raw().data(), leaf.raw());
        });
    }
  }

  // Where the bytes of a literal of the module are.
  llvm::Constant* at(const std::byte* data) {
    llvm::GlobalVariable*& out = stored_[data];
    if (!out) out = stored(at_.at(data));
    return out;
  }
  // Gives those that the code names their bytes.
  void store_all() {
    std::vector<llvm::GlobalVariable*> named;
    for (llvm::GlobalVariable& global : ir_.globals())
      if (global.isDeclaration()) named.push_back(&global);
    for (llvm::GlobalVariable* global : named) {
      const auto constant = constant_called(global->getName());
      check(constant.has_value(), "make_standalone: code names only constants");
      const auto& literal = module_.attributes<ConstantAttributes>(*constant).literal.literal;
      global->replaceAllUsesWith(at(literal->raw().data()));
      global->eraseFromParent();
    }
  }

 private:
  llvm::GlobalVariable* stored(std::span<const std::byte> bytes) {
    llvm::Constant* data = llvm::ConstantDataArray::get(
        ir_.getContext(),
        llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    auto* out = new llvm::GlobalVariable(ir_, data->getType(), true,
                                         llvm::GlobalValue::PrivateLinkage, data, "hilo.constant");
    out->setAlignment(llvm::Align(cache_line));
    return out;
  }

  const Module& module_;
  llvm::Module& ir_;
  std::map<const std::byte*, std::span<const std::byte>> at_;
  std::map<const std::byte*, llvm::GlobalVariable*> stored_;
};

// The C function: finds memory for each allocation, calls the program, and copies what did not
// come to lie where the caller wants it.
class Entry {
 public:
  Entry(Program& program, Constants& constants, const std::string& name)
      : program_(program),
        module_(program.module),
        constants_(constants),
        b_(program.ir.getContext()) {
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(),
                                         {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, program.ir);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "", function_));
    number_parameters();
    find_results();
  }

  // steps: what the run time is given to read; empty: it is not needed.
  void write(llvm::Function* run, const std::string& steps) {
    if (!steps.empty()) workspace_ = message_bytes;
    const auto& pieces = program_.code.memory;
    memory_ = frame_array(b_, b_.getPtrTy(), static_cast<int64_t>(pieces.size()));
    for (size_t i = 0; i < pieces.size(); ++i)
      b_.CreateStore(address_of_allocation(i), field(memory_, i));
    llvm::Value* old_mode = enter_float_mode();
    llvm::Value* status =
        steps.empty() ? b_.CreateCall(run, {context()}) : call_run_time(run, steps);
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

  llvm::Value* address_of_allocation(size_t allocation) {
    const MemoryPiece& piece = program_.code.memory[allocation];
    if (piece.source == MemorySource::None) return llvm::ConstantPointerNull::get(b_.getPtrTy());
    if (piece.source == MemorySource::Constant) return constants_.at(piece.constant);
    if (piece.source == MemorySource::Argument) {
      const auto& [number, bytes] = parameters_.at({piece.parameter, piece.parameter_index});
      llvm::Value* argument = given(0, number);
      if (!piece.is_written) return argument;
      llvm::Value* copy = in_workspace(piece.bytes);
      b_.CreateMemCpy(copy, llvm::Align(cache_line), argument, llvm::Align(cache_line),
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
    llvm::Value* const fields[] = {memory_, never, serial(), nothing, nothing, nothing};
    llvm::Value* out = frame_array(b_, b_.getPtrTy(), std::ssize(fields));
    for (size_t i = 0; i < std::size(fields); ++i) b_.CreateStore(fields[i], field(out, i));
    return out;
  }

  llvm::Value* call_run_time(llvm::Function* run, const std::string& steps) {
    auto* text = new llvm::GlobalVariable(
        program_.ir, llvm::ArrayType::get(b_.getInt8Ty(), steps.size()), true,
        llvm::GlobalValue::PrivateLinkage,
        llvm::ConstantDataArray::getString(b_.getContext(), steps, false), "hilo.steps");
    auto* nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
    auto* state =
        new llvm::GlobalVariable(program_.ir, b_.getPtrTy(), false,
                                 llvm::GlobalValue::InternalLinkage, nothing, "hilo.state");
    auto* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(
        b_.getInt32Ty(),
        {pointer, b_.getInt64Ty(), pointer, pointer, pointer, b_.getInt64Ty(), pointer}, false);
    return b_.CreateCall(program_.ir.getOrInsertFunction(run_time, type),
                         {text, b_.getInt64(steps.size()), state, run, memory_,
                          b_.getInt64(program_.code.memory.size()), function_->getArg(2)});
  }

  // RunContext::parallel.
  llvm::Function* serial() {
    auto* out = llvm::Function::Create(parallel_type(b_), llvm::Function::InternalLinkage,
                                       "hilo.serial", program_.ir);
    out->addFnAttr(llvm::Attribute::NoUnwind);
    Builder b(b_.getContext());
    b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "", out));
    auto* tile = llvm::FunctionType::get(b.getVoidTy(),
                                         {b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty()}, false);
    b.CreateCall(tile, out->getArg(1), {out->getArg(2), b.getInt64(0), out->getArg(3)});
    b.CreateRetVoid();
    return out;
  }

  // Subnormal floats are zeros, as FlushSubnormals makes them. Gives what leave_float_mode takes
  // back; null where the chip has no such mode.
  llvm::Value* enter_float_mode() {
    if (program_.ir.getTargetTriple().isAArch64()) return flush_in_fpcr();
    return program_.ir.getTargetTriple().isX86() ? flush_in_mxcsr() : nullptr;
  }
  llvm::Value* flush_in_mxcsr() {
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
  llvm::Value* flush_in_fpcr() {
    constexpr uint64_t flush_to_zero = 1 << 24;
    llvm::Value* old = b_.CreateIntrinsic(b_.getInt64Ty(), llvm::Intrinsic::aarch64_get_fpcr, {});
    b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::aarch64_set_fpcr,
                       {b_.CreateOr(old, b_.getInt64(flush_to_zero))});
    return old;
  }
  void leave_float_mode(llvm::Value* old) {
    if (!old) return;
    const llvm::Intrinsic::ID leave = program_.ir.getTargetTriple().isX86()
                                          ? llvm::Intrinsic::ID(llvm::Intrinsic::x86_sse_ldmxcsr)
                                          : llvm::Intrinsic::ID(llvm::Intrinsic::aarch64_set_fpcr);
    b_.CreateIntrinsic(b_.getVoidTy(), leave, {old});
  }

  Program& program_;
  const Module& module_;
  Constants& constants_;
  Builder b_;
  llvm::Function* function_ = nullptr;
  llvm::Value* memory_ = nullptr;
  std::map<std::pair<int64_t, Dims>, std::pair<uint64_t, int64_t>> parameters_;
  std::vector<ResultLeaf> results_;
  int64_t workspace_ = 0;
};

}  // namespace

Result<void> make_standalone(Program& program, const EmitOptions& options) {
  const std::string& name = options.object_name;
  std::string steps;
  if (options.text_of_steps) {
    HILO_TRY(steps, options.text_of_steps(program.code.library_steps));
  }
  check(options.text_of_steps || program.code.library_steps.empty(),
        "make_standalone: the commands have shown that every step has code");
  check(program.parts.size() == 1, "make_standalone: a program of one part");
  llvm::Function* run = program.ir.getFunction("run");
  for (llvm::Function& function : program.ir)
    if (!function.isDeclaration()) {
      function.setLinkage(llvm::Function::InternalLinkage);
      function.setVisibility(llvm::GlobalValue::DefaultVisibility);
      function.setName("hilo." + function.getName());
    }
  Constants constants(program.module, program.ir);
  constants.store_all();
  if (program.ir.getNamedValue(name))
    return fail(ErrorKind::Usage, "the function cannot be named {}, for it calls libm's {}", name,
                name);
  if (name == run_time)
    return fail(ErrorKind::Usage, "{} is the name of a function of Hilo's", name);
  Entry(program, constants, name).write(run, steps);
  return {};
}

}  // namespace hilo
