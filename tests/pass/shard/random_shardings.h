// Random shardings, in every form that texts have, for the values of a program.
#pragma once

#include "../../ir/random_sharding.h"
#include "../judge.h"

namespace hilo::test {

class RandomShardings {
 public:
  // `percent`: of the values that state a sharding; drawn where it is not given.
  explicit RandomShardings(uint64_t seed, std::optional<int64_t> percent = std::nullopt)
      : dice_(seed), random_(seed) {
    static const Dims sizes = {2, 2, 2, 3, 4, 4, 5, 8};
    do mesh_ = random_.mesh(sizes, 3, true);
    while (mesh_size(*mesh_) < 2 || mesh_size(*mesh_) > 16);
    other_ = mesh_;
    if (dice_.below(8) == 0) do
        other_ = random_.mesh(sizes, 3, true);
      while (mesh_size(*other_) != mesh_size(*mesh_));
    static const std::vector<int64_t> percents = {0, 20, 50, 80, 100, 100};
    percent_ = percent ? *percent : dice_.pick(percents);
  }

  const SharedMesh& mesh() const { return mesh_; }
  int64_t devices() const { return mesh_size(*mesh_); }
  bool are_all_stated() const { return percent_ == 100; }

  AxisSharding axes(size_t rank) {
    const bool other = dice_.below(4) == 0;
    if (is_replicated_ || dice_.below(6) == 0) return replicated_sharding(mesh_, rank);
    return random_.sharding(other ? other_ : mesh_, rank, false);
  }
  // Annotations from here on say that arrays are whole everywhere.
  void replicate() { is_replicated_ = true; }
  // They are over one mesh, of values that are computed: none contradicts another.
  void agree() {
    agrees_ = true;
    other_ = mesh_;
  }

  // The same in one of the forms that texts have.
  Sharding text_form(const AxisSharding& sharding) {
    const int64_t form = dice_.below(6);
    if (form == 0 && !agrees_) return named_sharding(sharding);
    Sharding out = tile_sharding(sharding);
    if (form == 1 && out.iota) {
      out.devices = out.iota->expand();
      out.iota.reset();
    }
    return out;
  }
  Sharding sharding(const Shape& shape) {
    if (!shape.is_tuple()) return text_form(axes(shape.dims.size()));
    Sharding out;
    out.kind = Sharding::Kind::Tuple;
    for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
      out.elements.push_back(text_form(axes(leaf.dims.size())));
    });
    return out;
  }

  // Values of the entry and of what it calls, but in manual regions and where one is stated.
  void annotate(Module& module) {
    module.header.num_partitions = devices();
    std::vector<ComputationId> queue = {module.entry};
    std::vector<bool> seen(module.computations.size());
    for (size_t i = 0; i < queue.size(); ++i) {
      if (seen[queue[i].value] || module[queue[i]].name.starts_with("region")) continue;
      seen[queue[i].value] = true;
      for (InstructionId id : std::vector(module[queue[i]].instructions)) {
        const Op op = module[id].op;
        if (op == Op::Call || op == Op::While || op == Op::Conditional)
          for (ComputationId callee : module.called(module[id])) queue.push_back(callee);
        if (!agrees_ || is_computed(module, id)) state(module, id, op == Op::CustomCall);
      }
    }
  }

 private:
  static bool is_computed(const Module& module, InstructionId id) {
    const Op op = module[id].op;
    const ComputationId in = module[id].computation;
    if (in != module.entry && (op == Op::Parameter || id == module[in].root)) return false;
    return op != Op::Tuple && op != Op::GetTupleElement && op != Op::OptimizationBarrier &&
           op != Op::Copy && op != Op::Call && op != Op::While && op != Op::Conditional;
  }
  void state(Module& module, InstructionId id, bool always) {
    const Shape shape = module.shape(id);
    if (module.extra(module[id]).sharding) return;
    if (!always && dice_.below(100) >= percent_) return;
    if (shape.is_tuple() && shape.elements.empty()) return;
    module.mutable_extra(id).sharding = std::make_shared<const Sharding>(sharding(shape));
  }

  Dice dice_;
  RandomSharding random_;
  SharedMesh mesh_, other_;
  int64_t percent_;
  bool is_replicated_ = false, agrees_ = false;
};

}  // namespace hilo::test
