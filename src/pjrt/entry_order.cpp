#include "pjrt/entry_order.h"

#include <algorithm>
#include <numeric>

#include "eval/eval.h"
#include "pjrt/buffer.h"

namespace hilo::pjrt {
namespace {

// Calls that say where a value is, and give it as it is. One that says how it lies decides that.
bool is_annotation(const Module& module, InstructionId id) {
  if (module[id].op != Op::CustomCall) return false;
  const std::string& target = module.attributes<CustomCallAttributes>(id).custom_call_target;
  const CustomCallInfo* known = find_custom_call(target);
  return known && target != "LayoutConstraint" &&
         (known->family == "sharding" || known->family == "placement") &&
         same_dims(module.shape(module.operand(id, 0)), module.shape(id));
}

// The operand whose elements an elementwise value has in its order; those of broadcasts have none.
std::optional<InstructionId> ordered_operand(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  if (op != Op::Copy && op != Op::Transpose && !is_elementwise(op) && !is_annotation(module, id))
    return std::nullopt;
  for (InstructionId operand : module.operands(id))
    if (const Op from = module[operand].op; from != Op::Broadcast && from != Op::Constant)
      return operand;
  return std::nullopt;
}

class Settler {
 public:
  Settler(Module& module, const CompileSettings& settings) : module_(module), settings_(settings) {}

  void run() {
    const Computation& entry = module_[module_.entry];
    auto& stated = module_.header.entry_computation_layout;
    if (!stated) {
      stated.emplace();
      for (InstructionId id : entry.parameters) stated->parameters.push_back(module_.shape(id));
      stated->result = module_.shape(entry.root);
    }
    for (size_t i = 0; i < stated->parameters.size(); ++i)
      settle(stated->parameters[i], settings_.argument_orders, i, std::nullopt);
    if (!stated->result.is_tuple())
      return settle(stated->result, settings_.result_orders, 0, entry.root);
    for (size_t i = 0; i < stated->result.elements.size(); ++i)
      settle(stated->result.elements[i], settings_.result_orders, i, element(entry.root, i));
  }

 private:
  std::optional<InstructionId> element(InstructionId root, size_t i) const {
    if (module_[root].op != Op::Tuple) return std::nullopt;
    return module_.operand(root, i);
  }

  void settle(Shape& shape, const std::vector<Dims>& orders, size_t i,
              std::optional<InstructionId> value) const {
    if (!shape.is_array()) return;
    const bool is_free = !shape.has_layout;
    if (is_free) shape.layout = Layout::descending(shape.dims.size());
    shape.has_layout = true;
    if (!shape.layout.is_descending()) return;
    Shape wanted = shape;
    if (is_free && value) wanted.layout.minor_to_major = free_order(*value);
    else if (i < orders.size() && !orders[i].empty()) wanted.layout.minor_to_major = orders[i];
    if (layout_fault(wanted).empty()) shape = std::move(wanted);
  }

  // The order in which a value comes where nothing is moved for it.
  Dims free_order(InstructionId value) const {
    Dims dims(module_.shape(value).dims.size());  // of the value followed so far, by ours
    std::iota(dims.begin(), dims.end(), 0);
    while (const auto operand = ordered_operand(module_, value)) {
      if (module_[value].op == Op::Transpose) {
        const Dims& from = module_.attributes<DimensionsAttributes>(value).dimensions;
        for (int64_t& dim : dims) dim = from[static_cast<size_t>(dim)];
      }
      value = *operand;
    }
    Dims out;
    for (int64_t inner : layout_of_value(value).minor_to_major)
      out.push_back(std::ranges::find(dims, inner) - dims.begin());
    return out;
  }

  Layout layout_of_value(InstructionId value) const {
    const auto& parameters = module_[module_.entry].parameters;
    const auto found = std::ranges::find(parameters, value);
    const auto number = static_cast<size_t>(found - parameters.begin());
    const Shape& shape = found == parameters.end()
                             ? module_.shape(value)
                             : module_.header.entry_computation_layout->parameters[number];
    return shape.has_layout ? shape.layout : Layout::descending(shape.dims.size());
  }

  Module& module_;
  const CompileSettings& settings_;
};

class Orderer {
 public:
  explicit Orderer(Module& module)
      : module_(module), editor_(module), layout_(*module.header.entry_computation_layout) {}

  bool run() {
    const std::vector<InstructionId> parameters = module_[module_.entry].parameters;
    for (size_t i = 0; i < parameters.size(); ++i)
      put_parameter(parameters[i], layout_.parameters[i]);
    const InstructionId root = module_[module_.entry].root;
    if (const InstructionId ordered = in_order(root, layout_.result); ordered != root)
      editor_.set_root(module_.entry, ordered);
    if (has_changed_) part_unequal_aliases();
    return has_changed_;
  }

 private:
  void put_parameter(InstructionId id, Shape& stated) {
    const Dims order = order_of(stated);
    if (order.empty()) return;
    has_changed_ = true;
    const Shape logical = module_.shape(id);
    const std::vector<InstructionId> users = module_.users(id);
    stated = in_memory_order(stated, order);
    editor_.set_shape(id, stated);
    Dims major_to_minor(order.rbegin(), order.rend()), dimensions(order.size());
    for (size_t at = 0; at < order.size(); ++at)
      dimensions[static_cast<size_t>(major_to_minor[at])] = static_cast<int64_t>(at);
    const InstructionId value =
        editor_.add(id, Op::Transpose, Shape::array(logical.type, logical.dims), std::array{id},
                    DimensionsAttributes{std::move(dimensions)});
    for (InstructionId user : users)
      for (size_t at = 0; at < module_[user].operand_count; ++at)
        if (module_.operand(user, at) == id) editor_.set_operand(user, at, value);
    if (module_[module_.entry].root == id) editor_.set_root(module_.entry, value);
  }

  InstructionId in_order(InstructionId value, Shape& stated) {
    if (stated.is_tuple()) return tuple_in_order(value, stated);
    const Dims order = order_of(stated);
    if (order.empty()) return value;
    has_changed_ = true;
    stated = in_memory_order(stated, order);
    return editor_.add(value, Op::Transpose, stated, std::array{value},
                       DimensionsAttributes{Dims(order.rbegin(), order.rend())});
  }

  InstructionId tuple_in_order(InstructionId tuple, Shape& stated) {
    if (std::ranges::all_of(stated.elements, &Dims::empty, order_of)) return tuple;
    std::vector<InstructionId> elements;
    for (size_t i = 0; i < stated.elements.size(); ++i) {
      const InstructionId element =
          module_[tuple].op == Op::Tuple
              ? module_.operand(tuple, i)
              : editor_.add_element(tuple, tuple, static_cast<int64_t>(i));
      elements.push_back(in_order(element, stated.elements[i]));
    }
    return editor_.add_tuple(tuple, elements);
  }

  void part_unequal_aliases() {
    ModuleHeader& header = module_.header;
    std::erase_if(header.input_output_alias, [&](const BufferAlias& alias) {
      const Shape& parameter = layout_.parameters[static_cast<size_t>(alias.parameter)];
      const Shape& result =
          alias.output_index.empty()
              ? layout_.result
              : layout_.result.elements[static_cast<size_t>(alias.output_index[0])];
      if (same_dims(parameter, result)) return false;
      header.buffer_donor.push_back({alias.parameter, alias.parameter_index});
      return true;
    });
  }

  Module& module_;
  Editor editor_;
  EntryLayout& layout_;
  bool has_changed_ = false;
};

}  // namespace

void settle_layouts(Module& module, const CompileSettings& settings) {
  Settler(module, settings).run();
}

Result<bool> put_entry_in_memory_order(Module& module, const PassOptions&) {
  return Orderer(module).run();
}

}  // namespace hilo::pjrt
