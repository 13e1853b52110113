#include "pjrt/ffi_layouts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "pjrt/buffer.h"

namespace hilo::pjrt {
namespace {

Dims order_of(const Shape& shape) {
  const bool is_plain = !shape.is_array() || !shape.has_layout || shape.layout.is_descending();
  return is_plain ? Dims() : shape.layout.minor_to_major;
}

std::vector<Dims> orders_of_leaves(const Shape& shape) {
  std::vector<Dims> out;
  for_each_leaf(
      shape, [&](const Shape& leaf, std::span<const int64_t>) { out.push_back(order_of(leaf)); });
  return out;
}

CallLayouts layouts_of(const Module& module, InstructionId id) {
  const auto& attributes = module.attributes<CustomCallAttributes>(id);
  CallLayouts out{attributes.custom_call_target, {}, orders_of_leaves(module.shape(id))};
  if (attributes.operand_layout_constraints)
    for (const Shape& operand : *attributes.operand_layout_constraints)
      std::ranges::copy(orders_of_leaves(operand), std::back_inserter(out.operands));
  return out;
}

std::string name_of(const CallLayouts& layouts) {
  const auto list = [](const std::vector<Dims>& orders) {
    std::vector<std::string> texts;
    for (const Dims& order : orders) texts.push_back(fmt::format("{{{}}}", fmt::join(order, ",")));
    return fmt::format("({})", fmt::join(texts, ","));
  };
  return layouts.target + list(layouts.operands) + "->" + list(layouts.results);
}

bool are_plain(const std::vector<Dims>& orders) {
  return std::ranges::all_of(orders, &Dims::empty);
}

Dims strides_in(const Shape& shape, const Dims& order) {
  Dims out(shape.dims.size());
  int64_t stride = storage_bytes(shape.type);
  for (int64_t dim : order) {
    out[static_cast<size_t>(dim)] = stride;
    stride *= shape.dims[static_cast<size_t>(dim)];
  }
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

LaidOutCalls name_laid_out_calls(Module& module,
                                 const std::map<std::string, CustomCallFunction>& functions) {
  LaidOutCalls out;
  for (uint32_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{i};
    if (module[id].removed || module[id].op != Op::CustomCall) continue;
    CallLayouts layouts = layouts_of(module, id);
    if (!functions.contains(layouts.target)) continue;
    if (are_plain(layouts.operands) && are_plain(layouts.results)) continue;
    std::string name = name_of(layouts);
    module.mutable_attributes<CustomCallAttributes>(id).custom_call_target = name;
    out.emplace(std::move(name), std::move(layouts));
  }
  return out;
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
