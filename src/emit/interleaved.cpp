#include "emit/interleaved.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <bit>

namespace hilo {
namespace {

using llvm::Value;
using Vectors = std::vector<Value*>;

constexpr int64_t most_together = 16;

std::vector<int> every_second(unsigned lanes, int first) {
  std::vector<int> out;
  for (unsigned i = 0; i < lanes; ++i) out.push_back(first + 2 * static_cast<int>(i));
  return out;
}

std::vector<int> in_turn(unsigned lanes, int first) {
  std::vector<int> out;
  for (int i = 0; i < static_cast<int>(lanes / 2); ++i) {
    out.push_back(first + i);
    out.push_back(first + i + static_cast<int>(lanes));
  }
  return out;
}

std::pair<Vectors, Vectors> even_and_odd(const Vectors& all) {
  std::pair<Vectors, Vectors> out;
  for (size_t i = 0; i < all.size(); ++i) (i % 2 ? out.second : out.first).push_back(all[i]);
  return out;
}

// Of elements in the order of memory: number c of the result has every size-th one from c on.
Vectors taken_apart(llvm::IRBuilder<>& b, const Vectors& pieces, unsigned lanes) {
  if (pieces.size() == 1) return pieces;
  Vectors even, odd, out;
  for (size_t i = 0; i < pieces.size(); i += 2) {
    even.push_back(b.CreateShuffleVector(pieces[i], pieces[i + 1], every_second(lanes, 0)));
    odd.push_back(b.CreateShuffleVector(pieces[i], pieces[i + 1], every_second(lanes, 1)));
  }
  even = taken_apart(b, even, lanes);
  odd = taken_apart(b, odd, lanes);
  for (size_t i = 0; i < even.size(); ++i) out.insert(out.end(), {even[i], odd[i]});
  return out;
}

Vectors joined(llvm::IRBuilder<>& b, const Vectors& parts, unsigned lanes) {
  if (parts.size() == 1) return parts;
  auto [even, odd] = even_and_odd(parts);
  even = joined(b, even, lanes);
  odd = joined(b, odd, lanes);
  Vectors out;
  for (size_t i = 0; i < even.size(); ++i)
    for (const int first : {0, static_cast<int>(lanes / 2)})
      out.push_back(b.CreateShuffleVector(even[i], odd[i], in_turn(lanes, first)));
  return out;
}

}  // namespace

bool Interleaved::is_complete() const {
  std::vector<bool> has(static_cast<size_t>(count));
  for (const auto& [access, number] : accesses) {
    if (is_written && has[static_cast<size_t>(number)]) return false;
    has[static_cast<size_t>(number)] = true;
  }
  return is_written ? std::ranges::count(has, false) == 0 : has.front() && has.back();
}

bool Interleaved::is_beside(const Interleaved& other) const {
  return base == other.base && more == other.more && first == other.first && count == other.count &&
         type == other.type;
}

void InterleavedAccesses::add_times(Terms& sum, const Terms& more, int64_t factor) {
  for (const auto& [value, times] : more) sum.emplace_back(value, times * factor);
}

std::optional<InterleavedAccesses::Sum> InterleavedAccesses::sum_of(Value* index) const {
  if (index == counter_) return Sum{{}, 1, 0};
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index))
    return Sum{{}, 0, constant->getSExtValue()};
  if (loop_.isLoopInvariant(index)) return Sum{{{index, 1}}, 0, 0};
  auto* step = llvm::dyn_cast<llvm::BinaryOperator>(index);
  if (!step) return std::nullopt;
  const auto left = sum_of(step->getOperand(0)), right = sum_of(step->getOperand(1));
  if (!left || !right) return std::nullopt;
  Sum out;
  const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(step);
  if (step->getOpcode() == llvm::Instruction::Add || (bits && bits->isDisjoint())) {
    out = {left->more, left->factor + right->factor, left->offset + right->offset};
    add_times(out.more, right->more, 1);
    return out;
  }
  constexpr int64_t most_bits = 16;
  if (step->getOpcode() != llvm::Instruction::Shl || right->factor != 0 || !right->more.empty() ||
      right->offset < 0 || right->offset > most_bits)
    return std::nullopt;
  const int64_t times = int64_t{1} << right->offset;
  out = {{}, left->factor * times, left->offset * times};
  add_times(out.more, left->more, times);
  return out;
}

std::optional<InterleavedAccesses::Place> InterleavedAccesses::place_of(Value* pointer) const {
  if (loop_.isLoopInvariant(pointer)) return Place{pointer, {}, 0, 0};
  auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (!step || step->getNumIndices() != 1) return std::nullopt;
  const auto index = sum_of(step->getOperand(1));
  auto out = place_of(step->getPointerOperand());
  if (!index || !out) return std::nullopt;
  const auto size =
      static_cast<int64_t>(layout_.getTypeAllocSize(step->getSourceElementType()).getFixedValue());
  add_times(out->more, index->more, size);
  out->step += index->factor * size;
  out->offset += index->offset * size;
  return out;
}

bool InterleavedAccesses::add(llvm::Instruction& access) {
  llvm::Type* type = llvm::getLoadStoreType(&access);
  const auto place = place_of(llvm::getLoadStorePointerOperand(&access));
  const auto size = static_cast<int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
  if (!place || type->getScalarSizeInBits() != 8 * static_cast<uint64_t>(size)) return false;
  const int64_t count = place->step / size;
  if (place->step <= 0 || count * size != place->step || count < 2 || count > most_together ||
      !std::has_single_bit(static_cast<uint64_t>(count)) || place->offset % size != 0)
    return false;
  const int64_t number = (place->offset / size % count + count) % count;
  const Interleaved group{place->base, place->more, place->offset - number * size,
                          count,       type,        llvm::isa<llvm::StoreInst>(access),
                          {}};
  auto found = std::ranges::find_if(groups_, [&](const Interleaved& other) {
    return group.is_beside(other) && group.is_written == other.is_written;
  });
  if (found == groups_.end()) found = groups_.insert(groups_.end(), group);
  found->accesses[&access] = number;
  return true;
}

bool InterleavedAccesses::are_complete() const {
  return std::ranges::all_of(groups_, &Interleaved::is_complete);
}

size_t InterleavedAccesses::number_of(const llvm::Instruction& access) const {
  const auto found = std::ranges::find_if(groups_, [&](const Interleaved& group) {
    return group.accesses.contains(const_cast<llvm::Instruction*>(&access));
  });
  return static_cast<size_t>(found - groups_.begin());
}

const Interleaved* InterleavedAccesses::find(const llvm::Instruction& access) const {
  const size_t number = number_of(access);
  return number < groups_.size() ? &groups_[number] : nullptr;
}

Value* InterleavedAccesses::address(llvm::IRBuilder<>& b, const Interleaved& group,
                                    int64_t element) const {
  const auto size = static_cast<int64_t>(layout_.getTypeAllocSize(group.type).getFixedValue());
  auto* counter = const_cast<Value*>(counter_);
  Value* offset = b.CreateMul(
      counter, llvm::ConstantInt::get(counter->getType(), static_cast<uint64_t>(group.count)));
  Value* place = group.base;
  for (const auto& [value, times] : group.more)
    place = b.CreateGEP(b.getInt8Ty(), place,
                        b.CreateMul(value, llvm::ConstantInt::getSigned(value->getType(), times)));
  place = b.CreateGEP(group.type, place, offset);
  return b.CreateGEP(b.getInt8Ty(), place,
                     b.getInt64(static_cast<uint64_t>(group.first + element * size)));
}

Value* InterleavedAccesses::load(llvm::IRBuilder<>& b, llvm::Instruction& load, unsigned lanes) {
  const size_t number = number_of(load);
  const Interleaved& group = groups_[number];
  Vectors& parts = vectors_[number];
  if (parts.empty()) {
    auto* type = llvm::FixedVectorType::get(group.type, lanes);
    Vectors pieces;
    for (int64_t i = 0; i < group.count; ++i)
      pieces.push_back(b.CreateAlignedLoad(type, address(b, group, i * lanes),
                                           llvm::getLoadStoreAlignment(&load)));
    parts = taken_apart(b, pieces, lanes);
  }
  return parts[static_cast<size_t>(group.accesses.at(&load))];
}

void InterleavedAccesses::store(llvm::IRBuilder<>& b, llvm::Instruction& store, Value* vector,
                                unsigned lanes) {
  const size_t number = number_of(store);
  const Interleaved& group = groups_[number];
  Vectors& parts = vectors_[number];
  parts.resize(static_cast<size_t>(group.count));
  parts[static_cast<size_t>(group.accesses.at(&store))] = vector;
  if (std::ranges::count(parts, nullptr) > 0) return;
  const Vectors pieces = joined(b, parts, lanes);
  for (size_t i = 0; i < pieces.size(); ++i)
    b.CreateAlignedStore(pieces[i], address(b, group, static_cast<int64_t>(i) * lanes),
                         llvm::getLoadStoreAlignment(&store));
}

}  // namespace hilo
