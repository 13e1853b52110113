// Modules with a mistake, and what the message about it must say.
#pragma once

#include <gtest/gtest.h>

#include "text/text.h"
#include "verify/verify.h"

namespace hilo {

struct Mistake {
  const char* module;
  const char* message;  // part of it
  const char* at = "";  // the instruction that it names
};

// All messages, one a line; "" when the module is sound.
inline std::string mistakes_of(const char* text) {
  const Result<Module> module = parse(text);
  if (!module) return "not parsed: " + to_string(module.error());
  std::string out;
  for (const Error& error : verify(*module)) out += to_string(error) + "\n";
  return out;
}

inline void expect_mistake(const Mistake& mistake) {
  const Result<Module> module = parse(mistake.module);
  ASSERT_TRUE(module) << mistake.module << to_string(module.error());
  const std::vector<Error> errors = verify(*module);
  ASSERT_EQ(errors.size(), 1u) << mistake.module << mistakes_of(mistake.module);
  EXPECT_NE(errors[0].message.find(mistake.message), std::string::npos)
      << mistake.module << to_string(errors[0]);
  EXPECT_EQ(errors[0].place.instruction, mistake.at) << mistake.module << to_string(errors[0]);
}

}  // namespace hilo
