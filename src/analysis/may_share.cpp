// Whether a result may be written where an operand lay: the rules of XLA's
// HloDataflowAnalysis::CanShareOperandBufferWithUser, with all uses of the operand looked at.
#include <algorithm>
#include <charconv>

#include "analysis/in_place.h"

namespace hilo {
namespace {

const Shape& part(const Shape& shape, const Dims& index) {
  const Shape* out = &shape;
  for (int64_t element : index) out = &out->elements[static_cast<size_t>(element)];
  return *out;
}

std::vector<int64_t> slots_of(const Module& module, InstructionId operand, InstructionId user) {
  std::vector<int64_t> out;
  const auto operands = module.operands(user);
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i] == operand) out.push_back(static_cast<int64_t>(i));
  return out;
}

// The same for all that is made of a value inside its computation.
bool stays_elementwise(const Module& module, InstructionId value) {
  std::vector<InstructionId> seen, waiting = {value};
  while (!waiting.empty()) {
    const InstructionId id = waiting.back();
    waiting.pop_back();
    for (InstructionId user : module.users(id)) {
      if (module[user].op != Op::Tuple && !reads_own_element(module, user, id)) return false;
      const auto at = std::lower_bound(seen.begin(), seen.end(), user);
      if (at != seen.end() && *at == user) continue;
      seen.insert(at, user);
      waiting.push_back(user);
    }
  }
  return true;
}

// A fusion ending in an addition to a product may write over what is added.
bool is_added_to_product(const Module& module, ComputationId fused, InstructionId parameter) {
  const InstructionId root = module[fused].root;
  if (module[root].op != Op::Add) return false;
  const auto is_product = [&](InstructionId id) {
    return module[id].op == Op::Dot || module[id].op == Op::Convolution;
  };
  const auto operands = module.operands(root);
  const size_t product = is_product(operands[0]) ? 0 : 1;
  return is_product(operands[product]) && operands[1 - product] == parameter &&
         operands[product] != parameter && module.users(parameter).size() == 1;
}

bool may_share_fusion(const Module& module, InstructionId operand, InstructionId user) {
  const auto& [kind, aliases, fused] = module.attributes<FusionAttributes>(user);
  for (int64_t slot : slots_of(module, operand, user)) {
    const InstructionId parameter = module[fused].parameters[static_cast<size_t>(slot)];
    if (kind == FusionKind::Loop || kind == FusionKind::Input) {
      if (!stays_elementwise(module, parameter)) return false;
    } else if (kind != FusionKind::Output || !is_added_to_product(module, fused, parameter)) {
      return false;
    }
  }
  return true;
}

bool may_share_sort(const Module& module, InstructionId operand, InstructionId user,
                    const Dims& user_index) {
  if (module.users(operand).size() != 1) return false;
  return module.operands(user).size() == 1 ||
         (!user_index.empty() && slots_of(module, operand, user) == Dims{user_index[0]});
}

// The callee's root writes over a parameter that nothing else there reads.
bool may_share_call(const Module& module, InstructionId operand, InstructionId user) {
  const ComputationId callee = module.attributes<CallAttributes>(user).to_apply;
  const InstructionId root = module[callee].root;
  const std::vector<int64_t> slots = slots_of(module, operand, user);
  if (slots.size() != 1 || module.users(operand).size() != 1) return false;
  const InstructionId parameter = module[callee].parameters[static_cast<size_t>(slots[0])];
  return module.users(parameter) == std::vector{root} && reads_own_element(module, root, parameter);
}

// {"aliasing_operands":{"lists":[{"indices":["0","12"]},...]}}: the lists, all in one pass.
std::vector<std::vector<int64_t>> aliasing_lists(std::string_view config) {
  std::vector<std::vector<int64_t>> out;
  const size_t at = config.find("\"aliasing_operands\"");
  if (at == std::string_view::npos) return out;
  const size_t first = config.find('[', at);
  int depth = 0;
  for (size_t i = first; i < config.size(); ++i) {
    if (config[i] == '[' && ++depth == 2) out.emplace_back();
    if (config[i] == ']' && --depth == 0) break;
    const bool digit = config[i] >= '0' && config[i] <= '9';
    if (!digit || depth != 2) continue;
    int64_t number = 0;
    const auto end = std::from_chars(config.data() + i, config.data() + config.size(), number).ptr;
    out.back().push_back(number);
    i = static_cast<size_t>(end - config.data()) - 1;
  }
  return out;
}

// TPU back ends say what is written over what: operands are numbered first, then the leaves of the
// result.
bool is_declared(const Module& module, InstructionId operand, InstructionId user,
                 const Dims& user_index) {
  const auto lists = aliasing_lists(module.extra(module[user]).backend_config);
  if (lists.empty()) return false;
  int64_t number = static_cast<int64_t>(module.operands(user).size()), output = -1;
  for_each_leaf(module.shape(user), [&](const Shape&, std::span<const int64_t> index) {
    if (std::ranges::equal(index, user_index)) output = number;
    ++number;
  });
  const std::vector<int64_t> slots = slots_of(module, operand, user);
  return std::any_of(lists.begin(), lists.end(), [&](const std::vector<int64_t>& list) {
    const auto holds = [&](int64_t n) {
      return std::find(list.begin(), list.end(), n) != list.end();
    };
    return holds(output) && std::any_of(slots.begin(), slots.end(), holds);
  });
}

bool must_share(const Module& module, const Aliases& aliases, InstructionId operand,
                const Dims& operand_index, InstructionId user, const Dims& user_index) {
  const auto pairs = aliases.in_place_of(user);
  return std::any_of(pairs.begin(), pairs.end(), [&](const InPlace& pair) {
    return module.operand(user, static_cast<size_t>(pair.operand)) == operand &&
           pair.operand_index == operand_index && pair.output_index == user_index;
  });
}

}  // namespace

bool may_share(const Module& module, const Aliases& aliases, InstructionId operand,
               const Dims& operand_index, InstructionId user, const Dims& user_index) {
  const Op op = module[user].op;
  if (module[operand].op == Op::Constant) return false;
  if (operand_index.empty() && is_declared(module, operand, user, user_index)) return true;
  if (part(module.shape(operand), operand_index) != part(module.shape(user), user_index))
    return false;
  if (must_share(module, aliases, operand, operand_index, user, user_index)) return true;
  if (operand_index.empty() && declares_sharing(module, operand, user, user_index)) return true;
  const std::vector<int64_t> slots = slots_of(module, operand, user);
  if (op == Op::Fusion) return may_share_fusion(module, operand, user);
  if (op == Op::While || op == Op::Conditional) return true;
  if (op == Op::DynamicUpdateSlice || op == Op::Scatter || op == Op::SetDimensionSize)
    return slots == Dims{0};
  if (op == Op::TriangularSolve) return slots == Dims{1};
  if (op == Op::Sort) return may_share_sort(module, operand, user, user_index);
  if (op == Op::Call) return may_share_call(module, operand, user);
  if (op == Op::Copy) return false;  // it is there to keep the two apart
  return reads_own_element(module, user, operand);
}

}  // namespace hilo
