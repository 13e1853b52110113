// Random shardings, in every form that texts have, for the values of a program.
#pragma once

#include <map>

#include "../../ir/random_sharding.h"
#include "../judge.h"

namespace hilo::test {

// How a program says its shardings: sharding= and the marks of GSPMD, or attributes of Shardy.
enum class Notation : uint8_t { Tiles, Shardy };

// The axes that are manual where they are not none: in a computation, and for single instructions.
struct ManualOf {
  std::map<uint32_t, SubAxes> computations, instructions;
};

class RandomShardings {
 public:
  // `percent`: of the values that state a sharding; drawn where it is not given.
  explicit RandomShardings(uint64_t seed, std::optional<int64_t> percent = std::nullopt)
      : dice_(seed), random_(seed) {
    static const Dims sizes = {1, 2, 2, 2, 2, 3, 4, 4, 5, 6, 7, 8, 12};
    do mesh_ = random_.mesh(sizes, 4, true);
    while (mesh_size(*mesh_) < 2 || mesh_size(*mesh_) > 16);
    other_ = mesh_;
    if (dice_.below(8) == 0) do
        other_ = random_.mesh(sizes, 4, true);
      while (mesh_size(*other_) != mesh_size(*mesh_));
    static const std::vector<int64_t> percents = {0, 20, 50, 80, 100, 100};
    percent_ = percent ? *percent : dice_.pick(percents);
  }

  const SharedMesh& mesh() const { return mesh_; }
  Notation notation() const { return notation_; }
  ShardyMeshes meshes() const {
    if (other_ == mesh_) return {{"mesh", mesh_}};
    return {{"mesh", mesh_}, {"other", other_}};
  }
  int64_t devices() const { return mesh_size(*mesh_); }
  bool are_all_stated() const { return percent_ == 100; }

  // Of an array whose shape is local along the manual axes already.
  AxisSharding axes(size_t rank, const SubAxes& manual = {}) {
    const bool other = dice_.below(4) == 0 && manual.empty();
    AxisSharding out = replicated_sharding(mesh_, rank);
    if (!is_replicated_ && dice_.below(6) > 0)
      out = random_.sharding(other ? other_ : mesh_, rank, false);
    for (AxisSharding::Dim& dim : out.dims) dim.axes = axes_outside(*out.mesh, dim.axes, manual);
    out.manual = manual;
    return out;
  }
  // Some of the axes that cut nothing, for summands of the array.
  void add_summands(AxisSharding& sharding, ElementType type) {
    if (is_replicated_ || type == ElementType::Pred || dice_.below(8) > 0) return;
    SubAxes used = sharding.axes(), free;
    used.insert(used.end(), sharding.manual.begin(), sharding.manual.end());
    for (size_t i = 0; i < sharding.mesh->axes.size(); ++i)
      free.push_back({i, 1, sharding.mesh->axes[i].size});
    for (const SubAxis& axis : axes_outside(*sharding.mesh, free, used))
      if (dice_.below(2)) sharding.unreduced.push_back(axis);
    static const std::vector<std::string> ops = {"", "", "max", "min"};
    if (!sharding.unreduced.empty() && !is_complex(type)) sharding.unreduced_op = dice_.pick(ops);
    sharding.replicated.clear();
    sharding = *canonical_sharding(std::move(sharding));
  }
  // Annotations from here on say that arrays are whole everywhere.
  void replicate() { is_replicated_ = true; }
  bool are_replicated() const { return is_replicated_; }
  // They are of values that are computed: none contradicts another. Tiles are over one mesh.
  void agree(Notation notation) {
    agrees_ = true;
    if (notation == Notation::Tiles || *other_ == *mesh_) other_ = mesh_;
    notation_ = notation;
  }
  bool agrees() const { return agrees_; }

  // The same in one of the forms that texts have.
  Sharding text_form(const AxisSharding& sharding) {
    const int64_t form = dice_.below(6);
    if ((form == 0 && !agrees_) || !sharding.unreduced_op.empty()) return named_sharding(sharding);
    Sharding out = tile_sharding(sharding);
    if (form == 1 && out.iota) {
      out.devices = out.iota->expand();
      out.iota.reset();
    }
    return out;
  }
  Sharding sharding(const Shape& shape, const SubAxes& manual = {}, bool has_summands = false) {
    Sharding out;
    out.kind = Sharding::Kind::Tuple;
    for (const AxisSharding& leaf : leaves(shape, manual, has_summands))
      out.elements.push_back(text_form(leaf));
    return shape.is_tuple() ? out : out.elements[0];
  }

  // Values of the entry and of what it calls, but where one is stated.
  void annotate(Module& module, const ManualOf& manual = {}) {
    module.header.num_partitions = devices();
    if (agrees_) leave_boundary_open(module);
    if (notation_ == Notation::Shardy || !manual.computations.empty() ||
        !manual.instructions.empty())
      module.header.frontend_attributes["xla.sdy.meshes"] = {print_shardy_meshes(meshes()), true};
    std::vector<std::pair<ComputationId, SubAxes>> queue = {{module.entry, {}}};
    std::vector<bool> seen(module.computations.size());
    for (size_t i = 0; i < queue.size(); ++i) {
      const auto [computation, around] = queue[i];
      if (seen[computation.value]) continue;
      seen[computation.value] = true;
      for (InstructionId id : std::vector(module[computation].instructions)) {
        const auto own = manual.instructions.find(id.value);
        const SubAxes& here = own == manual.instructions.end() ? around : own->second;
        const Op op = module[id].op;
        if (op == Op::Call || op == Op::While || op == Op::Conditional)
          for (ComputationId callee : module.called(module[id])) {
            const auto inside = manual.computations.find(callee.value);
            queue.emplace_back(callee, inside == manual.computations.end() ? here : inside->second);
          }
        // A collective that nothing else shows to be in a region says so.
        const bool always = marks_sharding(module, id) ||
                            (has_trait(op, TraitCollective) && notation_ == Notation::Tiles);
        if (!agrees_ || is_computed(module, id)) state(module, id, here, always);
      }
    }
  }

 private:
  // Parameters and results whose shardings propagation may choose.
  void leave_boundary_open(Module& module) {
    if (dice_.below(2)) return;
    const auto draw = [&](std::vector<bool>& flags, size_t count) {
      if (dice_.below(3) == 0) count = 1;
      for (size_t i = 0; i < count; ++i) flags.push_back(dice_.below(2) != 0);
    };
    const Computation& entry = module[module.entry];
    draw(module.header.allow_spmd_sharding_propagation_to_parameters, entry.parameters.size());
    draw(module.header.allow_spmd_sharding_propagation_to_output,
         static_cast<size_t>(leaf_count(module.shape(entry.root))));
  }
  static bool is_computed(const Module& module, InstructionId id) {
    const Op op = module[id].op;
    const ComputationId in = module[id].computation;
    if (in != module.entry && (op == Op::Parameter || id == module[in].root)) return false;
    return op != Op::Tuple && op != Op::GetTupleElement && op != Op::OptimizationBarrier &&
           op != Op::AddDependency && op != Op::Copy && op != Op::Call && op != Op::While &&
           op != Op::Conditional;
  }
  static bool marks_sharding(const Module& module, InstructionId id) {
    return module[id].op == Op::CustomCall &&
           module.attributes<CustomCallAttributes>(id).custom_call_target == "Sharding";
  }
  static bool says_something(const Module& module, InstructionId id) {
    const Extra& extra = module.extra(module[id]);
    const auto names_sharding = [](const auto& attribute) {
      return attribute.first.starts_with("xla.sdy.") && attribute.first != "xla.sdy.sharding_rule";
    };
    return extra.sharding || std::ranges::any_of(extra.frontend_attributes, names_sharding);
  }
  void state(Module& module, InstructionId id, const SubAxes& manual, bool always) {
    const Shape shape = module.shape(id);
    if (says_something(module, id)) return;
    if (!always && dice_.below(100) >= percent_) return;
    if (shape.is_tuple() && shape.elements.empty()) return;
    if (notation_ == Notation::Tiles) {
      module.mutable_extra(id).sharding =
          std::make_shared<const Sharding>(sharding(shape, manual, true));
      return;
    }
    std::vector<AxisSharding> said = leaves(shape, manual, true);
    for (AxisSharding& leaf : said) leaf.manual.clear();  // the region says them
    module.mutable_extra(id).frontend_attributes["xla.sdy.sharding"] = {
        print_shardy(said, meshes()), false};
  }
  std::vector<AxisSharding> leaves(const Shape& shape, const SubAxes& manual, bool has_summands) {
    std::vector<AxisSharding> out;
    for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
      out.push_back(axes(leaf.dims.size(), manual));
      if (has_summands && leaf.is_array()) add_summands(out.back(), leaf.type);
    });
    return out;
  }

  Dice dice_;
  RandomSharding random_;
  SharedMesh mesh_, other_;
  int64_t percent_;
  bool is_replicated_ = false, agrees_ = false;
  Notation notation_ = Notation::Tiles;
};

}  // namespace hilo::test
