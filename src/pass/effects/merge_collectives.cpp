// A collective that stands again in its computation, on the same channel, is done once.
//   y = all-gather(x), channel_id=4; z = all-gather(x), channel_id=4  =>  y for both
// TPU modules repeat one in each fusion that overlaps with it; opened, these stand side by side.
// All devices come to both or to none, so that leaving one out keeps every meeting complete.
// Assumes nothing. Stands after the opening of fusions and before the order of effects is fixed.
#include "pass/pass.h"

#include <algorithm>

namespace hilo {
namespace {

class CollectiveMerger {
 public:
  explicit CollectiveMerger(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (size_t i = 0; i < module_.computations.size(); ++i) {
      std::vector<InstructionId> seen;
      for (InstructionId id : operands_first(module_, {static_cast<uint32_t>(i)})) {
        if (!has_channel(id) || editor_.is_pinned(id)) continue;
        const auto first =
            std::ranges::find_if(seen, [&](InstructionId one) { return is_same(one, id); });
        if (first == seen.end()) {
          seen.push_back(id);
          continue;
        }
        editor_.replace_moved(id, *first);
        changed = true;
      }
    }
    return changed;
  }

 private:
  // Of transfers each one moves something.
  bool has_channel(InstructionId id) const {
    if (!is_communication(module_[id].op)) return false;
    return visit_attributes_type(module_[id].op, [&]<class A>(std::type_identity<A>) {
      if constexpr (!std::is_same_v<A, TransferAttributes> &&
                    requires(A a) { a.channel_id.has_value(); })
        return module_.attributes<A>(id).channel_id.has_value();
      return false;
    });
  }

  // The value itself where it went through tuples, as what a start gives does.
  InstructionId source_of(InstructionId id) const {
    while (module_[id].op == Op::GetTupleElement &&
           module_[module_.operand(id, 0)].op == Op::Tuple) {
      const int64_t index = module_.attributes<GetTupleElementAttributes>(id).index;
      id = module_.operand(module_.operand(id, 0), static_cast<size_t>(index));
    }
    return id;
  }

  bool is_same(InstructionId a, InstructionId b) const {
    const Instruction &x = module_[a], &y = module_[b];
    if (x.op != y.op || x.shape != y.shape) return false;
    const auto source = [&](InstructionId id) { return source_of(id); };
    if (!std::ranges::equal(module_.operands(a), module_.operands(b), {}, source, source))
      return false;
    const Extra &in_x = module_.extra(x), &in_y = module_.extra(y);
    if (in_x.frontend_attributes != in_y.frontend_attributes) return false;
    return visit_attributes_type(x.op, [&]<class A>(std::type_identity<A>) {
      const A &of_a = module_.attributes<A>(x), &of_b = module_.attributes<A>(y);
      return std::apply(
          [&](const auto&... field) { return ((of_a.*field.member == of_b.*field.member) && ...); },
          A::fields());
    });
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> merge_collectives(Module& module, const PassOptions&) {
  return CollectiveMerger(module).run();
}

}  // namespace hilo
