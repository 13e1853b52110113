#include "pass/shard/manual_axes.h"

#include <algorithm>

#include "pass/shard/sharding_text.h"

namespace hilo {

class ManualAxesFinder {
 public:
  ManualAxesFinder(const Module& module, const GivenShardings& given)
      : module_(module), given_(given), base_(module.computations.size(), 0) {
    out_.numbers_.resize(module.instructions.size());
    is_neutral_.resize(module.instructions.size());
  }

  Result<ManualAxes> run() {
    if (!has_regions()) return std::move(out_);
    for (ComputationId computation : given_.computations) {
      const std::vector<InstructionId> order = operands_first(module_, computation);
      for (InstructionId id : order)
        if (auto done = visit(id); !done) return fault_at(module_, id, std::move(done).error());
      for (auto id = order.rbegin(); id != order.rend(); ++id) take_from_users(*id);
      for (InstructionId id : order)
        for (ComputationId callee : module_.called(module_[id]))
          base_[callee.value] = out_.numbers_[id.value];
    }
    HILO_DO(check_results());
    return std::move(out_);
  }

 private:
  bool has_regions() const {
    const auto is_manual = [](const auto& leaf) { return leaf && !leaf->manual.empty(); };
    return !given_.region_axes.empty() ||
           std::ranges::any_of(
               given_.of,
               [&](const auto& leaves) { return std::ranges::any_of(leaves, is_manual); },
               [](const auto& said) -> const auto& { return said.second; }) ||
           std::ranges::any_of(given_.computations, [&](ComputationId computation) {
             return std::ranges::any_of(module_[computation].instructions, [&](InstructionId id) {
               return is_call_of(module_, id, "SPMDShardToFullShape");
             });
           });
  }

  uint32_t number_of(SubAxes axes) {
    std::ranges::sort(axes);
    axes = merge_axes(axes);
    const auto found = std::ranges::find(out_.lists_, axes);
    if (found == out_.lists_.end()) out_.lists_.push_back(std::move(axes));
    else return static_cast<uint32_t>(found - out_.lists_.begin());
    return static_cast<uint32_t>(out_.lists_.size() - 1);
  }

  uint32_t joined(uint32_t a, uint32_t b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    return number_of(with(out_.lists_[a], out_.lists_[b]));
  }
  SubAxes with(const SubAxes& a, const SubAxes& b) const {
    SubAxes out = a;
    for (const SubAxis& axis : axes_outside(*given_.mesh, b, a)) out.push_back(axis);
    return out;
  }

  uint32_t given_axes(InstructionId id) {
    const auto found = given_.of.find(id);
    uint32_t out = 0;
    if (found == given_.of.end()) return out;
    for (const auto& leaf : found->second)
      if (leaf && !leaf->manual.empty() && *leaf->mesh == *given_.mesh)
        out = joined(out, number_of(leaf->manual));
    return out;
  }

  Result<void> visit(InstructionId id) {
    const uint32_t base = base_[module_[id].computation.value];
    uint32_t number = base;
    bool is_neutral = module_[id].op != Op::Parameter;
    if (is_results(id)) return {};
    HILO_DO(check_sides(id));
    for (InstructionId operand : module_.operands(id)) {
      number = joined(number, out_.numbers_[operand.value]);
      is_neutral &= is_neutral_[operand.value];
    }
    if (is_call_of(module_, id, "SPMDShardToFullShape")) {
      HILO_TRY(number, behind_region(id, number));
      is_neutral = false;
    } else {
      const uint32_t own = begun_axes(id);
      is_neutral &= own == 0;
      number = joined(number, own);
    }
    out_.numbers_[id.value] = number;
    is_neutral_[id.value] = is_neutral;
    return {};
  }

  // The tuple of the program's results, which stands outside of all regions, as they must.
  bool is_results(InstructionId id) const {
    return module_[id].op == Op::Tuple && module_[module_.entry].root == id;
  }
  // Arrays meet in one region, or outside of all. Scalars, and what depends on constants alone, are
  // the same on both sides of a border; results of the program stand beside each other.
  Result<void> check_sides(InstructionId id) const {
    InstructionId first;
    for (InstructionId operand : module_.operands(id)) {
      if (is_neutral_[operand.value] || !has_dims(module_.shape(operand))) continue;
      if (!first) first = operand;
      if (out_.numbers_[operand.value] != out_.numbers_[first.value])
        return fail(ErrorKind::Structure,
                    "expected a border of a manual region between '{}', {} with manual {}, and "
                    "'{}', {} with manual {}",
                    module_[first].name, said_of(first),
                    list_text(*given_.mesh, out_.lists_[out_.numbers_[first.value]]),
                    module_[operand].name, said_of(operand),
                    list_text(*given_.mesh, out_.lists_[out_.numbers_[operand.value]]));
    }
    return {};
  }
  // Callers take results for whole arrays, or for tiles of one.
  Result<void> check_results() const {
    const InstructionId root = module_[module_.entry].root;
    std::vector<InstructionId> values = {root};
    if (module_[root].op == Op::Tuple)
      values.assign(module_.operands(root).begin(), module_.operands(root).end());
    size_t leaf = 0;
    for (InstructionId value : values)
      for (int64_t count = leaf_count(module_.shape(value)); count > 0; --count)
        HILO_DO(check_result(root, value, leaf++));
    return {};
  }
  Result<void> check_result(InstructionId root, InstructionId value, size_t leaf) const {
    const AxisSharding* const said = given_.find(root, leaf);
    const bool is_said = said && !said->manual.empty();
    const SubAxes& manual = is_said ? said->manual : out_.lists_[out_.numbers_[value.value]];
    const bool is_alike = is_neutral_[value.value] || !has_dims(module_.shape(value));
    const bool has_values = has_arrays(module_.shape(value));
    if (manual.empty() || !has_values || (is_alike && !is_said)) return {};
    return fault_at(
        module_, root,
        fail(ErrorKind::Structure,
             "expected the end of a manual region between '{}' with manual {} and the program's "
             "result, {} {}",
             module_[value].name, list_text(is_said ? *said->mesh : *given_.mesh, manual),
             to_string_without_layout(module_.shape(value)),
             is_said ? quoted_sharding(print(tile_sharding(*said)))
             : said  ? axes_text(*said)
                     : "of no sharding")
            .error());
  }
  // Tokens have no value that could differ.
  static bool has_arrays(const Shape& shape) {
    return shape.is_array() || std::ranges::any_of(shape.elements, has_arrays);
  }
  static bool has_dims(const Shape& shape) {
    return !shape.dims.empty() || std::ranges::any_of(shape.elements, has_dims);
  }
  std::string said_of(InstructionId id) const {
    const AxisSharding* const said = given_.find(id);
    const auto& stated = module_.extra(module_[id]).sharding;
    return fmt::format("{} {}", to_string_without_layout(module_.shape(id)),
                       said     ? axes_text(*said)
                       : stated ? print(*stated)
                                : "of no sharding");
  }

  uint32_t begun_axes(InstructionId id) {
    const auto axes = given_.region_axes.find(id);
    return axes == given_.region_axes.end() ? given_axes(id) : number_of(axes->second);
  }

  Result<uint32_t> behind_region(InstructionId id, uint32_t inside) {
    const SubAxes before = out_.lists_[inside];
    const auto axes = given_.region_axes.find(id);
    const SubAxes after = axes == given_.region_axes.end()
                              ? out_.lists_[given_axes(id)]
                              : axes_outside(*given_.mesh, before, axes->second);
    const SubAxes ended = axes_outside(*given_.mesh, before, after);
    if (ended.empty() || !axes_outside(*given_.mesh, after, before).empty())
      return fail(ErrorKind::Structure,
                  "a manual region ends here that has not begun: the manual axes are {} before and "
                  "{} afterwards",
                  list_text(*given_.mesh, before), list_text(*given_.mesh, after));
    return number_of(after);
  }

  // Constants are where they are used; what enters a region is outside of it.
  void take_from_users(InstructionId id) {
    if (!is_neutral_[id.value]) return;
    for (InstructionId user : module_.users(id))
      if (module_[user].computation == module_[id].computation &&
          !is_call_of(module_, user, "SPMDFullToShardShape"))
        out_.numbers_[id.value] = joined(out_.numbers_[id.value], out_.numbers_[user.value]);
  }

  const Module& module_;
  const GivenShardings& given_;
  std::vector<uint32_t> base_;    // by computation
  std::vector<bool> is_neutral_;  // by instruction: depends on constants alone
  ManualAxes out_;
};

Result<ManualAxes> find_manual_axes(const Module& module, const GivenShardings& given) {
  return ManualAxesFinder(module, given).run();
}

}  // namespace hilo
