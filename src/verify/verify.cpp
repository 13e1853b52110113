#include "verify/verify.h"

#include <algorithm>
#include <array>

#include "verify/report.h"

namespace hilo {
namespace {

using RuleTable = std::array<std::vector<OpRule>, op_count>;

const RuleTable& rule_table() {
  static const RuleTable table = [] {
    RuleTable out;
    for (const auto& family :
         {call_rules(), reducer_rules(), fusion_rules(), async_rules(), collective_rules()})
      for (const OpRule& rule : family) out[static_cast<size_t>(rule.op)].push_back(rule);
    return out;
  }();
  return table;
}

// The stated shape against the inferred one. False when other rules cannot go on.
bool verify_shape(const Subject& subject) {
  const Result<Shape> inferred = infer_shape(subject.module, subject.instruction);
  if (!inferred) {
    subject.report.add(inferred.error().kind, subject.id, inferred.error().message);
    return false;
  }
  const bool exact = has_trait(subject.instruction.op, TraitExact);
  const bool sound =
      exact ? fits(subject.shape(), *inferred) : fits_but_precision(subject.shape(), *inferred);
  if (!sound)
    subject.misfit(
        fmt::format("expected a result of {}, found {}", shown(*inferred), shown(subject.shape())));
  return sound;
}

// Layouts of shapes that many instructions share are looked at once, and told at the first of them.
class LayoutCheck {
 public:
  bool verify(const Subject& subject) {
    const uint32_t id = subject.instruction.shape.value;
    if (seen_.size() <= id) seen_.resize(id + 1, Known::Unseen);
    if (seen_[id] != Known::Unseen) return seen_[id] == Known::Sound;
    const std::string fault = layout_fault(subject.shape());
    seen_[id] = fault.empty() ? Known::Sound : Known::Faulty;
    if (fault.empty()) return true;
    subject.misfit(fmt::format("{}: {}", to_string(subject.shape()), fault));
    return false;
  }

 private:
  enum class Known : uint8_t { Unseen, Sound, Faulty };
  std::vector<Known> seen_;
};

// Which computations of a module lack instructions.
class Incomplete {
 public:
  explicit Incomplete(const std::vector<bool>* computations) : computations_(computations) {}
  bool any() const { return computations_ != nullptr; }
  bool has(ComputationId id) const { return any() && (*computations_)[id.value]; }
  bool is_called_by(const Module& module, InstructionId id) const {
    return any() && std::ranges::any_of(module.called(module[id]),
                                        [&](ComputationId called) { return has(called); });
  }

 private:
  const std::vector<bool>* computations_;
};

// False where the rules for single instructions cannot go on.
bool verify_whole(const Module& module, const VerifyOptions& options, Report& report) {
  verify_structure(module, report);
  if (report.is_empty()) verify_order(module, report);
  if (report.is_empty()) verify_call_cycles(module, report);
  if (!report.is_empty()) return false;
  verify_header(module, !options.only_to_run, report);
  return true;
}

}  // namespace

std::vector<Error> verify(const Module& module, const VerifyOptions& options) {
  Report report(module, options.max_errors);
  const Incomplete incomplete(options.incomplete);
  if (!incomplete.any() && !verify_whole(module, options, report)) return report.take();
  LayoutCheck layouts;
  for (const Computation& computation : module.computations)
    for (InstructionId id : computation.instructions) {
      if (report.is_full()) return report.take();
      const Subject subject{report, module, id, module[id]};
      if (incomplete.is_called_by(module, id)) continue;
      if (!layouts.verify(subject) || !verify_shape(subject)) continue;
      if (!incomplete.has(subject.instruction.computation))
        for (const OpRule& rule : rule_table()[static_cast<size_t>(subject.instruction.op)])
          if (!rule.is_of_form || !options.only_to_run) rule.rule(subject);
      if (!options.only_to_run) verify_sharding(subject);
    }
  return report.take();
}

Result<void> check_module(const Module& module, const VerifyOptions& options) {
  VerifyOptions first = options;
  first.max_errors = 1;
  std::vector<Error> errors = verify(module, first);
  if (!errors.empty()) return std::unexpected(std::move(errors[0]));
  return {};
}

}  // namespace hilo
