// The collectives of a module, each once, and what they move over links.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "report/dump_reading.h"

namespace hilo {
namespace {

class Collectives {
 public:
  Collectives(const Module& module, std::span<const Cost> costs, const StepTimes* times)
      : module_(module), costs_(costs), caller_of_(module.computations.size()) {
    for (uint32_t i = 0; i < module.instructions.size(); ++i)
      for (const ComputationId called : module.called(module.instructions[i]))
        if (!starts(caller_of_[called.value])) caller_of_[called.value] = InstructionId{i};
    if (!times) return;
    for (CollectiveTime& one : times->collectives()) times_.emplace(one.id.value, std::move(one));
  }

  std::vector<PictureCollective> find() {
    find_started();
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
  // Channels of the collectives that a fusion starts, and others go on with.
  void find_started() {
    for (uint32_t i = 0; i < module_.instructions.size(); ++i)
      if (module_.instructions[i].op == Op::Fusion && collective_bytes(module_, InstructionId{i}))
        for (ComputationId called : module_.called(module_.instructions[i]))
          for (InstructionId inside : module_[called].instructions)
            if (const auto channel = channel_of(module_, inside)) started_.insert(*channel);
  }
  bool goes_on_with_another(InstructionId run, int64_t channel) const {
    return started_.contains(channel) && !collective_bytes(module_, run);
  }

  bool starts(InstructionId id) const { return id && module_[id].op == Op::AsyncStart; }

  // The instruction that stands in a computation which is run by itself, not as part of a fusion
  // or of what an async-start wraps.
  InstructionId run_by_itself(InstructionId id) const {
    for (size_t depth = 0; depth < caller_of_.size(); ++depth) {
      const InstructionId caller = caller_of_[module_[id].computation.value];
      if (!caller || (costs_[id.value].runs > 0 && !starts(caller))) break;
      id = caller;
    }
    return id;
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
    const auto channel = channel_of(module_, id);
    // A collective that is done in steps stands in several fusions.
    if (module_[run].op == Op::Fusion && channel &&
        (goes_on_with_another(run, *channel) || !channels_.insert(*channel).second))
      return;
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
    add_times(one, run);
    out_.push_back(std::move(one));
  }

  void add_times(PictureCollective& one, InstructionId run) const {
    const auto found = times_.find(run.value);
    if (found == times_.end()) return;
    one.seconds = found->second.seconds;
    one.exposed_seconds = found->second.exposed;
    for (const auto& [id, seconds] : found->second.behind)
      one.behind.push_back({std::string(module_[id].name), seconds});
  }

  const Module& module_;
  std::span<const Cost> costs_;
  std::vector<InstructionId> caller_of_;  // by computation
  std::set<int64_t> channels_, started_;
  std::unordered_map<uint32_t, CollectiveTime> times_;  // by what runs
  std::vector<PictureCollective> out_;
};

}  // namespace

std::vector<PictureCollective> find_collectives(const Module& module, std::span<const Cost> costs,
                                                const StepTimes* times) {
  return Collectives(module, costs, times).find();
}

}  // namespace hilo
