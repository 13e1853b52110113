// For tests: modules from text, things in them by name, and sets of values as text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/analysis.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo::testing_analysis {

struct Parsed {
  Module module;
  Aliases aliases;

  explicit Parsed(std::string_view text) {
    Result<Module> parsed = parse(text);
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : to_string(parsed.error()));
    if (!parsed) return;
    module = *std::move(parsed);
    for (const Error& error : verify(module)) ADD_FAILURE() << to_string(error);
    Result<Aliases> found = find_aliases(module);
    EXPECT_TRUE(found.has_value()) << (found ? "" : to_string(found.error()));
    if (found) aliases = *std::move(found);
  }

  InstructionId operator[](std::string_view name) const {
    for (uint32_t i = 0; i < module.instructions.size(); ++i)
      if (module.instructions[i].name == name) return {i};
    ADD_FAILURE() << "no instruction " << name;
    return {0};
  }
  // Names of the values at a part of a result, "add{}" or "a{} b{1}".
  std::string at(std::string_view name, const Dims& index = {}) const {
    std::string out;
    for (ValueId value : aliases.at((*this)[name], index))
      out += (out.empty() ? "" : " ") + name_of(module, aliases[value]);
    return out;
  }
  // Names of the values in the buffer of the one value there, sorted.
  std::string buffer(std::string_view name, const Dims& index = {}) const {
    const auto values = aliases.at((*this)[name], index);
    EXPECT_EQ(values.size(), 1u) << name;
    std::vector<std::string> names;
    for (ValueId value : aliases.buffer(values[0]).values)
      names.push_back(name_of(module, aliases[value]));
    std::sort(names.begin(), names.end());
    std::string out;
    for (const std::string& each : names) out += (out.empty() ? "" : " ") + each;
    return out;
  }
  bool may_share(std::string_view operand, std::string_view user,
                 const Dims& user_index = {}) const {
    return hilo::may_share(module, aliases, (*this)[operand], {}, (*this)[user], user_index);
  }
};

}  // namespace hilo::testing_analysis
