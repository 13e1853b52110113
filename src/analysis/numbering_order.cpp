#include "analysis/numbering_order.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "analysis/call_graph.h"

namespace hilo {
namespace {

// Compares texts with runs of digits as numbers.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) != digit(b[j])) return digit(b[j]);  // "add.clone", "add.1.clone"
    if (!digit(a[i])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    size_t p = i, q = j;
    while (p < a.size() && digit(a[p])) ++p;
    while (q < b.size() && digit(b[q])) ++q;
    if (p - i != q - j) return p - i < q - j;
    if (const int order = a.substr(i, p - i).compare(b.substr(j, q - j))) return order < 0;
    i = p, j = q;
  }
  return a.size() - i < b.size() - j;
}

// The number N in "region_M.N", a name that JAX gives; it counts up as regions are made.
std::optional<int64_t> region_number(std::string_view name) {
  constexpr std::string_view region = "region_";
  const size_t at = name.find(region);
  if (at == std::string_view::npos) return {};
  name = name.substr(at + region.size());
  const size_t dot = name.find('.');
  int64_t out = 0;
  if (dot == std::string_view::npos ||
      std::from_chars(name.data() + dot + 1, name.data() + name.size(), out).ec != std::errc())
    return {};
  return out;
}

// The front end's regions come first, then what passes made, copies (".clone") of those, the
// reducers of split reductions last.
int age_of(std::string_view name) {
  if (name.ends_with("_sub_computation")) return 4;
  const bool is_copy = name.find(".clone") != std::string_view::npos;
  return (is_copy ? 2 : 0) + (region_number(name) ? 0 : 1);
}

bool older(std::string_view a, std::string_view b) {
  if (age_of(a) != age_of(b)) return age_of(a) < age_of(b);
  const auto x = region_number(a), y = region_number(b);
  if (x && y && *x != *y) return *x < *y;
  return natural_less(a, b);
}

// XLA keeps computations in an order in which each stands where its newest callee was made, callees
// first. Text does not tell when a computation was made; that is taken from what it is for and from
// its name: what the front end made, then fusions, then single ops wrapped as fusions, then what
// calls and asynchronous ops run.
class NumberingOrder {
 public:
  NumberingOrder(const Module& module, const std::vector<std::vector<InstructionId>>& callers,
                 std::vector<ComputationId> post_order)
      : module_(module), callers_(callers), order_(std::move(post_order)) {}

  std::vector<ComputationId> find() {
    std::vector<ComputationId> made = by_making();
    std::vector<uint32_t> times(module_.computations.size());
    for (uint32_t i = 0; i < made.size(); ++i) times[made[i].value] = i;
    for (ComputationId id : order_)  // callees first
      for (InstructionId instruction : module_[id].instructions)
        for (ComputationId callee : module_.called(module_[instruction]))
          times[id.value] = std::max(times[id.value], times[callee.value]);
    std::stable_sort(order_.begin(), order_.end(), [&](ComputationId a, ComputationId b) {
      return times[a.value] < times[b.value];
    });
    return std::move(order_);
  }

 private:
  enum class Stage : uint8_t { FrontEnd, Fused, Wrapped, Called };

  Stage stage_of(ComputationId id) const {
    const auto& callers = callers_[id.value];
    if (callers.empty()) return Stage::Called;
    const Op op = module_[callers.front()].op;
    if (op == Op::Call || op == Op::AsyncStart) return Stage::Called;
    if (op != Op::Fusion) return Stage::FrontEnd;
    return module_[id].name.starts_with("wrapped_") ? Stage::Wrapped : Stage::Fused;
  }

  std::vector<ComputationId> by_making() const {
    std::vector<Stage> stages(module_.computations.size());
    for (ComputationId id : order_) stages[id.value] = stage_of(id);
    std::vector<uint32_t> ranks(module_.computations.size());
    const std::vector<ComputationId> before = met_from_entry();
    for (uint32_t i = 0; i < before.size(); ++i) ranks[before[i].value] = i;
    std::vector<ComputationId> made = order_;
    std::stable_sort(made.begin(), made.end(), [&](ComputationId a, ComputationId b) {
      const Stage stage = stages[a.value];
      if (stage != stages[b.value]) return stage < stages[b.value];
      if (stage == Stage::FrontEnd) return older(module_[a].name, module_[b].name);
      if (stage == Stage::Fused) return natural_less(module_[a].name, module_[b].name);
      return stage == Stage::Wrapped && ranks[a.value] < ranks[b.value];
    });
    return made;
  }

  // Fusions in the order in which a walk from the entry meets them, going into what loops, branches
  // and calls run when it meets those; loops' bodies first.
  std::vector<ComputationId> met_from_entry() const {
    const auto orders = post_orders(module_, order_);
    std::vector<char> seen(module_.computations.size());
    std::vector<std::pair<ComputationId, size_t>> stack;  // with the next instruction
    std::vector<ComputationId> out;
    const auto enter = [&](ComputationId id) {
      if (!std::exchange(seen[id.value], char{1})) stack.push_back({id, 0});
    };
    enter(module_.entry);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (next == orders[id.value].size()) {
        stack.pop_back();
        continue;
      }
      const Instruction& instruction = module_[orders[id.value][next++]];
      std::vector<ComputationId> callees = module_.called(instruction);
      if (instruction.op == Op::Fusion) out.push_back(callees[0]);
      if (!calls_control_flow(instruction.op)) continue;
      if (instruction.op != Op::While) std::reverse(callees.begin(), callees.end());
      for (ComputationId callee : callees) enter(callee);  // the last one is walked first
    }
    return out;
  }

  const Module& module_;
  const std::vector<std::vector<InstructionId>>& callers_;
  std::vector<ComputationId> order_;
};

}  // namespace

std::vector<ComputationId> numbering_order(const Module& module,
                                           const std::vector<std::vector<InstructionId>>& callers,
                                           std::vector<ComputationId> post_order) {
  return NumberingOrder(module, callers, std::move(post_order)).find();
}

}  // namespace hilo
