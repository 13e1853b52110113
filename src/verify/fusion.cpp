#include "verify/report.h"

namespace hilo {
namespace {

void verify_parameters(const Subject& subject, const Computation& fused) {
  if (fused.parameters.size() != subject.count())
    return subject.misfit(fmt::format("expected calls={} to take {} parameters, found {}",
                                      fused.name, subject.count(), fused.parameters.size()));
  for (size_t i = 0; i < fused.parameters.size(); ++i)
    if (const Shape& found = subject.module.shape(fused.parameters[i]);
        !fits(found, subject.operand(i)))
      return subject.misfit(fmt::format("expected parameter {} of calls={} to be {}, found {}", i,
                                        fused.name, shown(subject.operand(i)), shown(found)));
}

void verify_fusion(const Subject& subject) {
  const auto& a = subject.attributes<FusionAttributes>();
  const Computation& fused = subject.module[a.calls];
  verify_parameters(subject, fused);
  verify_output_aliases(subject, a.output_to_operand_aliasing);
}

void verify_all_used(const Subject& subject) {
  const Computation& fused = subject.module[subject.attributes<FusionAttributes>().calls];
  for (InstructionId id : fused.instructions)
    if (id != fused.root && !subject.module.has_users(id))
      return subject.report.add(ErrorKind::Structure, id, "the fused instruction is not used");
}

constexpr OpRule rules[] = {{Op::Fusion, verify_fusion}, {Op::Fusion, verify_all_used, true}};

}  // namespace

std::span<const OpRule> fusion_rules() { return rules; }

}  // namespace hilo
