#include "tools/neighbourhood.h"

#include <algorithm>

#include "rewrite/rewrite.h"
#include "tools/named.h"
#include "tools/only.h"

namespace hilo::tools {
namespace {

// The second of two, or a later one, of one asynchronous operation.
bool is_end(const Module& module, InstructionId id) {
  const std::string_view text = text_of(module[id].op);
  return text.ends_with("-done") || text.ends_with("-update");
}

class Extraction {
 public:
  Extraction(const Module& module, InstructionId centre)
      : module_(module), centre_(centre), kept_(module.instructions.size()) {}

  Neighbourhood run(const NeighbourhoodOptions& options) {
    keep(centre_);
    grow(options.depth, [&](InstructionId id) {
      const auto operands = module_.operands(id);
      return std::vector<InstructionId>(operands.begin(), operands.end());
    });
    border_ = {centre_};
    grow(options.users, [&](InstructionId id) { return module_.users(id); });
    complete_pairs();
    return build();
  }

 private:
  // Parameters stay what they are.
  void keep(InstructionId id) {
    if (kept_[id.value] || module_[id].op == Op::Parameter) return;
    kept_[id.value] = true;
    members_.push_back(id);
    border_.push_back(id);
  }

  template <class Neighbours>
  void grow(int steps, const Neighbours& neighbours) {
    for (int step = 0; step < steps && !border_.empty(); ++step)
      for (const InstructionId id : std::exchange(border_, {}))
        for (const InstructionId next : neighbours(id)) keep(next);
  }

  void complete_pairs() {
    for (size_t i = 0; i < members_.size(); ++i) {
      const InstructionId id = members_[i];
      if (is_end(module_, id)) keep(module_.operand(id, 0));
      for (const InstructionId user : module_.users(id))
        if (is_end(module_, user) && module_.operand(user, 0) == id) keep(user);
      for (const InstructionId operand : module_.operands(id))
        if (module_[operand].op == Op::Constant) keep(operand);
    }
  }

  Neighbourhood build() {
    out_.module = module_;
    Module& module = out_.module;
    forget_entry(module.header);
    entry_ = module.add_computation(fmt::format("extract.{}", module_[centre_].name));
    copies_.resize(module_.instructions.size());
    const auto& order = module_[module_[centre_].computation].instructions;
    for (const InstructionId id : order)
      if (kept_[id.value]) add_parameters_of(id);
    if (!kept_[centre_.value] && !copies_[centre_.value])
      copies_[centre_.value] = add_parameter(centre_);
    for (const InstructionId id : order)
      if (kept_[id.value]) copy(id);
    set_root();
    module.entry = entry_;
    remove_unreachable(module);
    return std::move(out_);
  }

  InstructionId add_parameter(InstructionId value) {
    Module& module = out_.module;
    const InstructionId id =
        module.add_instruction(entry_, Op::Parameter, module_.shape(value), {}, "");
    module[id].name = module[value].name;
    module[id].metadata = module[value].metadata;
    if (const auto& sharding = module_.extra(module_[value]).sharding)
      module.mutable_extra(id).sharding = sharding;
    out_.parameters.push_back(value);
    return id;
  }

  void add_parameters_of(InstructionId id) {
    for (const InstructionId operand : module_.operands(id))
      if (!kept_[operand.value] && !copies_[operand.value])
        copies_[operand.value] = add_parameter(operand);
  }

  // Operands may stand after their users, where the order is no schedule.
  InstructionId copy(InstructionId id) {
    std::vector<InstructionId> waiting = {id};
    while (!waiting.empty()) {
      const InstructionId top = waiting.back();
      bool is_ready = true;
      for (const InstructionId operand : module_.operands(top))
        if (!copies_[operand.value]) waiting.push_back(operand), is_ready = false;
      if (!is_ready) continue;
      waiting.pop_back();
      if (!copies_[top.value]) copies_[top.value] = copy_alone(top);
    }
    return copies_[id.value];
  }

  InstructionId copy_alone(InstructionId id) {
    Module& module = out_.module;
    Instruction copied = module[id];
    copied.computation = entry_;
    copied.first_use = {};
    copied.extra = {};
    std::vector<InstructionId> operands;
    for (const InstructionId operand : module_.operands(id))
      operands.push_back(copies_[operand.value]);
    const InstructionId out = module.append_raw(copied, operands);
    module[entry_].instructions.push_back(out);
    if (!module_[id].extra) return out;
    Extra extra = module_.extra(module_[id]);
    std::vector<InstructionId> predecessors;
    for (const InstructionId before : extra.control_predecessors)
      if (kept_[before.value] && copies_[before.value])
        predecessors.push_back(copies_[before.value]);
    extra.control_predecessors = std::move(predecessors);
    module.mutable_extra(out) = std::move(extra);
    return out;
  }

  // What nothing else here uses.
  void set_root() {
    Module& module = out_.module;
    for (const InstructionId id : module_[module_[centre_].computation].instructions)
      if (kept_[id.value] && std::ranges::none_of(module_.users(id), [&](InstructionId user) {
            return kept_[user.value];
          }))
        out_.results.push_back(id);
    if (out_.results.empty()) out_.results.push_back(centre_);
    std::vector<InstructionId> results;
    std::vector<Shape> shapes;
    for (const InstructionId id : out_.results) {
      results.push_back(copies_[id.value]);
      shapes.push_back(module_.shape(id));
    }
    module[entry_].root =
        results.size() == 1
            ? results.front()
            : module.add_instruction(entry_, Op::Tuple, Shape::tuple(std::move(shapes)), results,
                                     "results");
  }

  const Module& module_;
  InstructionId centre_;
  std::vector<bool> kept_;
  std::vector<InstructionId> members_, border_;
  std::vector<InstructionId> copies_;  // by instruction of the module: in the new entry
  ComputationId entry_;
  Neighbourhood out_;
};

Neighbourhood extract_computation(const Module& module, ComputationId id) {
  Neighbourhood out{module, module[id].parameters, {module[id].root}};
  if (id != module.entry) forget_entry(out.module.header);
  out.module.entry = id;
  remove_unreachable(out.module);
  return out;
}

}  // namespace

Result<Neighbourhood> extract(const Module& module, std::string_view option, std::string_view name,
                              const NeighbourhoodOptions& options) {
  const std::string_view bare = name.substr(name.starts_with('%') ? 1 : 0);
  if (const ComputationId id = module.find_computation(bare))
    return extract_computation(module, id);
  if (const InstructionId id = find_instruction(module, name))
    return Extraction(module, id).run(options);
  return std::unexpected(no_such_name(module, option, "computation or instruction", name));
}

}  // namespace hilo::tools
