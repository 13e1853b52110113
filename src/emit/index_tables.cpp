#include "emit/index_tables.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <map>
#include <optional>

#include "emit/loop_counter.h"
#include "emit/loops.h"
#include "emit/table_reads.h"

namespace hilo {
namespace {

using llvm::Instruction;
using llvm::Value;
using Table = std::vector<int64_t>;

constexpr int64_t max_shift = 32;
constexpr size_t max_frame_arrays = 16;  // arrays of the frame

// same + table[counter]; null: 0. A pointer, and bytes from it on.
struct Sum {
  Value* same = nullptr;
  Table table;
};

// Integers of a type are held sign-extended, of one bit as 0 and 1.
int64_t held(int64_t value, unsigned bits) {
  if (bits == 1) return value & 1;
  const unsigned beyond = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << beyond) >> beyond;
}
uint64_t without_sign(int64_t value, unsigned bits) {
  return bits == 64 ? static_cast<uint64_t>(value)
                    : static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
}

// LLVM's own folding would make a constant for each of thousands of places. None where the result
// is undefined or the operation another one.
std::optional<int64_t> result_of(const Instruction& step, int64_t a, int64_t c, unsigned bits) {
  const uint64_t x = without_sign(a, bits), y = without_sign(c, bits);
  const bool is_shift = step.isShift(), divides = step.isIntDivRem();
  if ((is_shift && y >= bits) || (divides && y == 0)) return std::nullopt;
  if (divides && a < 0) return std::nullopt;  // places are not
  switch (step.getOpcode()) {
    case Instruction::Add: return static_cast<int64_t>(x + y);
    case Instruction::Sub: return static_cast<int64_t>(x - y);
    case Instruction::Mul: return static_cast<int64_t>(x * y);
    case Instruction::UDiv:
    case Instruction::SDiv: return c > 0 ? std::optional(a / c) : std::nullopt;
    case Instruction::URem:
    case Instruction::SRem: return c > 0 ? std::optional(a % c) : std::nullopt;
    case Instruction::Shl: return static_cast<int64_t>(x << y);
    case Instruction::LShr: return static_cast<int64_t>(x >> y);
    case Instruction::AShr: return a >> y;
    case Instruction::And: return static_cast<int64_t>(x & y);
    case Instruction::Or: return static_cast<int64_t>(x | y);
    case Instruction::Xor: return static_cast<int64_t>(x ^ y);
    default: return std::nullopt;
  }
}

std::optional<int64_t> result_of(const llvm::IntrinsicInst& call, int64_t a, int64_t c,
                                 unsigned bits) {
  const uint64_t x = without_sign(a, bits), y = without_sign(c, bits);
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::smin: return std::min(a, c);
    case llvm::Intrinsic::smax: return std::max(a, c);
    case llvm::Intrinsic::umin: return static_cast<int64_t>(std::min(x, y));
    case llvm::Intrinsic::umax: return static_cast<int64_t>(std::max(x, y));
    default: return std::nullopt;
  }
}

class IndexTableLoop {
 public:
  IndexTableLoop(llvm::Loop& loop, const LoopCounter& counter, size_t count)
      : loop_(loop), counter_(counter), body_(*loop.getHeader()), count_(count) {}

  bool tabulate() {
    Table all(count_);
    for (size_t i = 0; i < count_; ++i) all[i] = static_cast<int64_t>(i);
    sums_[counter_.number] = {nullptr, all};
    std::vector<Instruction*> steps;
    for (Instruction& step : body_)
      if (!llvm::isa<llvm::PHINode>(step) && !step.isTerminator() && &step != counter_.next &&
          &step != counter_.goes_on)
        steps.push_back(&step);
    for (Instruction* step : steps)
      if (auto sum = sum_of(*step)) sums_[step] = std::move(*sum);
    if (sums_.size() == 1) return false;
    for (Instruction* step : steps)
      if (!sums_.contains(step)) look_up_operands(*step);
    for (Instruction* step : llvm::reverse(steps))
      if (llvm::isInstructionTriviallyDead(step)) step->eraseFromParent();
    return true;
  }

 private:
  static unsigned bits_of(const Value& value) { return value.getType()->getIntegerBitWidth(); }

  std::optional<Sum> operand(Value* value) const {
    if (!value->getType()->isIntegerTy() || bits_of(*value) > 64) return std::nullopt;
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value))
      return Sum{nullptr, Table(count_, held(constant->getSExtValue(), bits_of(*value)))};
    if (const auto found = sums_.find(value); found != sums_.end()) return found->second;
    if (loop_.isLoopInvariant(value)) return Sum{value, Table(count_, 0)};
    return std::nullopt;
  }

  std::optional<Sum> sum_of(Instruction& step) {
    if (auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(&step)) return address_of(*place);
    if (!step.getType()->isIntegerTy() || bits_of(step) > 64) return std::nullopt;
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&step);
    const size_t count = call ? call->arg_size() : step.getNumOperands();
    if (call && count != 2) return std::nullopt;
    std::vector<Sum> in;
    for (size_t i = 0; i < count; ++i) {
      auto one = operand(step.getOperand(static_cast<unsigned>(i)));
      if (!one) return std::nullopt;
      in.push_back(std::move(*one));
    }
    const bool is_same = std::ranges::any_of(in, [](const Sum& one) { return one.same; });
    if (is_same) return in.size() == 2 && !call ? linear(step, in[0], in[1]) : std::nullopt;
    return pure(step, in, call);
  }

  // Of the counter and constants alone.
  std::optional<Sum> pure(const Instruction& step, const std::vector<Sum>& in,
                          const llvm::IntrinsicInst* call) const {
    const bool is_known = call || llvm::isa<llvm::BinaryOperator, llvm::ICmpInst, llvm::CastInst,
                                            llvm::SelectInst, llvm::FreezeInst>(step);
    if (!is_known) return std::nullopt;
    const unsigned to = bits_of(step), from = bits_of(*step.getOperand(0));
    Sum out{nullptr, Table(count_)};
    for (size_t i = 0; i < count_; ++i) {
      const int64_t a = in[0].table[i], c = in.size() > 1 ? in[1].table[i] : 0;
      std::optional<int64_t> value = a;
      if (call) value = result_of(*call, a, c, from);
      else if (llvm::isa<llvm::SelectInst>(step)) value = a != 0 ? c : in[2].table[i];
      else if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&step))
        value = llvm::ICmpInst::compare(llvm::APInt(from, without_sign(a, from)),
                                        llvm::APInt(from, without_sign(c, from)),
                                        compare->getPredicate())
                    ? 1
                    : 0;
      else if (llvm::isa<llvm::ZExtInst>(step)) value = static_cast<int64_t>(without_sign(a, from));
      else if (llvm::isa<llvm::SExtInst>(step) && from == 1) value = -a;
      else if (llvm::isa<llvm::BinaryOperator>(step)) value = result_of(step, a, c, from);
      else if (!llvm::isa<llvm::SExtInst, llvm::TruncInst, llvm::FreezeInst>(step)) return {};
      if (!value) return std::nullopt;
      out.table[i] = held(*value, to);
    }
    return out;
  }

  // Sums, differences and products with a constant, of places.
  std::optional<Sum> linear(Instruction& step, const Sum& a, const Sum& c) const {
    if (bits_of(step) != 64) return std::nullopt;
    llvm::IRBuilder<> b(loop_.getLoopPreheader()->getTerminator());
    const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&step);
    const auto each = [&](auto function) {
      Table out(count_);
      for (size_t i = 0; i < count_; ++i) out[i] = function(a.table[i], c.table[i]);
      return out;
    };
    const unsigned opcode = step.getOpcode();
    if (opcode == Instruction::Add || (bits && bits->isDisjoint())) {
      Value* same = a.same && c.same ? b.CreateAdd(a.same, c.same) : a.same ? a.same : c.same;
      return Sum{same, each([](int64_t x, int64_t y) { return x + y; })};
    }
    if (opcode == Instruction::Sub) {
      Value* same = c.same ? b.CreateSub(a.same ? a.same : b.getInt64(0), c.same) : a.same;
      return Sum{same, each([](int64_t x, int64_t y) { return x - y; })};
    }
    if (a.same && c.same) return std::nullopt;
    const Sum& factor = a.same ? c : a;
    const int64_t number = factor.table[0];
    const bool is_one = std::ranges::count(factor.table, number) == std::ssize(factor.table);
    const bool is_shift = opcode == Instruction::Shl && a.same && number >= 0 && number < max_shift;
    if (!is_one || (opcode != Instruction::Mul && !is_shift)) return std::nullopt;
    const auto by = is_shift ? uint64_t{1} << number : static_cast<uint64_t>(number);
    const Sum& other = a.same ? a : c;
    Sum out{b.CreateMul(other.same, b.getInt64(by)), other.table};
    for (int64_t& one : out.table) one = static_cast<int64_t>(static_cast<uint64_t>(one) * by);
    return out;
  }

  // Bytes from a pointer that is the same in all iterations.
  std::optional<Sum> address_of(Value* pointer) const {
    if (loop_.isLoopInvariant(pointer)) return Sum{pointer, Table(count_, 0)};
    const auto found = sums_.find(pointer);
    return found == sums_.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<Sum> address_of(llvm::GetElementPtrInst& step) const {
    if (step.getNumIndices() != 1 || step.getType()->isVectorTy()) return std::nullopt;
    auto out = address_of(step.getPointerOperand());
    Value* index = step.getOperand(1);
    const auto more = out && index->getType()->isIntegerTy(64) ? operand(index) : std::nullopt;
    if (!more) return std::nullopt;
    llvm::IRBuilder<> b(loop_.getLoopPreheader()->getTerminator());
    llvm::Type* type = step.getSourceElementType();
    const int64_t size = size_of(type);
    if (more->same) out->same = b.CreateGEP(type, out->same, more->same);
    for (size_t i = 0; i < count_; ++i) out->table[i] += size * more->table[i];
    return out;
  }

  int64_t size_of(llvm::Type* type) const {
    return static_cast<int64_t>(body_.getDataLayout().getTypeAllocSize(type).getFixedValue());
  }

  void look_up_operands(Instruction& step) {
    for (llvm::Use& use : step.operands()) {
      const auto found = sums_.find(use.get());
      if (found == sums_.end() || use.get() == counter_.number) continue;
      const Sum& sum = found->second;
      llvm::IRBuilder<> b(&step);
      if (use->getType()->isPointerTy()) {
        use.set(pointer_to(b, step, sum));
        continue;
      }
      Value* looked_up = from_table(b, sum.table, use->getType());
      use.set(sum.same ? b.CreateAdd(sum.same, looked_up) : looked_up);
    }
  }

  // To elements that lie beside each other, or anywhere.
  Value* pointer_to(llvm::IRBuilder<>& b, Instruction& access, const Sum& sum) {
    llvm::IRBuilder<> before(loop_.getLoopPreheader()->getTerminator());
    Table table = sum.table;
    const int64_t first = table[0];
    Value* base = sum.same;
    if (first != 0)
      base = before.CreateGEP(b.getInt8Ty(), base, before.getInt64(static_cast<uint64_t>(first)));
    const bool is_access = llvm::isa<llvm::LoadInst, llvm::StoreInst>(access);
    llvm::Type* type = is_access ? llvm::getLoadStoreType(&access) : b.getInt8Ty();
    bool is_beside = true, is_one = true;
    for (size_t i = 0; i < count_; ++i) {
      table[i] -= first;
      is_beside = is_beside && table[i] == static_cast<int64_t>(i) * size_of(type);
      is_one = is_one && table[i] == 0;
    }
    if (is_one) return base;
    if (is_beside) return b.CreateGEP(type, base, counter_.number);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
      if (frame_arrays_.size() < max_frame_arrays && is_read_only(base))
        return b.CreateGEP(type, copy_to_frame(base, type, table), counter_.number);
      mark_lookup(*load, false);
    }
    return b.CreateGEP(b.getInt8Ty(), base, from_table(b, table, b.getInt64Ty()));
  }

  // Whether all rounds of the loop around this one read the same of an array of the function.
  bool is_read_only(const Value* pointer) const {
    const llvm::Loop* outer = loop_.getParentLoop();
    const auto* array = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(pointer));
    if (!outer || !outer->getLoopPreheader() || !outer->isLoopInvariant(pointer) || !array ||
        !array->hasNoAliasAttr())
      return false;
    return std::ranges::none_of(llvm::instructions(*body_.getParent()), [&](const auto& step) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&step);
      if (call && call->mayWriteToMemory())
        return std::ranges::any_of(call->args(), [&](const llvm::Use& use) {
          return llvm::getUnderlyingObject(use.get()) == array;
        });
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&step);
      return store && llvm::getUnderlyingObject(store->getPointerOperand()) == array;
    });
  }

  // The elements in the order of the loop, in an array of the frame that is made before the loop
  // around it.
  Value* copy_to_frame(Value* base, llvm::Type* type, const Table& table) {
    Value*& out = frame_arrays_[{base, type, table}];
    if (out) return out;
    llvm::BasicBlock* before = loop_.getParentLoop()->getLoopPreheader();
    llvm::BasicBlock* after = llvm::SplitBlock(before, before->getTerminator());
    auto* fill = llvm::BasicBlock::Create(before->getContext(), "", before->getParent(), after);
    before->getTerminator()->setSuccessor(0, fill);
    llvm::IRBuilder<> b(fill);
    out = frame_array(b, type, static_cast<int64_t>(count_));
    auto* number = b.CreatePHI(b.getInt64Ty(), 2);
    Value* at = from_table(b, table, b.getInt64Ty(), number);
    b.CreateStore(b.CreateLoad(type, b.CreateGEP(b.getInt8Ty(), base, at)),
                  b.CreateGEP(type, out, number));
    Value* next = b.CreateAdd(number, b.getInt64(1));
    number->addIncoming(b.getInt64(0), before);
    number->addIncoming(next, fill);
    b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(count_)), fill, after);
    return out;
  }

  // Narrow, so that vectors of places are few.
  Value* from_table(llvm::IRBuilder<>& b, const Table& table, llvm::Type* type,
                    Value* number = nullptr) {
    const auto [least, most] = std::ranges::minmax(table);
    const unsigned wanted = type->getIntegerBitWidth();
    const bool is_narrow = least >= INT32_MIN && most <= INT32_MAX;
    llvm::Type* stored = wanted <= 8                ? b.getInt8Ty()
                         : is_narrow && wanted > 32 ? b.getInt32Ty()
                                                    : type;
    llvm::GlobalVariable*& global = tables_[{table, stored}];
    if (!global) global = constant_table(table, stored);
    Value* value =
        b.CreateLoad(stored, b.CreateGEP(stored, global, number ? number : counter_.number));
    if (least < 0) return b.CreateSExtOrTrunc(value, type);
    return b.CreateZExtOrTrunc(value, type);
  }

  llvm::GlobalVariable* constant_table(const Table& table, llvm::Type* stored) {
    std::vector<llvm::Constant*> values;
    for (const int64_t one : table)
      values.push_back(llvm::ConstantInt::getSigned(stored, one, /*ImplicitTrunc=*/true));
    auto* type = llvm::ArrayType::get(stored, count_);
    auto* out =
        new llvm::GlobalVariable(*body_.getModule(), type, true, llvm::GlobalValue::PrivateLinkage,
                                 llvm::ConstantArray::get(type, values), "places");
    out->setAlignment(llvm::Align(64));
    return out;
  }

  llvm::Loop& loop_;
  const LoopCounter counter_;
  llvm::BasicBlock& body_;
  const size_t count_;
  std::map<const Value*, Sum> sums_;
  std::map<std::pair<Table, llvm::Type*>, llvm::GlobalVariable*> tables_;
  std::map<std::tuple<Value*, llvm::Type*, Table>, Value*> frame_arrays_;
};

// 0 where it is not known, or too many.
size_t iterations_of(const LoopCounter& counter) {
  const auto* begin = llvm::dyn_cast<llvm::ConstantInt>(counter.begin);
  const auto* end = llvm::dyn_cast<llvm::ConstantInt>(counter.last ? counter.last : counter.end);
  if (!begin || !begin->isZero() || !end) return 0;
  const int64_t count = end->getSExtValue() + (counter.last ? 1 : 0);
  return count > 0 && count <= max_table_entries ? static_cast<size_t>(count) : 0;
}

}  // namespace

llvm::PreservedAnalyses IndexTables::run(llvm::Function& function,
                                         llvm::FunctionAnalysisManager& analyses) {
  bool changed = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (loop->getNumBlocks() != 1 || !loop->getLoopPreheader()) continue;
    const auto counter = find_counter(*loop);
    const size_t count = counter ? iterations_of(*counter) : 0;
    if (count > 0) changed |= IndexTableLoop(*loop, *counter, count).tabulate();
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  return llvm::PreservedAnalyses::none();
}

}  // namespace hilo
