#include <algorithm>

#include "ir/ir.h"

namespace hilo {
namespace {

class Comparison {
 public:
  Comparison(const Module& a, const Module& b) : a_(a), b_(b) {}

  std::string run() {
    if (a_.header != b_.header) return "the headers";
    if (a_.computations.size() != b_.computations.size()) return "the number of computations";
    if (!same(a_.entry, b_.entry)) return "the entry computation";
    for (size_t i = 0; i < a_.computations.size(); ++i)
      if (std::string found = computations(a_.computations[i], b_.computations[i]); !found.empty())
        return fmt::format("computation {}: {}", a_.computations[i].name, found);
    return "";
  }

 private:
  bool same(ComputationId a, ComputationId b) const {
    return a && b ? a_[a].name == b_[b].name : !a && !b;
  }
  bool same(InstructionId a, InstructionId b) const {
    return a && b ? a_[a].name == b_[b].name : !a && !b;
  }
  template <class T>
  bool same(const T& a, const T& b) const {
    return a == b;
  }
  template <class Ids>
  bool same_ids(const Ids& a, const Ids& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](auto x, auto y) { return same(x, y); });
  }
  bool same(const std::vector<ComputationId>& a, const std::vector<ComputationId>& b) const {
    return same_ids(a, b);
  }

  std::vector<InstructionId> kept(const Module& module, const Computation& computation) const {
    std::vector<InstructionId> out = computation.instructions;
    std::erase_if(out, [&](InstructionId id) { return module[id].removed; });
    return out;
  }

  std::string computations(const Computation& a, const Computation& b) const {
    if (a.name != b.name) return fmt::format("the name {}", b.name);
    if (a.execution_thread != b.execution_thread) return "the execution thread";
    if (!same(a.root, b.root)) return "the root";
    if (!same_ids(a.parameters, b.parameters)) return "the parameters";
    const auto all_a = kept(a_, a), all_b = kept(b_, b);
    if (all_a.size() != all_b.size()) return "the number of instructions";
    for (size_t i = 0; i < all_a.size(); ++i) {
      const std::string_view found = instructions(a_[all_a[i]], b_[all_b[i]]);
      if (!found.empty()) return fmt::format("instruction {}: {}", a_[all_a[i]].name, found);
    }
    return "";
  }

  std::string_view instructions(const Instruction& a, const Instruction& b) const {
    if (a.name != b.name) return "the name";
    if (a.op != b.op) return "the op";
    if (a_.shape(a) != b_.shape(b)) return "the shape";
    if (!same_ids(a_.operands(a), b_.operands(b))) return "the operands";
    if (!same_attributes(a, b)) return "the attributes";
    if (a_.metadata_of(a) != b_.metadata_of(b)) return "the metadata";
    return extras(a_.extra(a), b_.extra(b));
  }

  bool same_attributes(const Instruction& a, const Instruction& b) const {
    if (!a.attributes || !b.attributes) return !a.attributes && !b.attributes;
    return visit_attributes_type(a.op, [&]<class A>(std::type_identity<A>) {
      const A &in_a = a_.attributes<A>(a), &in_b = b_.attributes<A>(b);
      return std::apply(
          [&](const auto&... field) {
            return (same(in_a.*field.member, in_b.*field.member) && ...);
          },
          A::fields());
    });
  }

  std::string_view extras(const Extra& a, const Extra& b) const {
    if (!a.sharding != !b.sharding || (a.sharding && *a.sharding != *b.sharding))
      return "the sharding";
    if (a.frontend_attributes != b.frontend_attributes) return "the frontend attributes";
    if (!same_ids(a.control_predecessors, b.control_predecessors)) return "control-predecessors";
    if (a.statistics != b.statistics) return "the statistics";
    if (a.result_accuracy != b.result_accuracy) return "the result accuracy";
    if (a.origin != b.origin) return "the origin";
    if (a.parameter_replication != b.parameter_replication) return "parameter_replication";
    if (a.backend_config != b.backend_config ||
        a.backend_config_is_json != b.backend_config_is_json)
      return "the backend_config";
    return a.unknown != b.unknown ? "the unknown attributes" : "";
  }

  const Module& a_;
  const Module& b_;
};

}  // namespace

std::string difference(const Module& a, const Module& b) { return Comparison(a, b).run(); }

}  // namespace hilo
