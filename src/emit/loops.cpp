#include "emit/loops.h"

namespace hilo {
namespace {

llvm::BasicBlock* new_block(Builder& b) {
  return llvm::BasicBlock::Create(b.getContext(), "", b.GetInsertBlock()->getParent());
}

std::vector<llvm::Value*> rounds(Builder& b, llvm::Value* begin, llvm::Value* end,
                                 std::vector<llvm::Value*> first, CarryBody body) {
  llvm::BasicBlock *before = b.GetInsertBlock(), *inside = new_block(b);
  b.CreateBr(inside);
  b.SetInsertPoint(inside);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  std::vector<llvm::PHINode*> phis;
  std::vector<llvm::Value*> carried;
  for (llvm::Value* value : first) {
    phis.push_back(b.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    carried.push_back(phis.back());
  }
  const std::vector<llvm::Value*> next = body(i, carried);
  llvm::Value* following = b.CreateAdd(i, b.getInt64(1), "", true, true);
  llvm::BasicBlock* last = b.GetInsertBlock();
  i->addIncoming(following, last);
  for (size_t n = 0; n < phis.size(); ++n) phis[n]->addIncoming(next[n], last);
  llvm::BasicBlock* after = new_block(b);
  b.CreateCondBr(b.CreateICmpSLT(following, end), inside, after);
  b.SetInsertPoint(after);
  return next;
}

}  // namespace

void loop(Builder& b, llvm::Value* begin, llvm::Value* end, LoopBody body) {
  llvm::BasicBlock *inside = new_block(b), *after = new_block(b);
  b.CreateCondBr(b.CreateICmpSLT(begin, end), inside, after);
  b.SetInsertPoint(inside);
  rounds(b, begin, end, {}, [&](llvm::Value* i, std::span<llvm::Value* const>) {
    body(i);
    return std::vector<llvm::Value*>();
  });
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void loop(Builder& b, int64_t end, LoopBody body) {
  if (end <= 0) return;
  if (end == 1) return body(int64(b, 0));
  rounds(b, int64(b, 0), int64(b, end), {}, [&](llvm::Value* i, std::span<llvm::Value* const>) {
    body(i);
    return std::vector<llvm::Value*>();
  });
}

std::vector<llvm::Value*> loop_carrying(Builder& b, int64_t end, std::vector<llvm::Value*> first,
                                        CarryBody body) {
  if (end <= 0) return first;
  if (end == 1) return body(int64(b, 0), first);
  return rounds(b, int64(b, 0), int64(b, end), std::move(first), body);
}

std::vector<llvm::Value*> loop_carrying(Builder& b, llvm::Value* end,
                                        std::vector<llvm::Value*> first, CarryBody body) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(end))
    return loop_carrying(b, known->getSExtValue(), std::move(first), body);
  return rounds(b, int64(b, 0), end, std::move(first), body);
}

void where(Builder& b, llvm::Value* condition, llvm::function_ref<void()> body) {
  llvm::BasicBlock *inside = new_block(b), *after = new_block(b);
  b.CreateCondBr(condition, inside, after);
  b.SetInsertPoint(inside);
  body();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void with_part(Builder& b, llvm::Value* number, int64_t count, int64_t rest, int64_t whole,
               llvm::function_ref<void(int64_t)> body) {
  if (rest == 0) return body(whole);
  if (count == 1) return body(rest);
  llvm::BasicBlock *last = new_block(b), *inner = new_block(b), *after = new_block(b);
  b.CreateCondBr(b.CreateICmpEQ(number, int64(b, count - 1)), last, inner);
  b.SetInsertPoint(last);
  body(rest);
  b.CreateBr(after);
  b.SetInsertPoint(inner);
  body(whole);
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

int64_t parts_of_line(int64_t count, int64_t each) { return (count + each - 1) / each; }

bool may_overlap(int64_t count, int64_t each, int64_t lanes, double multiplications) {
  constexpr int64_t part_of_many = 8, part_of_few = 4;
  constexpr double max_small_multiplications = 1 << 17;
  const int64_t rest = count % each;
  const int64_t again = parts_of_line(each, lanes) - parts_of_line(rest, lanes);
  const int64_t part = multiplications <= max_small_multiplications ? part_of_few : part_of_many;
  return rest > 0 && again * part <= parts_of_line(count, lanes);
}

void with_part_of_line(Builder& b, llvm::Value* number, int64_t count, int64_t each, bool overlaps,
                       llvm::function_ref<void(llvm::Value*, int64_t)> body) {
  llvm::Value* first = multiply_index(b, number, each);
  if (overlaps) return body(lesser_index(b, first, int64(b, count - each)), each);
  with_part(b, number, parts_of_line(count, each), count % each, each,
            [&](int64_t length) { body(first, length); });
}

llvm::Value* frame_array(Builder& b, llvm::Type* type, int64_t count) {
  llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  Builder at_start(&entry, entry.begin());
  llvm::AllocaInst* memory =
      at_start.CreateAlloca(llvm::ArrayType::get(type, static_cast<uint64_t>(count)));
  memory->setAlignment(llvm::Align(64));
  return memory;
}

}  // namespace hilo
