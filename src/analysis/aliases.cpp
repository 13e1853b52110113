// Values, where they stand and who reads them, and the buffers that they must share: the rules of
// XLA's HloAliasAnalysis.
#include <algorithm>
#include <numeric>

#include "analysis/dataflow.h"
#include "analysis/in_place.h"

namespace hilo {
namespace {

// Sets of values that share a buffer.
class Unions {
 public:
  explicit Unions(size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), 0u);
  }
  uint32_t find(uint32_t value) {
    while (parents_[value] != value) value = parents_[value] = parents_[parents_[value]];
    return value;
  }
  void unite(uint32_t a, uint32_t b) {
    a = find(a), b = find(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> parents_;
};

class AliasFinder {
 public:
  AliasFinder(const Module& module, const CallGraph& calls, NodeTable& nodes, Dataflow& flow)
      : module_(module), calls_(calls), nodes_(nodes), flow_(flow) {}
  Aliases find();

 private:
  struct Slot {
    InstructionId user;
    int64_t operand = 0;
  };

  void take_values();
  void take_sets();
  void add_positions();
  void index_users();
  void add_uses(Value& value);
  void add_uses(Value& value, const Position& position, std::span<const Slot> users);
  void add_buffers();
  void unite(Unions& unions, InstructionId a, uint32_t node_a, InstructionId b, uint32_t node_b);
  void unite_all(Unions& unions, InstructionId a, InstructionId b);
  void unite_in_place(Unions& unions);
  void unite_calls(Unions& unions, InstructionId id);
  void unite_entry(Unions& unions);
  bool is_root(InstructionId id) const { return module_[module_[id].computation].root == id; }

  const Module& module_;
  const CallGraph& calls_;
  NodeTable& nodes_;
  Dataflow& flow_;
  Aliases out_;
  std::vector<uint32_t> dense_;           // ValueId by XLA's number
  std::vector<uint32_t> first_user_;      // by instruction
  std::vector<Slot> users_;               // those that see through to parts of tuples last
  std::vector<uint32_t> deep_end_;        // by instruction: where those begin
  std::vector<uint32_t> stands_at_root_;  // by computation: number of the last value to stand there
};

// get-tuple-element and copy read the table of pointers only, tuple and domain nothing.
bool sees_through(Op op) {
  return op == Op::GetTupleElement || op == Op::Copy || op == Op::Tuple || op == Op::Domain;
}

void AliasFinder::take_values() {
  dense_.resize(flow_.values.size(), UINT32_MAX);
  for (uint32_t number = 0; number < flow_.values.size(); ++number) {
    const Dataflow::Definition& definition = flow_.values[number];
    if (definition.is_deleted) continue;
    dense_[number] = static_cast<uint32_t>(out_.values.size());
    Value& value = out_.values.emplace_back();
    value.number = number;
    value.is_phi = definition.is_phi;
    value.positions.push_back(
        {definition.instruction, nodes_[definition.instruction].indices[definition.node]});
  }
}

// Set 0 is empty, set v + 1 holds value v, those of several values follow.
void AliasFinder::take_sets() {
  const uint32_t count = static_cast<uint32_t>(out_.values.size());
  out_.set_start.resize(count + 2);
  for (uint32_t i = 0; i < count; ++i) {
    out_.set_start[i + 1] = i;
    out_.set_values.push_back({i});
  }
  out_.set_start[count + 1] = count;
  std::unordered_map<ValueSets::Set, uint32_t> several;
  out_.sets.reserve(flow_.sets.size());
  for (ValueSets::Set set : flow_.sets) {
    const auto values = flow_.known_sets.values(set);
    if (values.size() < 2) {
      out_.sets.push_back(values.empty() ? 0 : dense_[values[0]] + 1);
      continue;
    }
    const auto [at, is_new] =
        several.try_emplace(set, static_cast<uint32_t>(out_.set_start.size() - 1));
    out_.sets.push_back(at->second);
    if (!is_new) continue;
    for (uint32_t value : values) out_.set_values.push_back({dense_[value]});
    out_.set_start.push_back(static_cast<uint32_t>(out_.set_values.size()));
  }
  out_.first_node = std::move(flow_.first_node);
}

void AliasFinder::add_positions() {
  for (ComputationId computation : calls_.order)
    for (InstructionId id : module_[computation].instructions) {
      const ShapeNodes& nodes = nodes_[id];
      for (uint32_t node = 0; node < nodes.size(); ++node)
        for (ValueId value : out_.at_node(id, node)) {
          Value& here = out_.values[value.value];
          if (here.definition().instruction != id)
            here.positions.push_back({id, nodes.indices[node]});
          if (computation == module_.entry && is_root(id)) here.live_out = true;
        }
    }
}

void AliasFinder::index_users() {
  const size_t count = module_.instructions.size();
  first_user_.assign(count + 1, 0);
  for (ComputationId computation : calls_.order)
    for (InstructionId user : module_[computation].instructions)
      for (InstructionId operand : module_.operands(user)) ++first_user_[operand.value + 1];
  for (size_t i = 1; i <= count; ++i) first_user_[i] += first_user_[i - 1];
  users_.resize(first_user_.back());
  std::vector<uint32_t> next(first_user_.begin(), first_user_.end() - 1);
  const auto add = [&](bool through) {
    for (ComputationId computation : calls_.order)
      for (InstructionId user : module_[computation].instructions) {
        if (sees_through(module_[user].op) != through) continue;
        const auto operands = module_.operands(user);
        for (size_t i = 0; i < operands.size(); ++i)
          users_[next[operands[i].value]++] = {user, static_cast<int64_t>(i)};
      }
  };
  add(false);
  deep_end_ = next;
  add(true);
}

// A root in which the value stands counts as its user even when it only passes it on.
void AliasFinder::add_uses(Value& value, const Position& position, std::span<const Slot> users) {
  const auto stands_in = [&](InstructionId root) {
    return stands_at_root_[module_[root].computation.value] == value.number;
  };
  for (const Slot& slot : users) {
    const Op op = module_[slot.user].op;
    const bool reads = !sees_through(op) ||
                       ((op == Op::GetTupleElement || op == Op::Copy) && position.index.empty());
    if (reads || (is_root(slot.user) && stands_in(slot.user)))
      value.uses.push_back({slot.user, slot.operand, position.index});
  }
}

void AliasFinder::add_uses(Value& value) {
  for (const Position& position : value.positions)
    if (is_root(position.instruction))
      stands_at_root_[module_[position.instruction].computation.value] = value.number;
  for (const Position& position : value.positions) {
    const uint32_t id = position.instruction.value;
    const uint32_t first = first_user_[id], end = first_user_[id + 1];
    const std::span<const Slot> users(users_);
    if (position.index.empty() || end - deep_end_[id] < 8) {
      add_uses(value, position, users.subspan(first, end - first));
      continue;
    }
    // Most users of a wide tuple take other elements; only the root may still count.
    add_uses(value, position, users.subspan(first, deep_end_[id] - first));
    const InstructionId root = module_[module_[position.instruction].computation].root;
    const auto operands = module_.operands(root);
    if (!sees_through(module_[root].op)) continue;
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i] == position.instruction) {
        const Slot slot{root, static_cast<int64_t>(i)};
        add_uses(value, position, {&slot, 1});
      }
  }
}

void AliasFinder::unite(Unions& unions, InstructionId a, uint32_t node_a, InstructionId b,
                        uint32_t node_b) {
  const auto values_a = out_.at_node(a, node_a), values_b = out_.at_node(b, node_b);
  if (values_a.empty() || values_b.empty()) return;
  for (ValueId value : values_a) unions.unite(value.value, values_b[0].value);
  for (ValueId value : values_b) unions.unite(value.value, values_a[0].value);
}

void AliasFinder::unite_all(Unions& unions, InstructionId a, InstructionId b) {
  const uint32_t count = std::min(nodes_[a].size(), nodes_[b].size());
  for (uint32_t node = 0; node < count; ++node) unite(unions, a, node, b, node);
}

// What a while carries, and what the branches of a conditional give.
void AliasFinder::unite_calls(Unions& unions, InstructionId id) {
  if (module_[id].op == Op::While) {
    const auto& [condition, body] = module_.attributes<WhileAttributes>(id);
    unite_all(unions, id, module_.operand(id, 0));
    unite_all(unions, id, module_[body].root);
    unite_all(unions, id, module_[body].parameters[0]);
    unite_all(unions, id, module_[condition].parameters[0]);
  } else if (module_[id].op == Op::Conditional) {
    for (ComputationId branch : module_.called(module_[id]))
      unite_all(unions, id, module_[branch].root);
  }
}

void AliasFinder::unite_in_place(Unions& unions) {
  InPlacePairs pairs(module_, nodes_);
  for (ComputationId computation : module_.post_order()) pairs.add_computation(computation);
  for (uint32_t i = 0; i < module_.instructions.size(); ++i) {
    const InstructionId id{i};
    for (const NodePair& pair : pairs[id]) {
      const InstructionId operand = module_.operand(id, static_cast<size_t>(pair.operand));
      unite(unions, id, pair.output_node, operand, pair.operand_node);
      out_.in_place.push_back({id, pair.operand, nodes_[operand].indices[pair.operand_node],
                               nodes_[id].indices[pair.output_node]});
    }
  }
}

void AliasFinder::unite_entry(Unions& unions) {
  const Computation& entry = module_[module_.entry];
  for (const BufferAlias& alias : module_.header.input_output_alias) {
    const InstructionId parameter = entry.parameters[static_cast<size_t>(alias.parameter)];
    unite(unions, entry.root, nodes_[entry.root].find(alias.output_index), parameter,
          nodes_[parameter].find(alias.parameter_index));
  }
}

void AliasFinder::add_buffers() {
  Unions unions(out_.values.size());
  for (ComputationId computation : calls_.order)
    for (InstructionId id : module_[computation].instructions) unite_calls(unions, id);
  unite_in_place(unions);
  unite_entry(unions);
  out_.buffer_of.resize(out_.values.size());
  for (uint32_t i = 0; i < out_.values.size(); ++i) {
    const uint32_t first = unions.find(i);  // the smallest of its set
    if (first == i) {
      out_.buffer_of[i] = {static_cast<uint32_t>(out_.buffers.size())};
      out_.buffers.emplace_back();
    } else {
      out_.buffer_of[i] = out_.buffer_of[first];
    }
    out_.buffers[out_.buffer_of[i].value].values.push_back({i});
  }
}

Aliases AliasFinder::find() {
  take_values();
  take_sets();
  add_positions();
  index_users();
  stands_at_root_.assign(module_.computations.size(), UINT32_MAX);
  for (Value& value : out_.values) add_uses(value);
  add_buffers();
  out_.shapes.reserve(module_.instructions.size());
  for (const Instruction& instruction : module_.instructions)
    out_.shapes.push_back(instruction.shape);
  out_.nodes_of_shape = nodes_.take_indices();
  return std::move(out_);
}

}  // namespace

Result<Aliases> find_aliases(const Module& module) {
  const CallGraph calls(module);
  HILO_TRY(NodeTable nodes, NodeTable::make(module, calls.order));
  Dataflow flow(module, calls, nodes);
  HILO_DO(flow.run());
  return AliasFinder(module, calls, nodes, flow).find();
}

}  // namespace hilo
