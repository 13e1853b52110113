#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "tools/command.h"

int main(int argc, char** argv) {
  using namespace hilo::tools;
  Session session;
  session.color = isatty(STDERR_FILENO) && std::getenv("NO_COLOR") == nullptr;
  CLI::App app("hilo: reads, checks and runs the programs that XLA works on", "hilo");
  app.set_version_flag("--version", "hilo 0.1.0");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hilo run module.txt --seed=1\n"
      "  hilo run module.txt --inputs io.npz --expected io.npz\n"
      "  hilo check module.txt\n"
      "  hilo print module.pb --style=short\n"
      "`hilo COMMAND --help` tells more. A FILE of '-' is standard input.");
#define COMMAND(name, summary)                                     \
  Arguments name##_arguments(*app.add_subcommand(#name, summary)); \
  add_##name(name##_arguments, session);
#include "tools/commands.def"
#undef COMMAND
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? success : wrong_usage;
  }
  return session.status;
}
