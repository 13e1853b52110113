// Shardings as they are written: explicit, on every instruction.
#include <algorithm>
#include <deque>

#include "pass/shard/sharding_table.h"
#include "pass/shard/write_shardings.h"

namespace hilo {
namespace {

class ShardingWriter {
 public:
  ShardingWriter(Editor& editor, const GivenShardings& given, ShardedValues& values)
      : editor_(editor), module_(editor.module()), given_(given), values_(values) {}

  void run() {
    for (InstructionId parameter : module_[module_.entry].parameters) divide_evenly(parameter);
    divide_evenly(module_[module_.entry].root);
    merge_clones();
    for (InstructionId copy : given_.inserted) drop_copy(copy);
    module_.extras.reserve(module_.extras.size() + module_.instructions.size());
    for (ComputationId computation : given_.computations)
      for (InstructionId id : module_[computation].instructions)
        if (!module_[id].removed) write(id);
    module_.header.frontend_attributes["xla.sdy.meshes"] = {print_shardy_meshes(given_.meshes),
                                                            true};
  }

 private:
  // What the compiler chose of parameters and results of the program are tiles of equal size.
  void divide_evenly(InstructionId id) {
    size_t i = 0;
    for_each_leaf(module_.shape(id), [&](const Shape& shape, auto) {
      const size_t leaf = values_.leaf(id, i);
      AxisSharding& sharding = values_.shardings[values_.value_of[leaf]];
      const AxisSharding* const said = given_.find(id, i++);
      for (size_t d = 0; d < sharding.dims.size() && !values_.edge_of[leaf]; ++d) {
        if (!sharding.dims[d].is_open) continue;
        SubAxes even = even_axes(shape.dims[d], sharding.dims[d].axes, *sharding.mesh);
        if (said && is_prefix(even, said->dims[d].axes)) even = said->dims[d].axes;
        sharding.dims[d].axes = std::move(even);
      }
    });
  }
  // The longest list of whole axes that divides the size.
  static SubAxes even_axes(int64_t size, const SubAxes& axes, const Mesh& mesh) {
    SubAxes out;
    for (const SubAxis& axis : axes) {
      out.push_back(axis);
      if (size % axes_size(out) == 0 && axis.size == mesh.axes[axis.axis].size) continue;
      out.pop_back();
      break;
    }
    return out;
  }

  bool same_shardings(InstructionId a, InstructionId b) const {
    for (size_t i = 0; i < values_.leaf_count(a); ++i) {
      const AxisSharding of_a = values_.sharding_of(values_.leaf(a, i));
      const AxisSharding of_b = values_.sharding_of(values_.leaf(b, i));
      if (of_a == of_b) continue;
      if (*of_a.mesh != *of_b.mesh || tile_sharding(of_a) != tile_sharding(of_b)) return false;
    }
    return true;
  }

  void merge_clones() {
    std::unordered_map<InstructionId, std::vector<InstructionId>> kept;  // by original
    std::vector<InstructionId> clones;
    for (const auto& [clone, original] : given_.clones) clones.push_back(clone);
    std::ranges::sort(clones);
    for (InstructionId clone : clones) {
      std::vector<InstructionId>& others = kept[given_.clones.at(clone)];
      if (others.empty()) others.push_back(given_.clones.at(clone));
      const auto same = std::ranges::find_if(
          others, [&](InstructionId other) { return same_shardings(other, clone); });
      if (same != others.end()) editor_.replace(clone, *same);
      else others.push_back(clone);
    }
  }

  void drop_copy(InstructionId copy) {
    if (module_[copy].removed) return;
    const InstructionId operand = module_.operand(copy, 0);
    if (same_with_layout(module_.shape(copy), module_.shape(operand)) &&
        same_shardings(copy, operand)) {
      module_.replace_all_uses(copy, operand);
      module_.remove(copy);
    }
  }

  // One for all leaves of a sharding: who reads them finds those that are alike.
  const std::shared_ptr<const Sharding>& text_of(size_t leaf) {
    if (values_.edge_of[leaf]) return text_of(values_.sharding_of(leaf));
    const uint32_t value = values_.value_of[leaf];
    of_values_.resize(values_.shardings.size());
    if (!of_values_[value]) of_values_[value] = &text_of(values_.shardings[value]);
    return *of_values_[value];
  }
  const std::shared_ptr<const Sharding>& text_of(const AxisSharding& sharding) {
    const uint32_t number = table_.intern(sharding);
    texts_.resize(std::max<size_t>(texts_.size(), number + 1));
    auto& text = texts_[number];
    if (!text) text = std::make_shared<const Sharding>(tile_sharding(sharding));
    return text;
  }

  // Scalars are everywhere, and said to be so only where callers look.
  bool is_said(InstructionId id) {
    const Shape& shape = module_.shape(id);
    if (values_.leaf_count(id) == 0 || has_trait(module_[id].op, TraitEffect)) return false;
    if (shape.is_tuple() || (shape.is_array() && !shape.dims.empty())) return true;
    const bool is_entry = module_[id].computation == module_.entry;
    const bool is_seen =
        is_entry && (module_[id].op == Op::Parameter || module_[module_.entry].root == id);
    return is_seen || text_of(values_.leaf(id, 0))->kind != Sharding::Kind::Replicated;
  }

  void write(InstructionId id) {
    const bool is_said = this->is_said(id);
    if (!is_said && !module_[id].extra) return;
    Extra& extra = module_.mutable_extra(id);
    std::erase_if(extra.frontend_attributes, [](const auto& attribute) {
      return attribute.first.starts_with("xla.sdy.") && attribute.first != "xla.sdy.sharding_rule";
    });
    if (extra.backend_config.starts_with("unspecified_dims=")) extra.backend_config = "";
    if (has_trait(module_[id].op, TraitEffect) || values_.leaf_count(id) == 0) return;
    extra.sharding = nullptr;
    if (!is_said) return;
    if (!module_.shape(id).is_tuple()) {
      extra.sharding = text_of(values_.leaf(id, 0));
      return;
    }
    Sharding tuple;
    tuple.kind = Sharding::Kind::Tuple;
    for (size_t i = 0; i < values_.leaf_count(id); ++i)
      tuple.elements.push_back(*text_of(values_.leaf(id, i)));
    extra.sharding = std::make_shared<const Sharding>(std::move(tuple));
  }

  Editor& editor_;
  Module& module_;
  const GivenShardings& given_;
  ShardedValues& values_;
  ShardingTable table_;
  std::deque<std::shared_ptr<const Sharding>> texts_;              // by number in the table
  std::vector<const std::shared_ptr<const Sharding>*> of_values_;  // texts, once they are known
};

}  // namespace

void write_shardings(Editor& editor, const GivenShardings& given, ShardedValues& values) {
  ShardingWriter(editor, given, values).run();
}

}  // namespace hilo
