// The older notation, of GSPMD: sharding= on instructions, calls of Sharding, tiles of devices.
#include <algorithm>

#include "pass/shard/given_shardings.h"

namespace hilo {
namespace {

class TileImport {
 public:
  TileImport(Editor& editor, GivenShardings& given)
      : editor_(editor), module_(editor.module()), given_(given) {}

  Result<void> run() {
    choose_mesh();
    is_explicit_ = is_explicit();
    for (ComputationId computation : given_.computations)
      for (InstructionId id : std::vector(module_[computation].instructions)) {
        if (module_[id].removed) continue;
        if (auto done = visit(id); !done) return fault_at(module_, id, std::move(done).error());
      }
    if (!is_explicit_) close_parameters();
    close_results();
    return {};
  }

 private:
  void choose_mesh() {
    const int64_t devices = module_.header.num_partitions;
    for (const auto& [name, mesh] : given_.meshes)
      if (!given_.mesh && mesh_size(*mesh) == devices && !is_single_device(*mesh))
        given_.mesh = mesh;
    if (given_.mesh) return;
    given_.mesh = mesh_of_tiles(module_, devices);
    given_.meshes = {{"mesh", given_.mesh}};
  }

  Result<void> visit(InstructionId id) {
    const std::shared_ptr<const Sharding> sharding = module_.extra(module_[id]).sharding;
    if (has_trait(module_[id].op, TraitEffect)) return {};
    GivenShardings::OfLeaves leaves;
    if (sharding) {
      HILO_TRY(const auto known, stated_shardings(module_, id, given_.mesh));
      leaves.assign(known.begin(), known.end());
      add_groups(id, *sharding);
    }
    if (is_call_of(module_, id, "Sharding")) return constrain(id, std::move(leaves));
    if (is_call_of(module_, id, "SPMDFullToShardShape")) return enter_region(id, leaves);
    if (is_call_of(module_, id, "SPMDShardToFullShape")) return leave_region(id, leaves);
    if (!leaves.empty()) add(id, std::move(leaves));
    return {};
  }

  void add(InstructionId id, GivenShardings::OfLeaves leaves) {
    if (module_[id].op == Op::GetTupleElement && differs_from_tuple(id, leaves)) {
      module_.mutable_extra(id).sharding = nullptr;
      id = copy_for_users(editor_, given_, id);
    }
    given_.of[id] = std::move(leaves);
  }

  // An element that is to have another sharding than the tuple says.
  bool differs_from_tuple(InstructionId id, const GivenShardings::OfLeaves& leaves) const {
    const auto of_tuple = given_.of.find(module_.operand(id, 0));
    if (of_tuple == given_.of.end()) return false;
    const Shape& tuple = module_.shape(module_.operand(id, 0));
    size_t first = 0;
    const auto index = module_.attributes<GetTupleElementAttributes>(id).index;
    for (int64_t i = 0; i < index; ++i) first += leaf_count(tuple.elements[i]);
    for (size_t i = 0; i < leaves.size(); ++i)
      if (of_tuple->second[first + i] != leaves[i]) return true;
    return false;
  }

  void add_groups(InstructionId id, const Sharding& sharding) {
    if (sharding.shard_as) given_.groups.push_back({*sharding.shard_as, id, false});
    if (sharding.shard_like) given_.groups.push_back({*sharding.shard_like, id, true});
  }

  // "unspecified_dims=[0,1]" of a backend config.
  static void open_unspecified(std::string_view config, AxisSharding& sharding) {
    constexpr std::string_view key = "unspecified_dims=[";
    size_t at = config.find(key);
    if (at == std::string_view::npos) return;
    for (at += key.size(); at < config.size() && config[at] != ']'; ++at) {
      size_t dim = 0;
      for (; at < config.size() && config[at] >= '0' && config[at] <= '9' && dim < 64; ++at)
        dim = dim * 10 + static_cast<size_t>(config[at] - '0');
      if (dim < sharding.dims.size()) sharding.dims[dim].is_open = true;
      if (at < config.size() && config[at] == ']') break;
    }
  }

  void open_dims(InstructionId id, GivenShardings::OfLeaves& leaves) {
    for (auto& leaf : leaves)
      if (leaf) open_unspecified(module_.extra(module_[id]).backend_config, *leaf);
  }

  Result<void> constrain(InstructionId id, GivenShardings::OfLeaves leaves) {
    open_dims(id, leaves);
    const InstructionId operand = module_.operand(id, 0);
    const InstructionId copy = add_copy(editor_, given_, id, operand);
    for (GivenShardings::Group& group : given_.groups)
      if (group.value == id) group.value = copy;
    if (!leaves.empty()) {
      if (leaves.size() == 1) given_.constraints.push_back(copy);
      given_.of[copy] = std::move(leaves);
    }
    module_.mutable_extra(id).sharding = nullptr;
    editor_.replace_moved(id, copy);
    module_[copy].name = module_[id].name;
    given_.annotations[copy] = id;
    return {};
  }

  // Scalars need not say that they are whole.
  void fill_scalar(InstructionId id, GivenShardings::OfLeaves& leaves) const {
    if (leaves.empty() && module_.shape(id).is_scalar())
      leaves.emplace_back(replicated_sharding(given_.mesh, 0));
  }

  Result<void> need_sharding(InstructionId id, GivenShardings::OfLeaves& leaves) {
    fill_scalar(id, leaves);
    if (leaves.size() == 1 && module_.operands(id).size() == 1) return {};
    return fail(ErrorKind::Structure, "expected one operand and the sharding of an array at {}",
                module_.attributes<CustomCallAttributes>(id).custom_call_target);
  }

  Result<void> enter_region(InstructionId id, GivenShardings::OfLeaves leaves) {
    HILO_DO(need_sharding(id, leaves));
    const InstructionId operand = module_.operand(id, 0);
    if (module_.shape(operand).is_scalar()) fill_scalar(operand, given_.of[operand]);
    if (const AxisSharding* const outside = given_.find(operand); !outside)
      return fail(ErrorKind::Structure, "expected the sharding of what enters a manual region");
    if (module_[operand].op != Op::Copy || module_.users(operand).size() > 1) {
      const InstructionId copy = add_copy(editor_, given_, id, operand);
      given_.of[copy] = given_.of.at(operand);
      editor_.set_operand(id, 0, copy);
    }
    open_dims(id, leaves);
    given_.of[id] = std::move(leaves);
    return {};
  }

  Result<void> leave_region(InstructionId id, GivenShardings::OfLeaves leaves) {
    HILO_DO(need_sharding(id, leaves));
    open_dims(id, leaves);
    const bool is_result = module_[module_.entry].root == id;
    const InstructionId copy = copy_for_users(editor_, given_, id);
    if (is_result) given_.of[copy] = leaves;
    given_.of[id] = std::move(leaves);
    return {};
  }

  // Where everything is said there is nothing left to choose.
  bool is_explicit() const {
    return std::ranges::all_of(module_[module_.entry].instructions, [&](InstructionId id) {
      const Shape& shape = module_.shape(id);
      return module_[id].removed || !shape.is_array() || shape.dims.empty() ||
             module_.extra(module_[id]).sharding;
    });
  }

  bool is_allowed(const std::vector<bool>& flags, size_t i) const {
    if (is_explicit_) return false;
    if (flags.size() == 1) return flags[0];
    return i < flags.size() && flags[i];
  }
  AxisSharding closed(const Shape& shape) const {
    return replicated_sharding(given_.mesh, shape.is_array() ? shape.dims.size() : 0);
  }

  // Whoever calls the module knows only what it says of its parameters.
  void close_parameters() {
    const auto& flags = module_.header.allow_spmd_sharding_propagation_to_parameters;
    const auto& parameters = module_[module_.entry].parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const auto found = given_.of.find(parameters[i]);
      if (is_allowed(flags, i)) {
        if (found == given_.of.end()) continue;
        for (auto& leaf : found->second)
          for (AxisSharding::Dim& dim : leaf->dims) dim.is_open = true;
      } else if (found == given_.of.end()) {
        GivenShardings::OfLeaves& leaves = given_.of[parameters[i]];
        for_each_leaf(module_.shape(parameters[i]),
                      [&](const Shape& leaf, auto) { leaves.push_back(closed(leaf)); });
      }
    }
  }

  void close_results() {
    const auto& flags = module_.header.allow_spmd_sharding_propagation_to_output;
    InstructionId root = module_[module_.entry].root;
    given_.results.push_back(root);
    if (is_explicit_) return;
    const Shape shape = module_.shape(root);
    const size_t count = leaf_count(shape);
    bool any_open = false;
    for (size_t i = 0; i < count; ++i) any_open |= is_allowed(flags, i);
    const auto found = given_.of.find(root);
    if (found != given_.of.end()) {
      for (size_t i = 0; i < found->second.size(); ++i)
        if (is_allowed(flags, i) && found->second[i])
          for (AxisSharding::Dim& dim : found->second[i]->dims) dim.is_open = true;
      return;
    }
    if (any_open && !shape.is_tuple()) return;
    if (shape.is_tuple() && module_[root].op != Op::Tuple) return;
    if (!shape.is_tuple()) {
      root = add_copy(editor_, given_, root, root);
      editor_.set_root(module_.entry, root);
    }
    GivenShardings::OfLeaves& leaves = given_.of[root];
    for_each_leaf(shape, [&](const Shape& leaf, auto) {
      leaves.push_back(is_allowed(flags, leaves.size()) ? std::nullopt
                                                        : std::optional(closed(leaf)));
    });
  }

  Editor& editor_;
  Module& module_;
  GivenShardings& given_;
  bool is_explicit_ = false;
};

}  // namespace

Result<void> import_tiles(Editor& editor, GivenShardings& given) {
  return TileImport(editor, given).run();
}

}  // namespace hilo
