// The collectives of a module, each once, and what they move over links.
#include <algorithm>
#include <set>

#include "report/dump_reading.h"

namespace hilo {
namespace {

class Collectives {
 public:
  Collectives(const Module& module, std::span<const Cost> costs)
      : module_(module), costs_(costs), caller_of_(module.computations.size()) {
    for (uint32_t i = 0; i < module.instructions.size(); ++i)
      for (const ComputationId called : module.called(module.instructions[i]))
        caller_of_[called.value] = InstructionId{i};
  }

  std::vector<PictureCollective> find() {
    for (uint32_t i = 0; i < module_.instructions.size(); ++i) {
      const Instruction& instruction = module_.instructions[i];
      const bool holds_one = instruction.op == Op::Fusion || instruction.op == Op::AsyncStart;
      if (!instruction.computation || holds_one) continue;
      if (const auto what = collective_bytes(module_, InstructionId{i}))
        add(InstructionId{i}, *what);
    }
    const auto total = [](const PictureCollective& one) { return one.link_bytes * one.runs; };
    std::stable_sort(out_.begin(), out_.end(),
                     [&](const auto& a, const auto& b) { return total(a) > total(b); });
    return std::move(out_);
  }

 private:
  // The instruction that stands in a computation which is run by itself, not as part of a fusion.
  InstructionId run_by_itself(InstructionId id) const {
    for (size_t depth = 0; costs_[id.value].runs == 0 && depth < caller_of_.size(); ++depth) {
      const InstructionId caller = caller_of_[module_[id].computation.value];
      if (!caller) break;
      id = caller;
    }
    return id;
  }

  std::optional<int64_t> channel_of(InstructionId id) const {
    return visit_attributes_type(module_[id].op,
                                 [&]<class A>(std::type_identity<A>) -> std::optional<int64_t> {
                                   if constexpr (requires(const A& a) { a.channel_id; })
                                     return module_.attributes<A>(id).channel_id;
                                   else return {};
                                 });
  }

  // Groups that are written as axes of a mesh.
  std::string axes_of(InstructionId id) const {
    return visit_attributes_type(module_[id].op, [&]<class A>(std::type_identity<A>) {
      std::string out;
      if constexpr (requires(const A& a) { a.replica_groups.axes; })
        for (const AxisRef& axis : module_.attributes<A>(id).replica_groups.axes)
          out += fmt::format("{}{}", out.empty() ? "" : ", ", text_of_axis(axis));
      return out;
    });
  }
  static std::string text_of_axis(const AxisRef& axis) {
    return axis.sub ? fmt::format("{}:({}){}", axis.name, axis.sub->first, axis.sub->second)
                    : axis.name;
  }

  std::optional<PictureCollective::Reason> reason_of(InstructionId id) const {
    const FrontendAttributes& said = module_.extra(module_[id]).frontend_attributes;
    const auto text = [&](const char* key) {
      const auto found = said.find(key);
      return found == said.end() ? std::string() : found->second.text;
    };
    PictureCollective::Reason out{text("hilo.reshard.array"), text("hilo.reshard.for"),
                                  text("hilo.reshard.from"), text("hilo.reshard.to")};
    if (out.array.empty()) return std::nullopt;
    return out;
  }

  void add(InstructionId id, const CollectiveBytes& what) {
    const InstructionId run = run_by_itself(id);
    const auto channel = channel_of(id);
    // A collective that is done in steps stands in several fusions.
    if (run != id && channel && !channels_.insert(*channel).second) return;
    PictureCollective one;
    describe_instruction(one.instruction, module_, id);
    one.instruction.name = module_[id].name;
    one.kind = text_of(what.kind);
    one.runs = costs_[run.value].runs;
    one.runs_known = costs_[run.value].runs_known;
    one.devices = what.group;
    one.link_bytes = what.sent_bytes;
    one.axes = axes_of(id);
    one.reason = reason_of(id);
    out_.push_back(std::move(one));
  }

  const Module& module_;
  std::span<const Cost> costs_;
  std::vector<InstructionId> caller_of_;  // by computation
  std::set<int64_t> channels_;
  std::vector<PictureCollective> out_;
};

}  // namespace

std::vector<PictureCollective> find_collectives(const Module& module, std::span<const Cost> costs) {
  return Collectives(module, costs).find();
}

}  // namespace hilo
