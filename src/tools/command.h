// The subcommands of `hilo`; commands.def lists them. Private to `tools`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"
#include "tools/arguments.h"

namespace hilo::tools {

inline constexpr std::string_view version = "hilo 0.1.0";

// Exit statuses of the command.
inline constexpr int success = 0, failure = 1, wrong_usage = 2, values_differ = 3;

// What every subcommand knows: where to write, and how.
struct Session {
  bool json = false;   // one JSON document on standard output, of errors where it fails
  bool quiet = false;  // of what is not an output, a warning or an error: nothing
  bool color = false;  // standard error is a terminal and NO_COLOR is unset
  int status = success;
  // Of a process among others: what begins its messages ("rank 2: "), and whether another says what
  // all have to say.
  std::string speaker;
  bool is_silent = false;
  std::optional<Error> first_error;  // that was reported
  std::string document;              // what --json prints at the end; diagnostics.h
  bool is_of_errors = false;         // the document
};

// Each adds its options and sets its callback.
#define COMMAND(name, summary) void add_##name(Arguments& arguments, Session& session);
#include "tools/commands.def"
#undef COMMAND

}  // namespace hilo::tools
