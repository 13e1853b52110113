#include "emit/reducer.h"

#include <cmath>

#include "emit/choice.h"
#include "emit/scalars.h"

namespace hilo {

Reducer::Reducer(ElementEmitter& elements, InstructionId id)
    : Reducer(elements, elements.module.attributes<ReduceAttributes>(id).to_apply) {}

Reducer::Reducer(ElementEmitter& elements, ComputationId computation)
    : e_(elements), computation_(computation) {
  const std::optional<Combiner> found = find_combiner(elements.module, computation);
  if (found && is_array(found->element) && !is_complex(found->element)) combiner_ = found;
  chooses_ = !combiner_ && chooses_in_any_order(elements.module, computation);
}

size_t Reducer::size() const { return e_.module[computation_].instructions.size(); }

void Reducer::choose_among_keys() {
  const bool has_16_bits = combiner_ && (combiner_->element == ElementType::BF16 ||
                                         combiner_->element == ElementType::F16);
  has_keys_ = has_16_bits && combiner_->wide != combiner_->element && extremum();
}

void Reducer::choose_straight() {
  by_comparing_ = combiner_ && combiner_->element == ElementType::F16;
}

// As unsigned integers: numbers in their order, NaN beyond the end that is looked for.
llvm::Value* Reducer::key_of(llvm::Value* element) const {
  Builder& b = e_.b;
  llvm::Value* bits = bits_of_element(b, combiner_->element, element);
  llvm::Value* flipped = b.CreateOr(b.CreateAShr(bits, 15), b.getInt16(0x8000));
  return b.CreateAdd(b.CreateXor(bits, flipped), b.getInt16(nan_offset()));
}

llvm::Value* Reducer::element_of(llvm::Value* key) const {
  Builder& b = e_.b;
  llvm::Value* moved = b.CreateSub(key, b.getInt16(nan_offset()));
  llvm::Value* flipped = b.CreateOr(b.CreateAShr(b.CreateNot(moved), 15), b.getInt16(0x8000));
  llvm::Value* out = element_of_bits(b, combiner_->element, b.CreateXor(moved, flipped));
  // Subnormal f32 are zero.
  const auto number = [&](double x) { return llvm::ConstantFP::get(out->getType(), x); };
  llvm::Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, out);
  llvm::Value* zero = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(0), out);
  return b.CreateSelect(b.CreateFCmpOLT(magnitude, number(0x1p-126)), zero, out);
}

// From the bits of infinity to those of its negative lie the numbers.
uint16_t Reducer::nan_offset() const {
  const uint16_t infinity = combiner_->element == ElementType::BF16 ? 0x7f80 : 0x7c00;
  const auto least = static_cast<uint16_t>(0x7fff - infinity);  // the key of -infinity
  return e_.module[combiner_->instruction].op == Op::Maximum ? static_cast<uint16_t>(-least)
                                                             : least;
}

llvm::Type* Reducer::type() const {
  check(is_associative(), "what is combined by a computation has no type of its own");
  return has_keys_ ? e_.b.getInt16Ty() : held_type(e_.b, combiner_->wide);
}

llvm::Value* Reducer::identity() const {
  llvm::Type* held = type();
  const Op op = e_.module[combiner_->instruction].op;
  if (has_keys_) return e_.b.getInt16(op == Op::Maximum ? 0 : 0xffff);
  if (is_floating(combiner_->wide)) {
    double value = -0.0;
    if (op == Op::Multiply) value = 1;
    if (op == Op::Maximum) value = -HUGE_VAL;
    if (op == Op::Minimum) value = HUGE_VAL;
    return llvm::ConstantFP::get(held, value);
  }
  const unsigned bits = held->getIntegerBitWidth();
  const bool with_sign = is_signed(combiner_->wide);
  const auto of = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(held, value); };
  if (op == Op::Multiply) return of(llvm::APInt(bits, 1));
  if (op == Op::And) return of(llvm::APInt::getAllOnes(bits));
  if (op == Op::Maximum)
    return of(with_sign ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0));
  if (op == Op::Minimum)
    return of(with_sign ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getAllOnes(bits));
  return of(llvm::APInt(bits, 0));
}

llvm::Value* Reducer::widen(llvm::Value* element) const {
  return has_keys_ ? key_of(element) : convert(e_.b, combiner_->element, combiner_->wide, element);
}

// Which of two zeros is the larger one follows from no law. So asked for, with what was combined
// second, a maximum waits for one vector instruction and a choice.
llvm::Value* Reducer::combine(llvm::Value* a, llvm::Value* c) const {
  const Instruction& op = e_.module[combiner_->instruction];
  if (has_keys_)
    return e_.b.CreateBinaryIntrinsic(
        op.op == Op::Maximum ? llvm::Intrinsic::umax : llvm::Intrinsic::umin, a, c);
  if (extremum() && !by_comparing_) {
    llvm::FastMathFlags flags;
    flags.setNoSignedZeros();
    const auto which = op.op == Op::Maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum;
    return e_.b.CreateIntrinsic(which, {a->getType()}, {c, a}, llvm::FMFSource(flags));
  }
  if (const auto first = extremum()) {  // of equal ones the first
    const auto before = llvm::CmpInst::getNonStrictPredicate(*first);
    llvm::Value* is_first = e_.b.CreateOr(e_.b.CreateFCmp(before, a, c), e_.b.CreateFCmpUNO(a, a));
    return round_to(e_.b, combiner_->wide, e_.b.CreateSelect(is_first, a, c));
  }
  ScalarCall call{e_, e_.b, op, combiner_->wide, combiner_->wide, {a, c, nullptr}};
  return round_to(e_.b, combiner_->wide, functions_of(op.op).scalar(call));
}

std::optional<llvm::CmpInst::Predicate> Reducer::extremum() const {
  if (has_keys_ || !is_floating(combiner_->wide)) return std::nullopt;
  const Op op = e_.module[combiner_->instruction].op;
  if (op == Op::Maximum) return llvm::CmpInst::FCMP_OGT;
  if (op == Op::Minimum) return llvm::CmpInst::FCMP_OLT;
  return std::nullopt;
}

// The largest or least of elements is one of them: there is nothing to round.
llvm::Value* Reducer::finish(llvm::Value* init, llvm::Value* combined) const {
  if (has_keys_) return element_of(combine(widen(init), combined));
  if (extremum() && held_type(e_.b, combiner_->element) == type())
    return combine(widen(init), combined);
  return convert(e_.b, combiner_->wide, combiner_->element, combine(widen(init), combined));
}

std::vector<llvm::Value*> Reducer::apply(std::span<llvm::Value* const> arguments) const {
  return e_.apply(computation_, arguments);
}

}  // namespace hilo
