#include "emit/interleaved.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <numeric>

namespace hilo {
namespace {

using llvm::Value;
using Vectors = std::vector<Value*>;

constexpr int64_t max_together = 16;

size_t smallest_factor(size_t number) {
  for (size_t factor = 2; factor * factor <= number; ++factor)
    if (number % factor == 0) return factor;
  return number;
}

// The vector whose lanes are places[i] of the vectors laid side by side.
Value* picked(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> from, llvm::ArrayRef<int> places) {
  const auto lanes = static_cast<int>(places.size());
  Value* out = from[0];
  for (int number = 1; number < static_cast<int>(from.size()); ++number) {
    std::vector<int> mask;
    for (int i = 0; i < lanes; ++i) {
      const int vector = places[static_cast<size_t>(i)] / lanes;
      const int lane = places[static_cast<size_t>(i)] % lanes;
      // From the first two, then what is there already or the next one.
      if (vector == number) mask.push_back(lanes + lane);
      else if (vector > number) mask.push_back(llvm::PoisonMaskElem);
      else mask.push_back(number == 1 ? lane : i);
    }
    out = b.CreateShuffleVector(out, from[static_cast<size_t>(number)], mask);
  }
  return out;
}

// Of elements in the order of memory: number c of the result has every size-th one from c on. By
// prime factors: so many sequences of every factor-th element, and each of these likewise.
Vectors taken_apart(llvm::IRBuilder<>& b, const Vectors& pieces, unsigned lanes) {
  if (pieces.size() == 1) return pieces;
  const size_t factor = smallest_factor(pieces.size());
  std::vector<int> places(lanes);
  Vectors out(pieces.size());
  for (size_t k = 0; k < factor; ++k) {
    for (size_t i = 0; i < lanes; ++i) places[i] = static_cast<int>(k + factor * i);
    Vectors sequence;
    for (size_t i = 0; i < pieces.size(); i += factor)
      sequence.push_back(picked(b, llvm::ArrayRef(pieces).slice(i, factor), places));
    sequence = taken_apart(b, sequence, lanes);
    for (size_t i = 0; i < sequence.size(); ++i) out[i * factor + k] = sequence[i];
  }
  return out;
}

Vectors joined(llvm::IRBuilder<>& b, const Vectors& parts, unsigned lanes) {
  if (parts.size() == 1) return parts;
  const size_t factor = smallest_factor(parts.size());
  std::vector<Vectors> sequences(factor);
  for (size_t i = 0; i < parts.size(); ++i) sequences[i % factor].push_back(parts[i]);
  for (Vectors& sequence : sequences) sequence = joined(b, sequence, lanes);
  std::vector<int> places(lanes);
  Vectors out;
  for (size_t j = 0; j < parts.size() / factor; ++j) {
    Vectors from;
    for (const Vectors& sequence : sequences) from.push_back(sequence[j]);
    for (size_t k = 0; k < factor; ++k) {
      for (size_t i = 0; i < lanes; ++i) {
        const size_t element = k * lanes + i;
        places[i] = static_cast<int>(element % factor * lanes + element / factor);
      }
      out.push_back(picked(b, from, places));
    }
  }
  return out;
}

// Rows of a load or a store in parts of 16 bytes: elements `from` to `from + size` of each row.
struct RowParts {
  unsigned lanes, size;
  size_t count() const { return lanes / size; }
  // The first elements of the parts of so long a row; the last part may overlap the one before.
  std::vector<size_t> starts(size_t row) const {
    std::vector<size_t> out;
    for (size_t start = 0; start < row; start += size) out.push_back(std::min(start, row - size));
    return out;
  }
};

// A part of a row fills 16 bytes, or there is none. Registers of 64 bytes are shuffled in one step
// from any two, and filled in four.
std::optional<RowParts> row_parts(const llvm::Type* type, size_t row, unsigned lanes,
                                  unsigned register_bits) {
  const unsigned size = 128 / type->getScalarSizeInBits();
  if (register_bits > 256 || size < 2 || size > row || size > lanes) return std::nullopt;
  return RowParts{lanes, size};
}

// The 16 bytes of a vector of this number.
Value* part_of(llvm::IRBuilder<>& b, Value* vector, size_t number, const RowParts& parts) {
  std::vector<int> places(parts.size);
  std::iota(places.begin(), places.end(), static_cast<int>(number * parts.size));
  return b.CreateShuffleVector(vector, places);
}

// Pairs in vectors of several times 16 bytes: vector k has every second 16 bytes from the k-th on,
// so that pairs are taken apart and joined within 16 bytes, by one shuffle of a vector of f32. None
// where a vector is 16 bytes, and see row_parts.
std::optional<RowParts> pair_parts(const llvm::Type* type, size_t row, unsigned lanes,
                                   unsigned register_bits) {
  const unsigned size = 128 / type->getScalarSizeInBits();
  if (row != 2 || register_bits > 256 || size <= row || size >= lanes) return std::nullopt;
  return RowParts{lanes, size};
}

// Both parts of pairs that were read by 16 bytes in turns; `riffled` joins them again.
Vectors pairs_taken_apart(llvm::IRBuilder<>& b, const Vectors& pieces, const RowParts& parts) {
  Vectors out;
  for (size_t part = 0; part < 2; ++part) {
    std::vector<int> mask;
    for (size_t lane = 0; lane < parts.lanes; ++lane) {
      const size_t first = lane / parts.size * parts.size;
      const size_t place = lane % parts.size * 2 + part;
      mask.push_back(
          static_cast<int>(first + place % parts.size + place / parts.size * parts.lanes));
    }
    out.push_back(b.CreateShuffleVector(pieces[0], pieces[1], mask));
  }
  return out;
}

// In each 16 bytes: the first halves of two vectors put together like the halves of a pack of
// cards, and then the second ones.
Vectors riffled(llvm::IRBuilder<>& b, Value* first, Value* second, const RowParts& parts) {
  Vectors out;
  for (size_t half = 0; half < 2; ++half) {
    std::vector<int> mask;
    for (size_t lane = 0; lane < parts.lanes; ++lane) {
      const size_t start = lane / parts.size * parts.size, place = lane % parts.size;
      mask.push_back(
          static_cast<int>(start + half * parts.size / 2 + place / 2 + place % 2 * parts.lanes));
    }
    out.push_back(b.CreateShuffleVector(first, second, mask));
  }
  return out;
}

// Squares of `size` elements, one in each 16 bytes of as many vectors, change rows and columns.
Vectors transposed(llvm::IRBuilder<>& b, Vectors rows, const RowParts& parts) {
  for (size_t step = 1; step < parts.size; step *= 2) {
    Vectors next;
    for (size_t r = 0; r < parts.size / 2; ++r)
      std::ranges::copy(riffled(b, rows[r], rows[r + parts.size / 2], parts),
                        std::back_inserter(next));
    rows = std::move(next);
  }
  return rows;
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
  if (right->factor != 0 || !right->more.empty() || right->offset < 0) return std::nullopt;
  constexpr int64_t max_bits = 16;
  int64_t times = 0;
  if (step->getOpcode() == llvm::Instruction::Mul && right->offset < int64_t{1} << max_bits)
    times = right->offset;
  else if (step->getOpcode() == llvm::Instruction::Shl && right->offset <= max_bits)
    times = int64_t{1} << right->offset;
  else return std::nullopt;
  out = {{}, left->factor * times, left->offset * times};
  add_times(out.more, left->more, times);
  return out;
}

std::optional<InterleavedAccesses::Place> InterleavedAccesses::address_of(Value* pointer) const {
  if (loop_.isLoopInvariant(pointer)) return Place{pointer, {}, 0, 0};
  auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (!step || step->getNumIndices() != 1) return std::nullopt;
  const auto index = sum_of(step->getOperand(1));
  auto out = address_of(step->getPointerOperand());
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
  const auto place = address_of(llvm::getLoadStorePointerOperand(&access));
  const auto size = static_cast<int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
  if (!place || type->getScalarSizeInBits() != 8 * static_cast<uint64_t>(size)) return false;
  const int64_t count = place->step / size;
  if (place->step <= 0 || count * size != place->step || count < 2 || count > max_together ||
      place->offset % size != 0)
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

bool InterleavedAccesses::has_pairs_of_f32() const {
  return std::ranges::any_of(groups_, [](const Interleaved& group) {
    return group.count == 2 && group.type->isFloatTy();
  });
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
    const auto align = llvm::getLoadStoreAlignment(&load);
    const auto row = static_cast<size_t>(group.count);
    const auto read = [&](size_t element, unsigned size) {
      auto* type = llvm::FixedVectorType::get(group.type, size);
      return b.CreateAlignedLoad(type, address(b, group, static_cast<int64_t>(element)), align);
    };
    if (const auto of_rows = row_parts(group.type, row, lanes, register_bits_)) {
      parts.resize(row);
      for (const size_t start : of_rows->starts(row)) {
        Vectors rows;
        for (size_t r = 0; r < of_rows->size; ++r) {
          Vectors beside;
          for (size_t line = r; line < lanes; line += of_rows->size)
            beside.push_back(read(line * row + start, of_rows->size));
          rows.push_back(llvm::concatenateVectors(b, beside));
        }
        std::ranges::copy(transposed(b, rows, *of_rows),
                          parts.begin() + static_cast<int64_t>(start));
      }
    } else if (const auto of_pairs = pair_parts(group.type, row, lanes, register_bits_)) {
      for (size_t part = 0; part < row; ++part) {
        Vectors in_turns;
        for (size_t at = part; at < row * of_pairs->count(); at += row)
          in_turns.push_back(read(at * of_pairs->size, of_pairs->size));
        parts.push_back(llvm::concatenateVectors(b, in_turns));
      }
      parts = pairs_taken_apart(b, parts, *of_pairs);
    } else {
      for (size_t i = 0; i < row; ++i) parts.push_back(read(i * lanes, lanes));
      parts = taken_apart(b, parts, lanes);
    }
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
  const auto align = llvm::getLoadStoreAlignment(&store);
  const auto row = parts.size();
  const auto write = [&](Value* piece, size_t element) {
    b.CreateAlignedStore(piece, address(b, group, static_cast<int64_t>(element)), align);
  };
  if (const auto of_pairs = pair_parts(group.type, row, lanes, register_bits_)) {
    const Vectors pieces = riffled(b, parts[0], parts[1], *of_pairs);
    for (size_t at = 0; at < row * of_pairs->count(); ++at)
      write(part_of(b, pieces[at % row], at / row, *of_pairs), at * of_pairs->size);
    return;
  }
  const auto of_rows = row_parts(group.type, row, lanes, register_bits_);
  if (!of_rows) {
    const Vectors pieces = joined(b, parts, lanes);
    for (size_t i = 0; i < row; ++i) write(pieces[i], i * lanes);
    return;
  }
  for (const size_t start : of_rows->starts(row)) {
    const auto first = parts.begin() + static_cast<int64_t>(start);
    const Vectors rows = transposed(b, {first, first + of_rows->size}, *of_rows);
    for (size_t line = 0; line < lanes; ++line)
      write(part_of(b, rows[line % of_rows->size], line / of_rows->size, *of_rows),
            line * row + start);
  }
}

}  // namespace hilo
