// compare and select.
#include <llvm/IR/PatternMatch.h>

#include "emit/complex.h"
#include "emit/scalars.h"

namespace hilo {
namespace {

using llvm::CmpInst;
using llvm::Value;

// Order of IEEE 754's totalOrder as order of signed integers.
Value* total_order(Builder& b, Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  Value* raw = b.CreateBitCast(value, b.getIntNTy(bits));
  Value* mask = b.CreateLShr(b.CreateAShr(raw, uint64_t{bits - 1}), uint64_t{1});
  return b.CreateXor(raw, mask);
}

struct Predicates {
  CmpInst::Predicate floats, with_sign, without_sign;
};
Predicates predicates_of(ComparisonDirection direction) {
  using D = ComparisonDirection;
  if (direction == D::Eq) return {CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ};
  if (direction == D::Ne) return {CmpInst::FCMP_UNE, CmpInst::ICMP_NE, CmpInst::ICMP_NE};
  if (direction == D::Ge) return {CmpInst::FCMP_OGE, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE};
  if (direction == D::Gt) return {CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT};
  if (direction == D::Le) return {CmpInst::FCMP_OLE, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE};
  return {CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT};
}

}  // namespace

Value* scalar_Compare(const ScalarCall& c) {
  const auto& attributes = c.elements.module.attributes<CompareAttributes>(c.instruction);
  const Predicates p = predicates_of(attributes.direction);
  const bool total =
      attributes.type == ComparisonType::TotalOrder || attributes.order == ComparisonOrder::Total;
  if (is_complex(c.type)) {
    const Complex x = parts_of(c.b, c.in[0]), y = parts_of(c.b, c.in[1]);
    if (attributes.direction == ComparisonDirection::Eq)
      return c.b.CreateAnd(c.b.CreateFCmpOEQ(x.real, y.real),
                           c.b.CreateFCmpOEQ(x.imaginary, y.imaginary));
    if (attributes.direction == ComparisonDirection::Ne)
      return c.b.CreateOr(c.b.CreateFCmpUNE(x.real, y.real),
                          c.b.CreateFCmpUNE(x.imaginary, y.imaginary));
    return c.b.getFalse();
  }
  if (!is_floating(c.type))
    return c.b.CreateICmp(is_signed(c.type) ? p.with_sign : p.without_sign, c.in[0], c.in[1]);
  if (total)
    return c.b.CreateICmp(p.with_sign, total_order(c.b, c.in[0]), total_order(c.b, c.in[1]));
  const bool is_equal = p.floats == CmpInst::FCMP_OEQ, differs = p.floats == CmpInst::FCMP_UNE;
  for (const size_t i : {0, 1})
    if ((is_equal || differs) && match(c.in[i], llvm::PatternMatch::m_AnyZeroFP())) {
      Value* out = differs_from_zero(c.b, c.type, c.in[1 - i]);
      return differs ? out : c.b.CreateNot(out);
    }
  return c.b.CreateFCmp(p.floats, c.in[0], c.in[1]);
}

Value* scalar_Select(const ScalarCall& c) {
  return select_held(c.b, c.result, c.in[0], c.in[1], c.in[2]);
}

}  // namespace hilo
