#include "emit/lanes.h"

#include <bit>

#include "emit/small_floats.h"

namespace hilo {

std::vector<LanePiece> pieces_of_lanes(int64_t lanes, int64_t lanes_of_register) {
  std::vector<LanePiece> out;
  for (int64_t first = 0; first < lanes;) {
    const int64_t rest = lanes - first;
    const auto whole = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rest)));
    out.push_back({first, rest > lanes_of_register ? whole : rest});
    first += out.back().lanes;
  }
  return out;
}

bool has_lanes(ElementType type) { return is_floating(type); }

llvm::Value* load_lanes(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                        int64_t lanes, llvm::Type* real) {
  llvm::Type* stored = stored_type(b, type);
  const auto vector = [&](llvm::Type* element) {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  };
  llvm::Value* raw =
      b.CreateAlignedLoad(vector(stored), b.CreateInBoundsGEP(stored, array, position),
                          llvm::Align(static_cast<uint64_t>(storage_bytes(type))));
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

}  // namespace hilo
