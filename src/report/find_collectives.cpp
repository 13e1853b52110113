// What the collectives of a module move over links. The least that a device must send: an array of
// V bytes that n devices gather or scatter V (n-1)/n, a reduced one twice that (Chan et al.,
// "Collective communication", 2007).
#include <algorithm>
#include <set>

#include "report/dump_reading.h"

namespace hilo {
namespace {

template <class A>
concept HasGroups = requires(const A& a) { a.replica_groups; };
template <class A>
concept HasPairs = requires(const A& a) { a.source_target_pairs; };

int64_t count_devices(const Module& module, const ReplicaGroups& groups) {
  const std::vector<Dims> expanded = groups.expand();
  if (!expanded.empty()) return static_cast<int64_t>(expanded[0].size());
  return std::max<int64_t>(module.header.replica_count, 1) *
         std::max<int64_t>(module.header.num_partitions, 1);
}

double operand_bytes(const Module& module, const Instruction& instruction) {
  double out = 0;
  for (const InstructionId operand : module.operands(instruction))
    out += static_cast<double>(unpadded_bytes(module.shape(operand), 0));
  return out;
}

// Parts of V that a device sends, where `held` is its operand.
double sent(const AllGatherAttributes&, double held, double n) { return held * (n - 1); }
double sent(const AllReduceAttributes&, double held, double n) { return 2 * held * (n - 1) / n; }
double sent(const RaggedAllToAllAttributes&, double, double) { return 0; }  // data decide
template <class A>
double sent(const A&, double held, double n) {
  return held * (n - 1) / n;
}

class Collectives {
 public:
  Collectives(const Module& module, std::span<const Cost> costs)
      : module_(module), costs_(costs), caller_of_(module.computations.size()) {
    for (uint32_t i = 0; i < module.instructions.size(); ++i)
      for (const ComputationId called : module.called(module.instructions[i]))
        caller_of_[called.value] = InstructionId{i};
  }

  std::vector<PictureCollective> find() {
    for (uint32_t i = 0; i < module_.instructions.size(); ++i)
      if (module_.instructions[i].computation)
        visit_attributes_type(module_.instructions[i].op,
                              [&]<class A>(std::type_identity<A>) { add<A>(InstructionId{i}); });
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

  template <class A>
  void add(InstructionId id) {
    if constexpr (HasGroups<A> || HasPairs<A>) {
      const A& attributes = module_.attributes<A>(id);
      const InstructionId run = run_by_itself(id);
      // A collective that is done in steps stands in several fusions.
      if (run != id && attributes.channel_id && !channels_.insert(*attributes.channel_id).second)
        return;
      PictureCollective one;
      describe_instruction(one.instruction, module_, id);
      one.instruction.name = module_[id].name;
      one.runs = costs_[run.value].runs;
      one.runs_known = costs_[run.value].runs_known;
      const double held = operand_bytes(module_, module_[id]);
      if constexpr (HasGroups<A>) {
        one.devices = count_devices(module_, attributes.replica_groups);
        one.link_bytes = sent(attributes, held, static_cast<double>(one.devices));
      } else {
        one.devices = 2;
        one.link_bytes = held;
      }
      out_.push_back(std::move(one));
    }
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
