#include "emit/lanes.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "emit/small_floats.h"

namespace hilo {

std::vector<LaneChunk> chunks_of_lanes(int64_t lanes, int64_t lanes_of_register) {
  std::vector<LaneChunk> out;
  for (int64_t first = 0; first < lanes;) {
    const int64_t rest = lanes - first;
    const auto whole = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rest)));
    out.push_back({first, rest > lanes_of_register ? whole : rest});
    first += out.back().lanes;
  }
  return out;
}

llvm::Value* load_lanes(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                        int64_t lanes, llvm::Type* real, std::optional<int64_t> first) {
  llvm::Type* stored = stored_type(b, type);
  const auto vector = [&](llvm::Type* element) {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  };
  const llvm::Align align(static_cast<uint64_t>(storage_bytes(type)));
  llvm::Value *place = b.CreateInBoundsGEP(stored, array, position), *raw = nullptr;
  if (first) {
    std::vector<llvm::Constant*> mask;
    for (int64_t lane = 0; lane < lanes; ++lane) mask.push_back(b.getInt1(lane < *first));
    raw = b.CreateMaskedLoad(vector(stored), place, align, llvm::ConstantVector::get(mask),
                             llvm::Constant::getNullValue(vector(stored)));
  } else {
    raw = b.CreateAlignedLoad(vector(stored), place, align);
  }
  if (type == ElementType::BF16) {
    llvm::Value* bits = b.CreateShl(b.CreateZExt(raw, vector(b.getInt32Ty())), 16);
    raw = b.CreateBitCast(bits, vector(b.getFloatTy()));
  }
  if (is_integral(type)) return b.CreateIntCast(raw, vector(real), is_signed(type));
  if (is_small_float(type)) raw = small_float_of_bits(b, type, raw);
  return raw->getType()->getScalarType() == real ? raw : b.CreateFPExt(raw, vector(real));
}

bool stores_lanes(ElementType type) {
  return (is_integral(type) && bits_of(type) >= 8) || type == ElementType::F32 ||
         type == ElementType::F64;
}

void store_lanes(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                 llvm::Value* lanes) {
  if (is_integral(type))
    lanes = b.CreateTrunc(lanes, lanes->getType()->getWithNewType(stored_type(b, type)));
  llvm::Type* real = lanes->getType()->getScalarType();
  if (stores_lanes(type)) {
    b.CreateAlignedStore(lanes, b.CreateInBoundsGEP(real, array, position),
                         llvm::Align(static_cast<uint64_t>(storage_bytes(type))));
    return;
  }
  const auto count = llvm::cast<llvm::FixedVectorType>(lanes->getType())->getNumElements();
  llvm::Value* line = frame_array(b, real, count);
  b.CreateAlignedStore(lanes, line, llvm::Align(64));
  loop(b, count, [&](llvm::Value* i) {
    llvm::Value* element = b.CreateLoad(real, b.CreateInBoundsGEP(real, line, i));
    store_element(b, type, array, add_index(b, position, i), round_to(b, type, element));
  });
}

llvm::Value* multiply_add_lanes(Builder& b, llvm::Value* a, llvm::Value* c, llvm::Value* sum) {
  if (sum->getType()->isIntOrIntVectorTy()) return b.CreateAdd(sum, b.CreateMul(a, c));
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {sum->getType()}, {a, c, sum});
}

namespace {

// LLVM takes longer for more steps in a row than they save.
constexpr size_t max_together = 4;

llvm::Value* add_lanes(Builder& b, llvm::Value* a, llvm::Value* c) {
  return a->getType()->isIntOrIntVectorTy() ? b.CreateAdd(a, c) : b.CreateFAdd(a, c);
}

// A vector of equal pieces, each with the partial sums of the vector of this number.
struct PartialSums {
  llvm::Value* lanes;
  std::vector<size_t> of;
};

// The second half of each piece where its first half was.
llvm::Value* second_halves(Builder& b, llvm::Value* lanes, int count, int piece) {
  std::vector<int> mask;
  for (int lane = 0; lane < count; ++lane)
    mask.push_back(lane % piece < piece / 2 ? lane + piece / 2 : llvm::PoisonMaskElem);
  return b.CreateShuffleVector(lanes, mask);
}

// Halves of the pieces of both, in turns: first of one, then of the other.
PartialSums added_halves(Builder& b, const PartialSums& a, const PartialSums& c, int count) {
  const int pieces = static_cast<int>(a.of.size()), size = count / pieces, half = size / 2;
  std::vector<int> low, high;
  PartialSums out{nullptr, {}};
  for (int piece = 0; piece < pieces; ++piece)
    for (const int from : {0, count}) {
      for (int i = 0; i < half; ++i) {
        low.push_back(from + piece * size + i);
        high.push_back(from + piece * size + half + i);
      }
      out.of.push_back((from == 0 ? a : c).of[static_cast<size_t>(piece)]);
    }
  out.lanes = add_lanes(b, b.CreateShuffleVector(a.lanes, c.lanes, low),
                        b.CreateShuffleVector(a.lanes, c.lanes, high));
  return out;
}

// The same where there is no other: its places stay empty.
constexpr size_t none = ~size_t{0};
PartialSums added_halves(Builder& b, const PartialSums& a, int count) {
  PartialSums out{nullptr, {}};
  for (const size_t number : a.of) out.of.insert(out.of.end(), {number, none});
  const int size = count / static_cast<int>(a.of.size());
  out.lanes = add_lanes(b, a.lanes, second_halves(b, a.lanes, count, size));
  return out;
}

// Of up to as many vectors as each has lanes: two and two into one, so that a step adds halves of
// many of them.
std::vector<llvm::Value*> sums_together(Builder& b, std::span<llvm::Value* const> vectors) {
  const auto* type = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType());
  const auto count = static_cast<int>(type->getNumElements());
  std::vector<PartialSums> left;
  for (size_t i = 0; i < vectors.size(); ++i) left.push_back({vectors[i], {i}});
  while (left.size() > 1) {
    std::vector<PartialSums> next;
    for (size_t i = 0; i + 1 < left.size(); i += 2)
      next.push_back(added_halves(b, left[i], left[i + 1], count));
    if (left.size() % 2 == 1) next.push_back(added_halves(b, left.back(), count));
    left = std::move(next);
  }
  llvm::Value* lanes = left[0].lanes;
  const int pieces = static_cast<int>(left[0].of.size()), size = count / pieces;
  for (int piece = size; piece > 1; piece /= 2)
    lanes = add_lanes(b, lanes, second_halves(b, lanes, count, piece));
  std::vector<llvm::Value*> out(vectors.size());
  for (size_t piece = 0; piece < left[0].of.size(); ++piece)
    if (const size_t number = left[0].of[piece]; number != none)
      out[number] = b.CreateExtractElement(lanes, piece * static_cast<uint64_t>(size));
  return out;
}

}  // namespace

std::vector<llvm::Value*> sums_of_lanes(Builder& b, std::span<llvm::Value* const> vectors) {
  std::vector<llvm::Value*> out;
  while (!vectors.empty()) {
    const auto* type = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType());
    const size_t count = std::min<size_t>({vectors.size(), type->getNumElements(), max_together});
    std::ranges::copy(sums_together(b, vectors.first(count)), std::back_inserter(out));
    vectors = vectors.subspan(count);
  }
  return out;
}

}  // namespace hilo
