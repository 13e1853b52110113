// Puts elementwise ops, and ops that only move elements, together with what reads them, so that one
// loop makes what the last of them gives and nothing between is stored.
//
//   r = f(g(x), h(x))  =>  r = fusion(x), where all users of g and h are inside
//
// Assumes plain layouts. A value is taken in when everybody who reads it is in the same fusion, and
// when it is then computed no more often than before: what is costly is not taken in through a
// broadcast, and a value that is read at several places is taken in only by elementwise ops, which
// read it at one place. What costs nothing (scalar constants, iotas, broadcasts) is copied into
// each fusion. Stands before copy insertion and planning, which see fusions only.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "target/fuse_loops.h"

namespace hilo {
namespace {

constexpr size_t most_members = 96, most_operands = 48;

constexpr Op moving[] = {Op::Broadcast, Op::Reshape, Op::Transpose,    Op::Slice, Op::Reverse,
                         Op::Iota,      Op::Pad,     Op::DynamicSlice, Op::Gather};
constexpr Op last[] = {Op::Reduce, Op::DynamicUpdateSlice, Op::Concatenate};
constexpr Op cheap[] = {Op::Convert, Op::Select, Op::Compare, Op::And,      Op::Or,      Op::Not,
                        Op::Negate,  Op::Abs,    Op::Add,     Op::Subtract, Op::Multiply};

template <size_t N>
bool is_one_of(const Op (&list)[N], Op op) {
  return std::ranges::count(list, op) > 0;
}

// Whether a slice of these sizes is one piece of its operand.
bool is_one_piece(const Dims& sizes, const Dims& dims) {
  size_t d = 0;
  while (d < sizes.size() && sizes[d] == 1) ++d;
  const size_t whole = std::min(d + 1, sizes.size());
  return std::ranges::equal(std::span(sizes).subspan(whole), std::span(dims).subspan(whole));
}

class LoopFuser {
 public:
  explicit LoopFuser(Module& module) : module_(module), editor_(module) {}

  bool run() {
    std::vector<ComputationId> waiting = {module_.entry};
    std::unordered_set<uint32_t> seen = {module_.entry.value};
    while (!waiting.empty()) {
      const ComputationId computation = waiting.back();
      waiting.pop_back();
      for (InstructionId id : module_[computation].instructions) {
        const Op op = module_[id].op;
        if (op != Op::While && op != Op::Conditional && op != Op::Call) continue;
        for (ComputationId callee : module_.called(module_[id]))
          if (seen.insert(callee.value).second) waiting.push_back(callee);
      }
      fuse(computation);
    }
    return changed_;
  }

 private:
  bool is_plain_array(InstructionId id) const {
    const Shape& shape = module_.shape(id);
    return shape.is_array() && !shape.has_dynamic_dims();
  }
  bool is_pinned(InstructionId id) const {
    return editor_.is_pinned(id) || editor_.effects().has(id);
  }
  bool can_be_inside(InstructionId id) const {
    const Op op = module_[id].op;
    return is_plain_array(id) && (is_elementwise(op) || is_one_of(moving, op)) && !is_pinned(id) &&
           op != Op::StochasticConvert && !is_complex(module_.shape(id).type);
  }
  bool can_be_last(InstructionId id) const {
    if (is_thin_product(id)) return is_plain_array(id);
    if (is_one_of(last, module_[id].op)) return is_plain_array(id) && !is_pinned(id);
    return can_be_inside(id);
  }
  // A product of few rows or columns, which reads its other operand once, as fast as memory gives
  // it; larger ones are left to routines.
  bool is_thin_product(InstructionId id) const {
    constexpr int64_t few = 4;
    if (module_[id].op != Op::Dot || is_pinned(id)) return false;
    const auto& a = module_.attributes<DotAttributes>(id);
    const Shape &lhs = module_.shape(module_.operand(id, 0)),
                &rhs = module_.shape(module_.operand(id, 1));
    for (InstructionId operand : module_.operands(id))
      if (module_[operand].op == Op::Constant) return false;
    for (const Shape* shape : {&lhs, &rhs, &module_.shape(id)})
      if (shape->type != ElementType::F32 && shape->type != ElementType::BF16) return false;
    if (!a.lhs_batch_dims.empty() || a.lhs_contracting_dims.size() != 1 || lhs.rank() > 2 ||
        rhs.rank() > 2 || !a.sparsity.text.empty())
      return false;
    const int64_t depth = lhs.dims[static_cast<size_t>(a.lhs_contracting_dims[0])];
    const bool in_columns = rhs.rank() == 2 && a.rhs_contracting_dims[0] == 0 && rhs.dims[1] > 1;
    const bool in_depths =
        a.lhs_contracting_dims[0] + 1 == lhs.rank() && a.rhs_contracting_dims[0] + 1 == rhs.rank();
    return (in_columns || in_depths) && depth > 0 &&
           std::min(element_count(lhs), element_count(rhs)) <= few * depth;
  }
  // One piece of an array, which a product reads where it stands.
  bool is_piece(InstructionId id) const {
    if (module_[id].op == Op::Reshape) {
      const InstructionId operand = module_.operand(id, 0);
      return is_piece(operand) && module_.users(operand).size() == 1;
    }
    if (module_[id].op != Op::DynamicSlice || !is_plain_array(id)) return false;
    const InstructionId from = module_.operand(id, 0);
    const Shape& whole = module_.shape(from);
    return module_[from].op != Op::Constant &&
           std::ssize(module_.operands(id)) == whole.rank() + 1 &&
           is_one_piece(module_.shape(id).dims, whole.dims);
  }
  // Copied into every fusion that reads it.
  bool is_free(InstructionId id) const {
    const Op op = module_[id].op;
    if (op == Op::Constant) return module_.shape(id).is_scalar();
    return (op == Op::Broadcast || op == Op::Iota) && can_be_inside(id);
  }
  int64_t count(InstructionId id) const { return element_count(module_.shape(id)); }

  // Whether `user` may compute its operand `id` where it reads it.
  bool may_take_in(InstructionId user, InstructionId id, bool read_once) const {
    const Op op = module_[user].op;
    const auto operands = module_.operands(user);
    if (op == Op::DynamicUpdateSlice && operands[0] == id) return false;
    if (!read_once && !is_elementwise(op)) return false;
    if (count(id) == 1) return true;
    const bool is_cheap = is_one_of(cheap, module_[id].op) || is_one_of(moving, module_[id].op);
    if (op == Op::Broadcast || op == Op::Gather)
      return count(user) <= count(id) || is_one_of(moving, module_[id].op);
    if (op == Op::Concatenate) return is_cheap && operands.size() <= 4;
    return true;
  }

  void fuse(ComputationId computation) {
    const std::vector<InstructionId> order = operands_first(module_, computation);
    std::unordered_map<uint32_t, InstructionId> group;  // the last instruction of each one's
    std::unordered_map<uint32_t, std::vector<InstructionId>> members;
    for (size_t i = order.size(); i-- > 0;) {
      const InstructionId id = order[i];
      if (const InstructionId into = group_for(id, computation, group, members)) {
        group[id.value] = into;
        members[into.value].push_back(id);
      } else if (can_be_last(id)) {
        group[id.value] = id;
        members[id.value] = {id};
      }
    }
    for (InstructionId id : order)
      if (const auto found = members.find(id.value); found != members.end())
        build(id, found->second);
  }

  InstructionId group_for(InstructionId id, ComputationId computation,
                          const std::unordered_map<uint32_t, InstructionId>& group,
                          const std::unordered_map<uint32_t, std::vector<InstructionId>>& members) {
    if (!can_be_inside(id) || module_[computation].root == id) return {};
    const std::vector<InstructionId> users = module_.users(id);
    InstructionId into;
    for (InstructionId user : users) {
      const auto found = group.find(user.value);
      if (found == group.end() || (into && found->second != into)) return {};
      into = found->second;
      if (!may_take_in(user, id, users.size() == 1)) return {};
    }
    if (into && members.at(into.value).size() >= most_members) return {};
    if (into && module_[into].op == Op::Dot && !is_piece(id)) return {};
    return into;
  }

  // Members stand last first.
  void build(InstructionId root, const std::vector<InstructionId>& members) {
    const bool has_free = std::ranges::any_of(
        module_.operands(root), [&](InstructionId operand) { return is_free(operand); });
    const bool is_product = module_[root].op == Op::Dot;  // reads arrays only
    if ((is_free(root) || is_product) && members.size() == 1) return;
    if (members.size() == 1 && !has_free) return;
    std::unordered_set<uint32_t> inside;
    for (InstructionId id : members) inside.insert(id.value);
    if (count_operands(members, inside) > most_operands) return;
    is_product_ = is_product;
    fused_ = module_.add_computation(fmt::format("fused_{}", module_[root].name));
    copies_.clear();
    outer_.clear();
    for (size_t i = members.size(); i-- > 0;) copy_into(members[i], inside);
    module_[fused_].root = copies_[root.value];
    FusionAttributes attributes;
    attributes.kind = module_[root].op == Op::Reduce ? FusionKind::Input : FusionKind::Loop;
    attributes.calls = fused_;
    const Shape shape = module_.shape(root);
    const InstructionId fusion = editor_.add(root, Op::Fusion, shape, outer_, attributes);
    editor_.replace(root, fusion);
    changed_ = true;
  }

  size_t count_operands(const std::vector<InstructionId>& members,
                        const std::unordered_set<uint32_t>& inside) const {
    std::unordered_set<uint32_t> outside;
    for (InstructionId id : members)
      for (InstructionId operand : module_.operands(id))
        if (!inside.contains(operand.value)) outside.insert(operand.value);
    return outside.size();
  }

  InstructionId copy_into(InstructionId id, const std::unordered_set<uint32_t>& inside) {
    if (const auto known = copies_.find(id.value); known != copies_.end()) return known->second;
    const bool is_copied = is_free(id) && (!is_product_ || module_[id].op == Op::Constant);
    if (!inside.contains(id.value) && !is_copied) {
      outer_.push_back(id);
      const Shape shape = module_.shape(id);
      return copies_[id.value] = editor_.add_parameter(fused_, id, shape);
    }
    const auto operands = module_.operands(id);
    std::vector<InstructionId> here;
    for (InstructionId operand : std::vector(operands.begin(), operands.end()))
      here.push_back(copy_into(operand, inside));
    return copies_[id.value] = editor_.clone(id, fused_, here);
  }

  Module& module_;
  Editor editor_;
  ComputationId fused_;
  std::unordered_map<uint32_t, InstructionId> copies_;
  std::vector<InstructionId> outer_;
  bool is_product_ = false;  // the fusion that is built
  bool changed_ = false;
};

}  // namespace

Result<bool> fuse_loops(Module& module, const PassOptions&) { return LoopFuser(module).run(); }

// A reshape outside of fusions moves nothing: it is the same bytes under another shape, which is
// what bitcast says and what the plan gives one place.
Result<bool> share_reshapes(Module& module, const PassOptions&) {
  std::unordered_set<uint32_t> fused;
  for (const Instruction& instruction : module.instructions)
    if (!instruction.removed && instruction.op == Op::Fusion)
      for (ComputationId callee : module.called(instruction)) fused.insert(callee.value);
  bool changed = false;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    Instruction& instruction = module[id];
    if (instruction.removed || instruction.op != Op::Reshape) continue;
    if (fused.contains(instruction.computation.value)) continue;
    instruction.op = Op::Bitcast;
    instruction.attributes = module.add_attributes(NoneAttributes{});
    changed = true;
  }
  return changed;
}

}  // namespace hilo
