#include "eval/custom_call.h"

#include <algorithm>
#include <array>

namespace hilo {

// A custom call that has a routine defines it beside call_FUNCTION.
#define CUSTOM_CALL(target, family, function, sees, meaning) \
  [[gnu::weak]] Routine routine_##function(const RoutineCall& call);
#define LAPACK_CALL(target, function, meaning)
#include "eval/custom_call.def"
#include "eval/custom_call_lapack.def"
#undef CUSTOM_CALL

namespace {

using KnownFunction = Result<Literal> (*)(Call&);
struct Known {
  CustomCallInfo info;
  KnownFunction function;
  FindRoutine routine;
  PrepareLapack prepare;  // instead of both
};

#define CUSTOM_CALL(target, family, function, sees, meaning) \
  Known{{target, #family, meaning, CustomCallSees::sees},    \
        call_##function,                                     \
        routine_##function,                                  \
        nullptr},
#define LAPACK_CALL(target, function, meaning) \
  Known{{target, "lapack", meaning, CustomCallSees::Values}, nullptr, nullptr, prepare_##function},
const Known known[] = {
#include "eval/custom_call.def"
#include "eval/custom_call_lapack.def"
};
#undef CUSTOM_CALL

const Known* find_known(std::string_view target) {
  const auto* found =
      std::ranges::find(known, target, [](const Known& k) { return k.info.target; });
  return found == std::end(known) ? nullptr : found;
}

// The inverse of to_held: into the declared types, rounding.
Literal from_held(const Literal& literal, const Shape& declared) {
  if (declared.is_tuple()) {
    std::vector<Literal> elements;
    for (size_t i = 0; i < declared.elements.size(); ++i)
      elements.push_back(from_held(literal.elements()[i], declared.elements[i]));
    return Literal::tuple(std::move(elements));
  }
  if (!declared.is_array() || literal.type() == declared.type) return literal;
  Literal out = Literal::uninitialized(declared);
  if (is_complex(declared.type)) {
    std::ranges::transform(literal.data<std::complex<double>>(),
                           out.mutable_data<std::complex<float>>().begin(),
                           [](std::complex<double> z) { return std::complex<float>(z); });
    return out;
  }
  const auto from = literal.data<double>();
  visit_storage(declared.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (requires(double x) { static_cast<T>(x); })
      std::ranges::transform(from, out.mutable_data<T>().begin(),
                             [](double x) { return static_cast<T>(x); });
  });
  return out;
}

Result<void> run_supplied(const CustomCallFunction& function,
                          const CustomCallArguments& arguments) {
  try {
    return function(arguments);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return fail(ErrorKind::Evaluation, "the function of custom call '{}' has thrown: {}",
                arguments.target, error.what());
  }
}

// A leaf of a user's result, in its final memory where that is given: where the call declares that
// it stands in place of an operand, the two are then one.
Literal make_result(const Call& call, const Shape& leaf, size_t i) {
  if (!leaf.is_array()) return Literal::token();
  if (i >= call.into.size() || leaf.has_dynamic_dims()) return call.make_held(leaf);
  return Literal::view(leaf, Bytes(call.into[i].get(), [](std::byte*) {}));
}

// A user's function sees values in the declared types, and gives them so.
Result<Literal> call_supplied(Call& call, const CustomCallFunction& function) {
  const CustomCallAttributes& attributes = call.attributes<CustomCallAttributes>();
  Steps steps(call);
  std::vector<Literal> operands, results;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const Shape& declared = call.module.shape(call.module.operand(call.id, i));
    for_each_leaf(from_held(call.operands[i], declared),
                  [&](const Literal& leaf) { operands.push_back(leaf); });
  }
  for_each_leaf(call.shape(), [&](const Shape& leaf, std::span<const int64_t>) {
    results.push_back(make_result(call, leaf, results.size()));
  });
  const CustomCallArguments arguments{operands,
                                      results,
                                      call.module.extra(call.instruction).backend_config,
                                      attributes.custom_call_target,
                                      &call.module,
                                      &call.instruction};
  if (auto done = run_supplied(function, arguments); !done)
    return call.error(done.error().kind, done.error().message);
  size_t next = 0;
  std::string fault;
  for_each_leaf(call.shape(), [&](const Shape& leaf, std::span<const int64_t>) {
    if (const std::string one = literal_fault(results[next++], leaf); fault.empty() && !one.empty())
      fault = fmt::format("its function must give {}, and gave {}", to_string_without_layout(leaf),
                          one);
  });
  if (!fault.empty()) return call.error(ErrorKind::Evaluation, fault);
  next = 0;
  return to_held(assemble(call.shape(), results, next), call.ideal());
}

}  // namespace

Literal assemble(const Shape& shape, std::span<const Literal> leaves, size_t& next) {
  if (!shape.is_tuple()) return leaves[next++];
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) elements.push_back(assemble(element, leaves, next));
  return Literal::tuple(std::move(elements));
}

std::span<const CustomCallInfo> known_custom_calls() {
  static const auto infos = [] {
    std::array<CustomCallInfo, std::size(known)> out;
    std::ranges::transform(known, out.begin(), &Known::info);
    return out;
  }();
  return infos;
}

const CustomCallInfo* find_custom_call(std::string_view target) {
  const Known* one = find_known(target);
  return one ? &one->info : nullptr;
}

std::string unknown_custom_call(const Module& module, InstructionId id) {
  const std::string& target = module.attributes<CustomCallAttributes>(id).custom_call_target;
  const auto operands = module.operands(id);
  const bool may_be_operand =
      !operands.empty() && same_dims(module.shape(operands[0]), module.shape(id));
  return fmt::format(
      "no custom call '{}' is known; supply it with --custom-call '{}=lib.so', or {}take zeros for "
      "it with --custom-call '{}=zeros'",
      target, target,
      may_be_operand ? fmt::format("pass its operand on with '{}=operand', or ", target) : "",
      target);
}

Routine routine_CustomCall(const RoutineCall& call) {
  const std::string& target = call.attributes<CustomCallAttributes>().custom_call_target;
  const Known* one = find_known(target);
  if (!one || call.options.custom_calls.contains(target)) return {};
  if (one->prepare) return lapack_routine(call, one->prepare);
  return one->routine ? one->routine(call) : Routine();
}

Result<Literal> evaluate_CustomCall(Call& call) {
  const std::string& target = call.attributes<CustomCallAttributes>().custom_call_target;
  const auto& supplied = call.options().custom_calls;
  if (auto found = supplied.find(target); found != supplied.end())
    return call_supplied(call, found->second);
  if (const Known* one = find_known(target))
    return one->prepare ? evaluate_lapack(call, one->prepare) : one->function(call);
  return call.error(ErrorKind::Unsupported, unknown_custom_call(call.module, call.id));
}

}  // namespace hilo
