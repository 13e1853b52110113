#include "eval/block_region.h"

#include <algorithm>

#include "eval/operand_view.h"

namespace hilo {
namespace {

class RegionFinder {
 public:
  RegionFinder(const Module& module, ComputationId computation,
               std::span<const InstructionId> order, bool ideal)
      : module_(module),
        root_(module[computation].root),
        order_(order),
        ideal_(ideal),
        region_(order.size(), -1),
        users_(order.size()) {
    out_.absorbed.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) position_[order[i].value] = static_cast<int>(i);
    for (size_t i = 0; i < order.size(); ++i)
      for (InstructionId operand : module.operands(order[i]))
        users_[position_.at(operand.value)].push_back(static_cast<int>(i));
  }

  Result<BlockRegions> run() {
    for (int i = static_cast<int>(order_.size()) - 1; i >= 0; --i) join(i);
    for (int i = static_cast<int>(order_.size()) - 1; i >= 0; --i)
      out_.absorbed[i] = is_absorbed(i);
    std::vector<std::vector<int>> members(roots_.size());
    for (size_t i = 0; i < order_.size(); ++i)
      if (region_[i] >= 0) members[region_[i]].push_back(static_cast<int>(i));
    for (size_t r = 0; r < roots_.size(); ++r) HILO_DO(build(roots_[r], members[r]));
    return std::move(out_);
  }

 private:
  const Instruction& at(int i) const { return module_[order_[i]]; }
  const Shape& shape(int i) const { return module_.shape(at(i)); }
  ElementType type_of(int i) const { return held_type(shape(i).type, ideal_); }
  int64_t count(int i) const { return element_count(shape(i)); }

  bool computes(int i) const {
    if (!is_elementwise(at(i).op) || !is_fixed_array(shape(i))) return false;
    for (InstructionId operand : module_.operands(at(i))) {
      const Shape& given = module_.shape(operand);
      if (!is_fixed_array(given)) return false;
      if (element_count(given) != count(i) && element_count(given) != 1) return false;
    }
    return elementwise_kernel(module_, at(i), ideal_).has_value();
  }

  bool passes_on(int i) const {
    return (at(i).op == Op::Reshape || at(i).op == Op::Copy) && is_fixed_array(shape(i)) &&
           is_fixed_array(module_.shape(module_.operands(at(i))[0]));
  }

  // Into the region of all users, when that is one and each reads as many elements.
  void join(int i) {
    const bool compute = computes(i);
    if (!compute && !passes_on(i)) return;
    int common = order_[i] == root_ || users_[i].empty() ? -1 : region_[users_[i][0]];
    for (int user : users_[i])
      if (region_[user] != common || common < 0 || count(user) != count(i)) common = -1;
    if (common >= 0) {
      region_[i] = common;
    } else if (compute) {
      region_[i] = static_cast<int>(roots_.size());
      roots_.push_back(i);
    }
  }

  bool is_member(int i) const { return region_[i] >= 0; }

  bool has_iota_dimension(int i) const {
    const int64_t dim = module_.attributes<IotaAttributes>(at(i)).iota_dimension;
    return dim >= 0 && dim < shape(i).rank();
  }

  bool is_absorbed(int i) const {
    if (is_member(i)) return roots_[region_[i]] != i;
    if (order_[i] == root_ || users_[i].empty() || !is_fixed_array(shape(i))) return false;
    const bool constant = at(i).op == Op::Constant && count(i) == 1;
    const bool view = at(i).op == Op::Iota ? has_iota_dimension(i) : is_view(module_, at(i));
    if (!constant && !view) return false;
    for (int user : users_[i]) {
      if (constant && at(user).op == Op::Broadcast && out_.absorbed[user]) continue;
      if (!is_member(user) || (!constant && count(user) != count(i))) return false;
    }
    return true;
  }

  Result<void> build(int root, const std::vector<int>& members) {
    auto region = std::make_shared<BlockRegion>();
    region->root = order_[root];
    registers_.clear();
    for (int i : members) {
      std::vector<int> operands;
      for (InstructionId operand : module_.operands(at(i)))
        operands.push_back(read(*region, position_.at(operand.value), root));
      if (passes_on(i)) {
        registers_[i] = region->program.add_convert(operands[0], type_of(i));
        continue;
      }
      HILO_TRY(const ElementwiseKernel kernel, elementwise_kernel(module_, at(i), ideal_));
      registers_[i] = region->program.add(kernel, operands);
    }
    region->program.add_output(registers_.at(root));
    region->program.finish();
    out_.by_root[order_[root].value] = std::move(region);
    return {};
  }

  // The register of an operand: computed here, seen through strides, or an input.
  int read(BlockRegion& region, int i, int root) {
    if (const auto found = registers_.find(i); found != registers_.end()) return found->second;
    return registers_[i] = out_.absorbed[i] ? read_view(region, i) : read_input(region, i, root);
  }

  int read_input(BlockRegion& region, int i, int root) {
    const ElementType type = type_of(i);
    const bool stream = count(i) == count(root);
    region.inputs.push_back(order_[i]);
    region.streamed.push_back(stream);
    return stream ? region.program.add_source(type) : region.program.add_uniform(type);
  }

  // What is moved may be moved to another width.
  int read_view(BlockRegion& region, int i) {
    if (at(i).op == Op::Constant) return add_constant(region, i);
    if (at(i).op == Op::Iota) {
      const int64_t dim = module_.attributes<IotaAttributes>(at(i)).iota_dimension;
      const Dims& dims = shape(i).dims;
      return region.program.add_iota(type_of(i), row_major_strides(dims).at(dim), dims.at(dim));
    }
    const int source = position_.at(module_.operands(at(i))[0].value);
    const int moved =
        out_.absorbed[source] ? add_constant(region, source) : read_moved(region, i, source);
    return region.program.add_convert(moved, type_of(i));
  }

  int read_moved(BlockRegion& region, int i, int source) {
    region.inputs.push_back(order_[source]);
    region.streamed.push_back(false);
    if (count(source) == 1) return region.program.add_uniform(type_of(source));
    return region.program.add_view(type_of(source), view_of_operand(module_, at(i)));
  }

  int add_constant(BlockRegion& region, int i) {
    const LiteralRef& value = module_.attributes<ConstantAttributes>(at(i)).literal;
    return region.program.add_constant(value.literal ? to_held(*value.literal, ideal_)
                                                     : Literal::zeros(shape(i)));
  }

  const Module& module_;
  InstructionId root_;
  std::span<const InstructionId> order_;
  bool ideal_;
  std::vector<int> region_;              // by position
  std::vector<std::vector<int>> users_;  // positions
  std::unordered_map<uint32_t, int> position_;
  std::vector<int> roots_;  // by region
  std::unordered_map<int, int> registers_;
  BlockRegions out_;
};

// A dying input that is read in order gives its storage to the result.
Literal make_result(Call& call, const BlockRegion& region) {
  const SharedShape shape = call.result_shape();
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    Literal& input = call.operands[i];
    if (region.streamed[i] && input.is_unique() &&
        storage_bytes(input.type()) == storage_bytes(shape->type))
      return std::exchange(input, Literal()).with_shape(shape);
  }
  return call.make();
}

}  // namespace

Result<BlockRegions> find_regions(const Module& module, ComputationId computation,
                                  std::span<const InstructionId> order, bool ideal) {
  return RegionFinder(module, computation, order, ideal).run();
}

Result<Literal> evaluate_region(Call& call) {
  const BlockRegion& region = *call.region;
  const void* few[16];
  std::vector<const void*> many(call.operands.size() > std::size(few) ? call.operands.size() : 0);
  const std::span sources(many.empty() ? few : many.data(), call.operands.size());
  for (size_t i = 0; i < sources.size(); ++i) sources[i] = call.operands[i].raw().data();
  Literal out = make_result(call, region);
  std::byte* start = out.mutable_raw().data();
  const int64_t bytes = storage_bytes(out.type());
  call.parallel(out.count(), 16 * BlockProgram::block, [&](int64_t begin, int64_t end) {
    void* const target = start + begin * bytes;
    region.program.run(sources, std::array{target}, begin, end - begin);
  });
  return out;
}

}  // namespace hilo
