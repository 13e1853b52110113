#include "pjrt/ffi_layouts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "pjrt/buffer.h"

namespace hilo::pjrt {
namespace {

std::vector<Dims> orders_of_leaves(const Shape& shape) {
  std::vector<Dims> out;
  for_each_leaf(
      shape, [&](const Shape& leaf, std::span<const int64_t>) { out.push_back(order_of(leaf)); });
  return out;
}

// Whether a value can have the order: the call may give other shapes than its layouts are for.
bool fits(const std::vector<Dims>& orders, size_t i, const Literal& value) {
  return i < orders.size() && !orders[i].empty() && value.shape().is_array() &&
         orders[i].size() == value.shape().dims.size();
}

Literal in_order(const Literal& value, const Dims& order) {
  Literal out = Literal::uninitialized(value.shared_shape());
  copy_strided(value.shape(), out.mutable_raw().data(), strides_in(value.shape(), order),
               value.raw().data(), dense_strides(value.shape()));
  return out;
}

}  // namespace

bool CallLayouts::are_plain() const {
  return std::ranges::all_of(operands, &Dims::empty) && std::ranges::all_of(results, &Dims::empty);
}

CallLayouts layouts_of(const Module& module, InstructionId custom_call) {
  const auto& attributes = module.attributes<CustomCallAttributes>(custom_call);
  CallLayouts out{attributes.custom_call_target, {}, orders_of_leaves(module.shape(custom_call))};
  if (attributes.operand_layout_constraints)
    for (const Shape& operand : *attributes.operand_layout_constraints)
      std::ranges::copy(orders_of_leaves(operand), std::back_inserter(out.operands));
  return out;
}

std::string name_of(const CallLayouts& layouts) {
  if (layouts.are_plain()) return layouts.target;
  const auto list = [](const std::vector<Dims>& orders) {
    std::vector<std::string> texts;
    for (const Dims& order : orders) texts.push_back(fmt::format("{{{}}}", fmt::join(order, ",")));
    return fmt::format("({})", fmt::join(texts, ","));
  };
  return layouts.target + list(layouts.operands) + "->" + list(layouts.results);
}

CustomCallFunction in_layouts(CustomCallFunction function, CallLayouts layouts) {
  return [function = std::move(function),
          layouts = std::move(layouts)](const CustomCallArguments& call) -> Result<void> {
    std::vector<Literal> operands(call.operands.begin(), call.operands.end());
    std::vector<Literal> results(call.results.begin(), call.results.end());
    for (size_t i = 0; i < operands.size(); ++i)
      if (fits(layouts.operands, i, operands[i]))
        operands[i] = in_order(operands[i], layouts.operands[i]);
    for (size_t i = 0; i < results.size(); ++i)
      if (fits(layouts.results, i, results[i]))
        results[i] = Literal::uninitialized(results[i].shared_shape());
      else call.results[i] = Literal();  // the copy is its only owner
    CustomCallArguments inner = call;
    inner.operands = operands;
    inner.results = results;
    inner.target = layouts.target;
    HILO_DO(function(inner));
    for (size_t i = 0; i < results.size(); ++i) {
      if (!fits(layouts.results, i, results[i])) {
        call.results[i] = std::move(results[i]);
        continue;
      }
      const Shape& shape = results[i].shape();
      copy_strided(shape, call.results[i].mutable_raw().data(), dense_strides(shape),
                   results[i].raw().data(), strides_in(shape, layouts.results[i]));
    }
    return {};
  };
}

}  // namespace hilo::pjrt
