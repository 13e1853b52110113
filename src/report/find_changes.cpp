// What two counterparts have otherwise, as text. Left out are names, metadata and the numbers of
// channels, which compilers give out anew, and called computations, which are compared themselves.
#include <fmt/ranges.h>

#include <algorithm>

#include "report/comparison_parts.h"
#include "text/text.h"

namespace hilo {
namespace {

// "dimensions={0,1}" and the like of an instruction's text, by name: what stands after its
// operands.
std::map<std::string, std::string> attributes_of_text(const std::string& text) {
  std::map<std::string, std::string> out;
  int depth = 0;
  bool quoted = false;
  std::vector<std::string> fields(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && (c == '{' || c == '(' || c == '[')) ++depth;
    if (!quoted && (c == '}' || c == ')' || c == ']')) --depth;
    if (c == ',' && depth == 0 && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  for (size_t i = 1; i < fields.size(); ++i)  // the first is name, shape, op and operands
    if (const size_t equals = fields[i].find('='); equals != std::string::npos && equals > 1)
      out[fields[i].substr(1, equals - 1)] = fields[i].substr(equals + 1);
  return out;
}

std::map<std::string, std::string> attributes_of(const Module& module, InstructionId id) {
  PrintStyle style = PrintStyle::compact();
  style.backend_config = false;
  style.large_constants = false;
  return attributes_of_text(print(module, id, style));
}

// Computations are compared themselves, and the numbers of channels say nothing.
template <class T>
bool is_compared(std::string_view name) {
  return !std::is_same_v<T, ComputationId> && !std::is_same_v<T, std::vector<ComputationId>> &&
         name != "channel_id";
}

// The names of the attributes that two instructions of one op have otherwise.
std::vector<std::string_view> other_fields(const Module& a, InstructionId x, const Module& b,
                                           InstructionId y) {
  std::vector<std::string_view> out;
  if (!a[x].attributes || !b[y].attributes) return out;
  visit_attributes_type(a[x].op, [&]<class A>(std::type_identity<A>) {
    const A &left = a.attributes<A>(x), &right = b.attributes<A>(y);
    const auto compare = [&]<class T>(const Field<A, T>& field) {
      if (is_compared<T>(field.name) && left.*field.member != right.*field.member)
        out.push_back(field.name);
    };
    std::apply([&](const auto&... field) { (compare(field), ...); }, A::fields());
    (void)compare;
  });
  return out;
}

// Memory spaces of the leaves that have another than 0.
std::string spaces_text(const Shape& shape) {
  std::vector<int64_t> spaces;
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    spaces.push_back(leaf.has_layout ? leaf.layout.memory_space : 0);
  });
  return fmt::format("{}", fmt::join(spaces, ","));
}

// But for memory spaces. A shape without a layout says nothing.
bool have_one_layout(const Shape& a, const Shape& b) {
  if (a.has_layout && b.has_layout) {
    Layout left = a.layout, right = b.layout;
    left.memory_space = right.memory_space = 0;
    if (left != right) return false;
  }
  return std::ranges::equal(a.elements, b.elements, have_one_layout);
}

std::string literal_text(const LiteralRef& ref) {
  constexpr int64_t shown = 8;  // elements
  if (!ref.literal) return "none";
  if (!ref.literal->shape().is_array() || ref.literal->count() > shown) return "{...}";
  return print(*ref.literal);
}

}  // namespace

std::vector<InstructionId> fusions_of(const Module& module) {
  std::vector<InstructionId> out(module.computations.size());
  for (uint32_t i = 0; i < module.instructions.size(); ++i)
    if (module.instructions[i].op == Op::Fusion && !module.instructions[i].removed)
      for (const ComputationId called : module.called(module.instructions[i]))
        out[called.value] = {i};
  return out;
}

ChangeFinder::ChangeFinder(const Module& a, const Module& b, const Matching& matching)
    : a_(a), b_(b), matching_(matching), fusions_a_(fusions_of(a)), fusions_b_(fusions_of(b)) {}

std::vector<Difference> ChangeFinder::find(InstructionId x, InstructionId y) const {
  std::vector<Difference> out;
  add_shape(x, y, out);
  add_attributes(x, y, out);
  add_constant(x, y, out);
  if (matching_.takes_others[x.value]) add_operands(x, y, out);
  add_extras(x, y, out);
  add_fusion(x, y, out);
  return out;
}

void ChangeFinder::add_shape(InstructionId x, InstructionId y, std::vector<Difference>& out) const {
  const Shape &before = a_.shape(x), &after = b_.shape(y);
  if (before == after) return;
  if (!same_dims(before, after))
    return out.push_back({"shape", to_string(before), to_string(after)}), void();
  if (!have_one_layout(before, after))
    out.push_back({"layout", to_string(before), to_string(after)});
  else if (spaces_text(before) != spaces_text(after))
    out.push_back({"memory space", spaces_text(before), spaces_text(after)});
}

// Of fields that differ, the texts. Some stand among the operands or under another name: those are
// only named.
void ChangeFinder::add_attributes(InstructionId x, InstructionId y,
                                  std::vector<Difference>& out) const {
  const std::vector<std::string_view> names = other_fields(a_, x, b_, y);
  if (names.empty()) return;
  const auto texts_a = attributes_of(a_, x), texts_b = attributes_of(b_, y);
  const auto text = [](const std::map<std::string, std::string>& texts, std::string_view name) {
    const auto found = texts.find(std::string(name));
    return found == texts.end() ? std::string() : found->second;
  };
  for (const std::string_view name : names)
    out.push_back({std::string(name), text(texts_a, name), text(texts_b, name)});
}

void ChangeFinder::add_constant(InstructionId x, InstructionId y,
                                std::vector<Difference>& out) const {
  if (a_[x].op != Op::Constant || !same_dims(a_.shape(x), b_.shape(y))) return;
  const LiteralRef& before = a_.attributes<ConstantAttributes>(x).literal;
  const LiteralRef& after = b_.attributes<ConstantAttributes>(y).literal;
  if (before != after) out.push_back({"constant", literal_text(before), literal_text(after)});
}

void ChangeFinder::add_operands(InstructionId x, InstructionId y,
                                std::vector<Difference>& out) const {
  const auto left = a_.operands(x), right = b_.operands(y);
  std::vector<std::string_view> from, to;
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const bool is_same =
        i < left.size() && i < right.size() && matching_.in_b[left[i].value] == right[i];
    if (is_same) continue;
    if (i < left.size()) from.push_back(a_[left[i]].name);
    if (i < right.size()) to.push_back(b_[right[i]].name);
  }
  out.push_back({"operands", fmt::format("{}", fmt::join(from, ", ")),
                 fmt::format("{}", fmt::join(to, ", "))});
}

void ChangeFinder::add_extras(InstructionId x, InstructionId y,
                              std::vector<Difference>& out) const {
  const Extra &before = a_.extra(a_[x]), &after = b_.extra(b_[y]);
  const auto text = [](const auto& sharding) { return sharding ? print(*sharding) : ""; };
  if (!before.sharding != !after.sharding ||
      (before.sharding && *before.sharding != *after.sharding))
    out.push_back({"sharding", text(before.sharding), text(after.sharding)});
  if (before.backend_config != after.backend_config)
    out.push_back(
        {"backend config", std::string(before.backend_config), std::string(after.backend_config)});
  if (before.frontend_attributes != after.frontend_attributes) {
    const auto list = [](const FrontendAttributes& attributes) {
      std::string all;
      for (const auto& [key, value] : attributes)
        all += fmt::format("{}{}={}", all.empty() ? "" : ",", key, value.text);
      return all;
    };
    out.push_back(
        {"frontend attributes", list(before.frontend_attributes), list(after.frontend_attributes)});
  }
}

void ChangeFinder::add_fusion(InstructionId x, InstructionId y,
                              std::vector<Difference>& out) const {
  const ComputationId in_a = a_[x].computation, in_b = b_[y].computation;
  if (matching_.computations_in_b[in_a.value] == in_b) return;
  const auto stands_in = [](const Module& module, const std::vector<InstructionId>& fusions,
                            ComputationId computation) {
    const InstructionId fusion = fusions[computation.value];
    return std::string(fusion ? module[fusion].name : module[computation].name);
  };
  out.push_back({"fusion", stands_in(a_, fusions_a_, in_a), stands_in(b_, fusions_b_, in_b)});
}

}  // namespace hilo
