// The smallest program that a few kinds of changes find and that still fails as a given one does.
// Of what ops call, only computations of whole programs and of regions change.
#pragma once

#include "../judge.h"

namespace hilo::test {

class Shrink {
 public:
  using Fails = std::function<bool(const Module&)>;
  explicit Shrink(Fails fails) : fails_(std::move(fails)) {}

  Module run(Module module) {
    module.header.entry_computation_layout.reset();
    if (!fails_(module)) return module;
    module_ = std::move(module);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < end &&
           smaller_root() | fewer_instructions() | fewer_shardings()) {
    }
    return std::move(module_);
  }

 private:
  bool keep(Module candidate) {
    const auto pass = parse_pipeline("dce", all_passes());
    if (!run_pipeline(candidate, *pass, {})) return false;
    drop_parameters(candidate);
    candidate.compact();
    if (!verify(candidate).empty() || !fails_(candidate)) return false;
    module_ = std::move(candidate);
    return true;
  }
  static void drop_parameters(Module& module) {
    Computation& entry = module[module.entry];
    std::erase_if(entry.parameters, [&](InstructionId id) {
      if (module.has_users(id) || id == entry.root) return false;
      module.remove(id);
      std::erase(entry.instructions, id);
      return true;
    });
    for (size_t i = 0; i < entry.parameters.size(); ++i)
      module.mutable_attributes<ParameterAttributes>(entry.parameters[i]).number =
          static_cast<int64_t>(i);
  }

  // The entry and what it calls as a program.
  bool is_program(ComputationId id) const {
    return id == module_.entry || module_[id].name.starts_with("function") ||
           module_[id].name.starts_with("body") || module_[id].name.starts_with("region");
  }

  bool smaller_root() {
    const std::vector<InstructionId> all = module_[module_.entry].instructions;
    for (InstructionId id : all) {
      if (id == module_[module_.entry].root || module_[id].op == Op::Parameter) continue;
      Module candidate = module_;
      candidate[candidate.entry].root = id;
      if (keep(std::move(candidate))) return true;
    }
    return false;
  }
  // Values become parameters, or an operand of the same shape.
  bool fewer_instructions() {
    for (ComputationId computation : module_.post_order())
      for (InstructionId id : std::vector(module_[computation].instructions)) {
        if (!is_program(computation)) continue;
        const Shape of = module_.shape(id);
        for (InstructionId operand :
             std::vector(module_.operands(id).begin(), module_.operands(id).end())) {
          if (module_.shape(operand) != of) continue;
          Module candidate = module_;
          candidate.replace_all_uses(id, operand);
          if (keep(std::move(candidate))) return true;
        }
        if (computation != module_.entry || module_[id].op == Op::Parameter || of.is_token())
          continue;
        Module candidate = module_;
        const InstructionId given = candidate.add_instruction(
            candidate.entry, Op::Parameter, of, {},
            ParameterAttributes{std::ssize(candidate[candidate.entry].parameters)});
        if (const auto sharding = module_.extra(module_[id]).sharding)
          candidate.mutable_extra(given).sharding = sharding;
        auto& order = candidate[candidate.entry].instructions;
        std::rotate(order.begin(), order.end() - 1, order.end());
        candidate.replace_all_uses(id, given);
        if (keep(std::move(candidate))) return true;
      }
    return false;
  }
  bool fewer_shardings() {
    for (uint32_t id = 0; id < module_.instructions.size(); ++id) {
      if (module_.instructions[id].removed || !module_.extra(module_.instructions[id]).sharding)
        continue;
      if (module_.instructions[id].op == Op::CustomCall) continue;  // borders of regions
      Module candidate = module_;
      candidate.mutable_extra({id}).sharding = nullptr;
      if (keep(std::move(candidate))) return true;
    }
    return false;
  }

  Fails fails_;
  Module module_;
};

}  // namespace hilo::test
