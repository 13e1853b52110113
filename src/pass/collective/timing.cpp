#include "pass/collective/timing.h"

#include <algorithm>

namespace hilo {
namespace {

struct AxisRow {
  std::string_view name;
  int64_t links;
  double step;
};
struct LinkRow {
  std::string_view name;
  int64_t links;
  double rate;
};

#define KIB(n) (int64_t{n} << 10)
#define MIB(n) (int64_t{n} << 20)
#define GIB(n) (int64_t{n} << 30)
#define TPU(...)
#define GPU(...)
#define CPU(...)
#define TPU_PROGRAMS(name, usable, reserved, cores, scoped, links, link_rate) \
  LinkRow{#name, links, link_rate},
#define GPU_PROGRAMS(name, architecture, links, link_rate) LinkRow{#name, links, link_rate},
constexpr LinkRow link_rows[] = {
#include "machine/machines.def"
};
#define AXIS_LINKS(name, links, seconds) AxisRow{#name, links, seconds},
constexpr AxisRow axis_rows[] = {
#include "machine/machines.def"
};

}  // namespace

std::optional<Links> links_of(const Machine& machine) {
  const auto row = std::ranges::find(link_rows, machine.name, &LinkRow::name);
  const auto axis = std::ranges::find(axis_rows, machine.name, &AxisRow::name);
  if (row == std::end(link_rows) || axis == std::end(axis_rows) || row->rate <= 0)
    return std::nullopt;
  return Links{static_cast<double>(axis->links) * row->rate, row->rate, axis->step};
}

double steps_of(const CollectiveBytes& bytes) {
  const auto others = static_cast<double>(bytes.group - 1);
  return bytes.kind == Op::AllReduce ? 2 * others : others;
}

double seconds_of(const CollectiveBytes& bytes, const Links& links) {
  const double rate =
      bytes.kind == Op::CollectivePermute ? links.link_bytes_per_second : links.bytes_per_second;
  return steps_of(bytes) * links.step_seconds + bytes.sent_bytes / rate;
}

StepTimes::StepTimes(const Module& module, const Machine& machine)
    : module_(module),
      links_(links_of(machine)),
      flops_(std::max(machine.flops_f32, machine.flops_bf16)),
      bytes_(memory_space(machine, 0).bytes_per_second),
      costs_(count_cost(module)),
      sent_(module.instructions.size()),
      is_start_(module.instructions.size()) {
  if (!is_known()) return;
  for (uint32_t i = 0; i < sent_.size(); ++i) {
    if (module.instructions[i].removed) continue;
    const auto bytes = collective_bytes(module, {i});
    is_start_[i] = bytes && has_trait(module.instructions[i].op, TraitEffect);
    if (bytes && bytes->group > 1) sent_[i] = seconds_of(*bytes, *links_);
  }
}

bool StepTimes::is_done(InstructionId id) const {
  const Instruction& end = module_[id];
  return has_trait(end.op, TraitEffect) && has_trait(end.op, TraitNoTraffic) &&
         end.operand_count == 1 && is_start(module_.operand(id, 0));
}

double StepTimes::computation(InstructionId id) const {
  const Op op = module_[id].op;
  if (op == Op::While || op == Op::Conditional || op == Op::Call) return of_callees(id).step;
  if (id.value >= costs_.size() || is_communication(op) || has_trait(op, TraitNoTraffic)) return 0;
  const Cost& cost = costs_[id.value];
  return std::max(cost.flops / flops_, (cost.bytes_read + cost.bytes_written) / bytes_);
}

Timeline StepTimes::of_callees(InstructionId id) const {
  Timeline out;
  const Op op = module_[id].op;
  const auto rounds = op == Op::While ? stated_trip_count(module_, id) : std::nullopt;
  const auto times = static_cast<double>(rounds.value_or(1));
  for (ComputationId callee : module_.called(module_[id])) {
    auto found = known_.find(callee.value);
    if (found == known_.end()) found = known_.emplace(callee.value, along(callee)).first;
    const Timeline& one = found->second;
    if (op == Op::Conditional && one.step <= out.step) continue;
    if (op == Op::Conditional) out = {};
    out.step += times * one.step;
    out.compute += times * one.compute;
    out.communication += times * one.communication;
  }
  return out;
}

Timeline StepTimes::along(ComputationId id) const {
  return along(std::span(module_[id].instructions));
}

Timeline StepTimes::along(std::span<const InstructionId> order) const {
  Timeline out;
  double now = 0, network = 0;  // when each is free
  std::unordered_map<uint32_t, double> ends;
  for (InstructionId id : order) {
    if (module_[id].removed) continue;
    const Op op = module_[id].op;
    if (is_done(id)) {
      if (const auto end = ends.find(module_.operand(id, 0).value); end != ends.end())
        now = std::max(now, end->second);
    } else if (const double sent = communication(id); sent > 0) {
      network = std::max(now, network) + sent;
      out.communication += sent;
      if (is_start(id)) ends[id.value] = network;
      else now = network;
    } else if (op == Op::While || op == Op::Conditional || op == Op::Call) {
      const Timeline inside = of_callees(id);
      now += inside.step;
      if (inside.communication > 0) network = std::max(network, now);
      out.compute += inside.compute;
      out.communication += inside.communication;
    } else {
      const double seconds = computation(id);
      now += seconds;
      out.compute += seconds;
    }
  }
  out.step = now;
  return out;
}

}  // namespace hilo
