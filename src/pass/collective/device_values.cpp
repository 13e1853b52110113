#include "pass/collective/device_values.h"

#include <algorithm>
#include <unordered_set>

#include "eval/eval.h"
#include "pass/control/loop.h"

namespace hilo {
namespace {

// Values with more elements are no numbers of devices, nor tables of such.
int64_t max_elements(int64_t devices) { return std::max<int64_t>(64, 8 * devices); }

bool is_device_number(Op op) { return op == Op::PartitionId || op == Op::ReplicaId; }

// Copies instructions into a module of their own, once for each device where they differ by device,
// with the device's numbers and what is known of it as constants.
class Extract {
 public:
  Extract(const Module& from, int64_t devices)
      : from_(from), devices_(static_cast<size_t>(devices)) {
    out_.entry = out_.add_computation("entry");
  }

  // One literal for each device.
  void add_known(InstructionId id, const std::vector<Literal>& values) {
    std::vector<InstructionId>& copies = copies_[id.value];
    for (const Literal& value : values)
      copies.push_back(out_.add_instruction(
          out_.entry, Op::Constant, value.shape(), {},
          ConstantAttributes{{std::make_shared<const Literal>(value), false}}));
  }

  void add(InstructionId id) {
    const auto operands = from_.operands(id);
    const bool differs = std::ranges::any_of(
        operands, [&](InstructionId operand) { return copies_.at(operand.value).size() > 1; });
    std::vector<InstructionId> copies;
    for (size_t device = 0; device < (differs ? devices_ : 1); ++device) {
      std::vector<InstructionId> mine;
      for (InstructionId operand : operands) mine.push_back(copy(operand, device));
      const InstructionId one =
          out_.add_instruction(out_.entry, from_[id].op, from_.shape(id), mine);
      visit_attributes_type(from_[id].op, [&]<class A>(std::type_identity<A>) {
        out_.mutable_attributes<A>(one) = from_.attributes<A>(id);
      });
      copies.push_back(one);
    }
    copies_[id.value] = std::move(copies);
  }

  // Of each of these, for each device: element number * devices + device.
  Result<Literal> evaluate(std::span<const InstructionId> results) {
    std::vector<InstructionId> operands;
    std::vector<Shape> shapes;
    for (InstructionId result : results)
      for (size_t device = 0; device < devices_; ++device) {
        operands.push_back(copy(result, device));
        shapes.push_back(from_.shape(result));
      }
    out_[out_.entry].root =
        out_.add_instruction(out_.entry, Op::Tuple, Shape::tuple(std::move(shapes)), operands);
    EvalOptions options;
    options.threads = 1;
    options.is_verified = true;
    return evaluate_computation(out_, out_.entry, {}, options);
  }

 private:
  InstructionId copy(InstructionId id, size_t device) const {
    const std::vector<InstructionId>& copies = copies_.at(id.value);
    return copies[copies.size() > 1 ? device : 0];
  }

  const Module& from_;
  size_t devices_;
  Module out_;
  std::unordered_map<uint32_t, std::vector<InstructionId>> copies_;  // one, or one a device
};

}  // namespace

DeviceValues::DeviceValues(const Editor& editor, int64_t devices)
    : editor_(editor),
      module_(editor.module()),
      devices_(devices),
      partitions_(devices / std::max<int64_t>(1, module_.header.replica_count)),
      known_(module_.instructions.size()) {
  if (devices_ < 2) return;
  for (const Loop& loop : find_loops(editor)) {
    const Elements elements = elements_of(module_, loop.body_state);
    for (size_t i = 0; i < loop.size; ++i)
      if (is_invariant(module_, loop, i) && initial_element(module_, loop, i))
        for (InstructionId element : elements.by_index[i])
          initial_[element.value] = initial_element(module_, loop, i);
  }
  std::vector<ComputationId> order = open_computations(module_);
  for (size_t i = order.size(); i-- > 0;) {  // callers before callees
    find_known(order[i]);
    evaluate_starts(order[i]);
  }
}

const Dims* DeviceValues::of(InstructionId scalar) const {
  const auto found = starts_.find(scalar.value);
  return found == starts_.end() ? nullptr : &found->second;
}

// A loop's element whose initial value has been evaluated.
bool DeviceValues::enters(InstructionId element) const {
  const auto found = initial_.find(element.value);
  return found != initial_.end() && values_.contains(found->second.value);
}

void DeviceValues::find_known(ComputationId id) {
  for (InstructionId one : operands_first(module_, id)) {
    const Instruction& instruction = module_[one];
    const Shape& shape = module_.shape(one);
    const Op op = instruction.op;
    if (!shape.is_array() || !is_static(shape) || element_count(shape) > max_elements(devices_) ||
        is_floating(shape.type) || is_complex(shape.type) || op == Op::Parameter)
      continue;
    if (is_device_number(op) || enters(one) || constant_of(module_, one)) {
      known_[one.value] = true;
      continue;
    }
    if (op == Op::Constant || has_trait(op, TraitNotFolded) || is_communication(op) ||
        !module_.called(instruction).empty() || (instruction.operand_count == 0 && op != Op::Iota))
      continue;
    known_[one.value] = std::ranges::all_of(
        module_.operands(one), [&](InstructionId operand) { return is_known(operand); });
  }
}

// What starts slices, and what loops are entered with.
std::vector<InstructionId> DeviceValues::find_wanted(ComputationId id) const {
  std::vector<InstructionId> out;
  std::unordered_set<uint32_t> seen;
  const auto want = [&](InstructionId value) {
    if (is_known(value) && seen.insert(value.value).second) out.push_back(value);
  };
  for (InstructionId one : module_[id].instructions) {
    const Instruction& instruction = module_[one];
    if (instruction.removed) continue;
    const auto operands = module_.operands(one);
    const size_t first = instruction.op == Op::DynamicSlice         ? 1
                         : instruction.op == Op::DynamicUpdateSlice ? 2
                                                                    : operands.size();
    for (size_t i = first; i < operands.size(); ++i)
      if (module_.shape(operands[i]).is_scalar()) want(operands[i]);
    if (instruction.op == Op::While && module_[operands[0]].op == Op::Tuple)
      for (InstructionId element : module_.operands(operands[0])) want(element);
  }
  return out;
}

void DeviceValues::evaluate_starts(ComputationId id) {
  const std::vector<InstructionId> wanted = find_wanted(id);
  if (wanted.empty()) return;
  std::unordered_set<uint32_t> needed;
  for (InstructionId one : wanted) needed.insert(one.value);
  const std::vector<InstructionId> order = operands_first(module_, id);
  for (size_t i = order.size(); i-- > 0;)
    if (needed.contains(order[i].value) && !enters(order[i]))
      for (InstructionId operand : module_.operands(order[i])) needed.insert(operand.value);
  Extract extract(module_, devices_);
  for (InstructionId one : order) {
    if (!needed.contains(one.value)) continue;
    if (is_device_number(module_[one].op)) extract.add_known(one, numbers(module_[one].op));
    else if (enters(one)) extract.add_known(one, values_.at(initial_.at(one.value).value));
    else extract.add(one);
  }
  const auto result = extract.evaluate(wanted);
  if (!result) return;
  for (size_t i = 0; i < wanted.size(); ++i)
    for (int64_t device = 0; device < devices_; ++device) {
      const Literal& value =
          result->elements()[i * static_cast<size_t>(devices_) + static_cast<size_t>(device)];
      values_[wanted[i].value].push_back(value);
      if (value.shape().is_scalar() && value.type() != ElementType::Pred)
        starts_[wanted[i].value].push_back(value.integer_at(0));
    }
}

DeviceValues::Values DeviceValues::numbers(Op op) const {
  Values out;
  for (int64_t device = 0; device < devices_; ++device)
    out.push_back(Literal::scalar<uint32_t>(static_cast<uint32_t>(
        op == Op::PartitionId ? device % partitions_ : device / partitions_)));
  return out;
}

std::optional<DeviceSlice> device_slice(const Module& module, InstructionId id,
                                        const DeviceValues& values) {
  const Instruction& slice = module[id];
  if (slice.op != Op::DynamicSlice && slice.op != Op::Slice) return std::nullopt;
  const Shape& from = module.shape(module.operand(id, 0));
  if (!is_static(from)) return std::nullopt;
  const auto devices = static_cast<size_t>(values.devices());
  DeviceSlice out{module.shape(id).dims, std::vector<Dims>(from.dims.size())};
  if (slice.op == Op::Slice) {
    const auto& dims = module.attributes<SliceAttributes>(id).slice.dims;
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      if (dims[dim].stride != 1) return std::nullopt;
      out.starts[dim].assign(devices, dims[dim].start);
    }
    return out;
  }
  if (slice.operand_count != 1 + from.dims.size()) return std::nullopt;
  for (size_t dim = 0; dim < from.dims.size(); ++dim) {
    if (out.is_whole(dim, from)) out.starts[dim].assign(devices, 0);
    else if (const Dims* known = values.of(module.operand(id, 1 + dim))) out.starts[dim] = *known;
    for (int64_t& start : out.starts[dim])
      start = std::clamp<int64_t>(start, 0, from.dims[dim] - out.sizes[dim]);
  }
  return out;
}

}  // namespace hilo
