// For tests: modules with their plans, and evaluation inside them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "eval/eval.h"
#include "pass/pass.h"
#include "plan/plan.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo::test {

inline const Machine& cpu() { return *find_machine("cpu"); }

struct Planned {
  Module original;
  Module module;  // with copies
  Plan plan;
};
// Every step is verified; the plan is not checked.
inline Result<Planned> make_plan(std::string_view text, const PlanOptions& options = {},
                                 const Machine& machine = cpu()) {
  Planned out;
  HILO_TRY(out.original, parse(text));
  for (const Error& error : verify(out.original)) return std::unexpected(error);
  out.module = out.original;
  HILO_DO(insert_copies(out.module, {.machine = &machine}));
  for (const Error& error : verify(out.module)) return std::unexpected(error);
  HILO_TRY(out.plan, plan(out.module, machine, options));
  return out;
}

inline Literal some_numbers(const Shape& shape, uint64_t& seed) {
  if (shape.is_tuple()) {
    std::vector<Literal> parts;
    for (const Shape& part : shape.elements) parts.push_back(some_numbers(part, seed));
    return Literal::tuple(std::move(parts));
  }
  std::vector<float> numbers(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>((seed * 31 + i * 7) % 97) / 97.0f - 0.4f;
  seed += 17;
  return Literal::from<float>(shape.dims, numbers);
}
// For modules whose parameters are of f32.
inline Inputs inputs_of(const Module& module, uint64_t seed) {
  std::vector<Literal> values;
  for (InstructionId parameter : module[module.entry].parameters)
    values.push_back(some_numbers(module.shape(parameter), seed));
  return {{std::move(values)}};
}

inline Result<Literal> run(const Module& module, uint64_t seed, const Plan* plan = nullptr) {
  EvalOptions options;
  options.threads = 1;
  if (plan) options.place = bind_in_arena(module, *plan, 1);
  HILO_TRY(const Outputs outputs, evaluate(module, inputs_of(module, seed), options));
  return outputs.devices[0];
}

// The module with its instructions in the order of the schedule.
inline Module ordered(const Module& module, const Schedule& schedule) {
  Module out = module;
  for (size_t c = 0; c < schedule.orders.size(); ++c)
    if (!schedule.orders[c].empty()) out.computations[c].instructions = schedule.orders[c];
  return out;
}

// What is different when the module runs inside the plan, in its order; "" when nothing is.
inline std::string difference_inside(const Planned& planned, uint64_t seed) {
  const auto want = run(planned.original, seed);
  const auto got = run(ordered(planned.module, planned.plan.schedule), seed, &planned.plan);
  if (!want || !got) return "run: " + to_string((want ? got : want).error());
  return same_bits(*want, *got) ? "" : "the bits differ inside the plan";
}

// All that the checker says, a line each.
inline std::string faults_of(const Module& module, const Plan& plan) {
  std::string out;
  for (const Error& error : check_plan(module, cpu(), plan)) out += to_string(error) + "\n";
  return out;
}

// A plan that is right, and its module.
inline Planned sound_plan(std::string_view text, const PlanOptions& options = {}) {
  auto made = make_plan(text, options);
  EXPECT_TRUE(made) << (made ? "" : to_string(made.error()));
  if (!made) return {};
  EXPECT_EQ(faults_of(made->module, made->plan), "");
  EXPECT_EQ(difference_inside(*made, 1), "");
  return *std::move(made);
}

inline InstructionId instruction(const Module& module, std::string_view name) {
  for (uint32_t i = 0; i < module.instructions.size(); ++i)
    if (!module.instructions[i].removed && module.instructions[i].name == name) return {i};
  ADD_FAILURE() << "no instruction " << name;
  return module[module.entry].root;
}
inline size_t place_in_order(const Planned& planned, std::string_view name) {
  const InstructionId id = instruction(planned.module, name);
  const auto& order = planned.plan.schedule.orders[planned.module[id].computation.value];
  return static_cast<size_t>(std::ranges::find(order, id) - order.begin());
}

}  // namespace hilo::test
