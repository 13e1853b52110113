#include "emit/scalars.h"

namespace hilo {
namespace {

using llvm::Value;

// One of the pieces that a wider element falls into; the lowest bits are the first.
Value* bit_slice(ElementEmitter& e, InstructionId id, const Index& index) {
  const Shape& from = e.module.shape(e.module.operand(id, 0));
  const Shape& to = e.module.shape(id);
  std::vector<Value*> at;
  for (size_t d = 0; d < from.dims.size(); ++d) at.push_back(index.at(e.b, d));
  Value* bits = bits_of_element(e.b, from.type, e.operand(id, 0, Index(e.b, from.dims, at)));
  Value* shift = multiply_index(e.b, index.at(e.b, from.dims.size()), bits_of(to.type));
  bits = e.b.CreateLShr(bits, e.b.CreateZExtOrTrunc(shift, bits->getType()));
  return e.b.CreateTrunc(bits, e.b.getIntNTy(static_cast<unsigned>(bits_of(to.type))));
}

// The pieces of the last dimension side by side.
Value* concatenated_bits(ElementEmitter& e, InstructionId id, const Index& index) {
  const Shape& from = e.module.shape(e.module.operand(id, 0));
  const ElementType to = e.module.shape(id).type;
  llvm::Type* wide = e.b.getIntNTy(static_cast<unsigned>(bits_of(to)));
  std::vector<Value*> at;
  for (size_t d = 0; d + 1 < from.dims.size(); ++d) at.push_back(index.at(e.b, d));
  at.push_back(nullptr);
  Value* out = llvm::ConstantInt::get(wide, 0);
  for (int64_t i = 0; i < from.dims.back(); ++i) {
    at.back() = int64(e.b, i);
    Value* bits = bits_of_element(e.b, from.type, e.operand(id, 0, Index(e.b, from.dims, at)));
    bits = e.b.CreateShl(e.b.CreateZExt(bits, wide), static_cast<uint64_t>(i * bits_of(from.type)));
    out = e.b.CreateOr(out, bits);
  }
  return out;
}

}  // namespace

llvm::Value* element_BitcastConvert(ElementEmitter& e, InstructionId id, const Index& index,
                                    size_t) {
  const Shape &from = e.module.shape(e.module.operand(id, 0)), &to = e.module.shape(id);
  const int64_t before = bits_of(from.type), after = bits_of(to.type);
  llvm::Value* bits = before == after  ? bits_of_element(e.b, from.type, e.operand(id, 0, index))
                      : before > after ? bit_slice(e, id, index)
                                       : concatenated_bits(e, id, index);
  return element_of_bits(e.b, to.type, bits);
}

}  // namespace hilo
