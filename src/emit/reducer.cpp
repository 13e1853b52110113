#include "emit/reducer.h"

#include <algorithm>
#include <cmath>

#include "emit/choice.h"
#include "emit/scalars.h"

namespace hilo {
namespace {

constexpr Op associative[] = {Op::Add, Op::Multiply, Op::Maximum, Op::Minimum,
                              Op::And, Op::Or,       Op::Xor};

InstructionId through_converts(const Module& module, InstructionId id) {
  while (module[id].op == Op::Convert) id = module.operand(id, 0);
  return id;
}

int64_t parameter_of(const Module& module, InstructionId id) {
  id = through_converts(module, id);
  if (module[id].op != Op::Parameter) return -1;
  return module.attributes<ParameterAttributes>(id).number;
}

bool is_narrow_float(ElementType type) { return is_floating(type) && bits_of(type) < 32; }

}  // namespace

Reducer::Reducer(Elements& elements, InstructionId id)
    : Reducer(elements, elements.module.attributes<ReduceAttributes>(id).to_apply) {}

Reducer::Reducer(Elements& elements, ComputationId computation)
    : e_(elements), computation_(computation) {
  find_op();
  chooses_ = !op_ && chooses_in_any_order(elements.module, computation);
}

void Reducer::find_op() {
  const Module& module = e_.module;
  const Computation& computation = module[computation_];
  if (computation.parameters.size() != 2 || !module.shape(computation.root).is_array()) return;
  const InstructionId root = through_converts(module, computation.root);
  const Op op = module[root].op;
  if (std::ranges::count(associative, op) == 0 || is_complex(module.shape(root).type)) return;
  const int64_t a = parameter_of(module, module.operand(root, 0));
  const int64_t c = parameter_of(module, module.operand(root, 1));
  if (a < 0 || c < 0 || a == c) return;
  element_ = module.shape(computation.root).type;
  wide_ = module.shape(root).type;
  // Conversions that lose something between the parameters and the op have a meaning.
  const bool fits = wide_ == element_ || (is_floating(wide_) && is_floating(element_) &&
                                          bits_of(wide_) > bits_of(element_));
  if (!fits || !is_emitted(wide_)) return;
  for (InstructionId parameter : computation.parameters)
    if (module.shape(parameter).type != element_) return;
  if (is_narrow_float(wide_)) wide_ = ElementType::F32;
  op_ = op;
}

llvm::Type* Reducer::type() const { return held_type(e_.b, wide_); }

llvm::Value* Reducer::identity() const {
  llvm::Type* held = type();
  if (is_floating(wide_)) {
    double value = -0.0;
    if (*op_ == Op::Multiply) value = 1;
    if (*op_ == Op::Maximum) value = -HUGE_VAL;
    if (*op_ == Op::Minimum) value = HUGE_VAL;
    return llvm::ConstantFP::get(held, value);
  }
  const unsigned bits = held->getIntegerBitWidth();
  const bool with_sign = is_signed(wide_);
  const auto of = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(held, value); };
  if (*op_ == Op::Multiply) return of(llvm::APInt(bits, 1));
  if (*op_ == Op::And) return of(llvm::APInt::getAllOnes(bits));
  if (*op_ == Op::Maximum)
    return of(with_sign ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0));
  if (*op_ == Op::Minimum)
    return of(with_sign ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getAllOnes(bits));
  return of(llvm::APInt(bits, 0));
}

llvm::Value* Reducer::widen(llvm::Value* element) const {
  return convert(e_.b, element_, wide_, element);
}

llvm::Value* Reducer::combine(llvm::Value* a, llvm::Value* c) const {
  const InstructionId root = through_converts(e_.module, e_.module[computation_].root);
  ScalarCall call{e_, e_.b, e_.module[root], wide_, wide_, {a, c, nullptr}};
  return functions_of(*op_).scalar(call);
}

llvm::Value* Reducer::finish(llvm::Value* init, llvm::Value* combined) const {
  return convert(e_.b, wide_, element_, combine(widen(init), combined));
}

std::vector<llvm::Value*> Reducer::apply(std::span<llvm::Value* const> arguments) const {
  return e_.apply(computation_, arguments);
}

}  // namespace hilo
