// For tests of passes: two modules that must compute the same bits.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "eval/eval.h"
#include "pass/pass.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo::test {

inline Module sound_module(std::string_view text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module) << (module ? "" : to_string(module.error()));
  if (!module) return {};
  for (const Error& error : verify(*module)) ADD_FAILURE() << to_string(error);
  return *std::move(module);
}

// Parameters are arrays of f32.
inline Literal result_of(const Module& module) {
  std::vector<Literal> inputs;
  for (InstructionId parameter : module[module.entry].parameters) {
    const Shape& shape = module.shape(parameter);
    std::vector<float> numbers(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 0.25f * static_cast<float>(i) - static_cast<float>(inputs.size());
    inputs.push_back(Literal::from<float>(shape.dims, numbers));
  }
  auto out = evaluate(module, {{std::move(inputs)}});
  EXPECT_TRUE(out) << (out ? "" : to_string(out.error()));
  return out ? out->devices[0] : Literal();
}

inline void expect_same_program(const Module& want, const Module& got) {
  for (const Error& error : verify(got)) ADD_FAILURE() << to_string(error);
  const Literal a = result_of(want), b = result_of(got);
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_TRUE(same_bits(a, b)) << print(got);
}

}  // namespace hilo::test
