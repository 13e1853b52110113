// Shardings as they are written: explicit, on every instruction.
#include <algorithm>
#include <map>

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
    for (ComputationId computation : given_.computations)
      for (InstructionId id : module_[computation].instructions)
        if (!module_[id].removed) write(id);
    module_.header.frontend_attributes["xla.sdy.meshes"] = {print_shardy_meshes(given_.meshes),
                                                            true};
  }

 private:
  // What the compiler chose of parameters and results of the program are tiles of equal size.
  void divide_evenly(InstructionId id) {
    size_t leaf = values_.leaf(id, 0);
    for_each_leaf(module_.shape(id), [&](const Shape& shape, auto) {
      AxisSharding& sharding = values_.shardings[values_.value_of[leaf]];
      if (!values_.edge_of[leaf++])
        for (size_t d = 0; d < sharding.dims.size(); ++d)
          if (sharding.dims[d].is_open) divide_evenly(shape.dims[d], sharding, d);
    });
  }
  static void divide_evenly(int64_t size, AxisSharding& sharding, size_t d) {
    SubAxes& axes = sharding.dims[d].axes;
    size_t kept = 0;
    for (int64_t tiles = 1; kept < axes.size(); ++kept) {
      tiles *= axes[kept].size;
      if (size % tiles != 0 || axes[kept].size != sharding.mesh->axes[axes[kept].axis].size) break;
    }
    axes.resize(kept);
  }

  bool same_shardings(InstructionId a, InstructionId b) const {
    for (size_t i = 0; i < values_.leaf_count(a); ++i) {
      const AxisSharding of_a = values_.sharding_of(values_.leaf(a, i));
      const AxisSharding of_b = values_.sharding_of(values_.leaf(b, i));
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
      module_.mutable_extra(copy) = {};
      editor_.replace(copy, operand);
    }
  }

  const std::shared_ptr<const Sharding>& text_of(size_t leaf) {
    auto& text = texts_[{values_.value_of[leaf], values_.edge_of[leaf]}];
    if (!text) text = std::make_shared<const Sharding>(tile_sharding(values_.sharding_of(leaf)));
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
  std::map<std::pair<uint32_t, const RegionEdge*>, std::shared_ptr<const Sharding>> texts_;
};

}  // namespace

void write_shardings(Editor& editor, const GivenShardings& given, ShardedValues& values) {
  ShardingWriter(editor, given, values).run();
}

}  // namespace hilo
