#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/base.h"
#include "tools/diagnostics.h"
#include "tools/named.h"

namespace {

using namespace hilo::tools;

// The number of a closed stream would go to the first file that is opened, and what is printed into
// that file. Opened the wrong way round, a use of it is an error.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      (void)::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
}

void fail_to_write(Session& session, const char* why) {
  fail_with(session, {hilo::ErrorKind::Io, fmt::format("cannot write standard output: {}", why)});
}

// What is still buffered may be all of the output.
void finish_output(Session& session) {
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  const bool failed = !session.document.empty() && std::puts(session.document.c_str()) == EOF;
  if (failed || std::fflush(stdout) != 0 || failed_before)
    fail_to_write(session, errno != 0 ? std::strerror(errno) : "it failed");
}

// A command line that is wrong may not have been read up to its --json.
bool asks_for_json(int argc, char** argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* word) { return std::string_view(word) == "--json"; });
}

// Options like the words that nothing takes, of the command that was named.
void offer_options(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : command->get_options()) known.push_back(option->get_name());
  for (const std::string& word : app.remaining(true)) {
    const std::string like = names_like(std::string_view(word).substr(0, word.find('=')), known);
    if (word.starts_with("--") && !like.empty()) fmt::print(stderr, "Options like it: {}\n", like);
  }
}

// CLI11's message on standard error; the document where one is asked for.
int report_usage(const CLI::App& app, const CLI::ParseError& error, bool json) {
  const int status = app.exit(error);
  if (status == 0) return success;  // --help
  offer_options(app);
  if (json) {
    const hilo::Error usage{hilo::ErrorKind::Usage, error.what()};
    std::puts(errors_json("", {usage}).c_str());
  }
  return wrong_usage;
}

// CLI11 asks for what is required before it looks at words that nothing takes.
void name_unknown(const CLI::App& app) {
  for (const std::string& word : app.remaining(true)) fmt::print(stderr, "{} is not known\n", word);
}

// LLVM takes and gives back arrays of some hundred KiB for each function. By default each would be
// memory of its own from the system, whose pages are all new.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int more_at_once = 4 << 20, kept = 64 << 20;  // bytes
  mallopt(M_MMAP_THRESHOLD, more_at_once);
  mallopt(M_TOP_PAD, more_at_once);
  mallopt(M_TRIM_THRESHOLD, kept);
#endif
}

// OpenBLAS takes an Intel processor that is newer than itself for one with SSE3 alone: 0.3.21 does
// so of Emerald Rapids (eigenvalues of 80 x 80 f64 602 us, as one with AVX-512 494). It looks at
// this when it is opened; what the user has set stays.
void name_processor_to_openblas() {
#ifdef __x86_64__
  if (!__builtin_cpu_is("intel") || !hilo::processor().has_avx2) return;
  setenv("OPENBLAS_CORETYPE", hilo::processor().has_avx512 ? "SkylakeX" : "Haswell", 0);
#endif
}

int run_command(int argc, char** argv) {
  Session session;
  session.color = isatty(STDERR_FILENO) && std::getenv("NO_COLOR") == nullptr;
  CLI::App app("hilo: reads, checks and runs the programs that XLA works on", "hilo");
  app.set_version_flag("--version", std::string(hilo::tools::version));
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
  } catch (const CLI::RequiredError& error) {
    name_unknown(app);
    return report_usage(app, error, asks_for_json(argc, argv));
  } catch (const CLI::ParseError& error) {
    session.status = report_usage(app, error, asks_for_json(argc, argv));
  } catch (const std::system_error& error) {  // fmt's of a stream, or of a thread
    const char* why = std::strerror(error.code().value());
    if (std::ferror(stdout)) return fail_to_write(session, why), session.status;
    fail_with(session, {hilo::ErrorKind::Io, fmt::format("the system refused: {}", why)});
  } catch (const std::bad_alloc& error) {
    fail_with(session, hilo::memory_error(error));
  }
  finish_output(session);
  return session.status;
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  keep_freed_memory();
  name_processor_to_openblas();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error of who writes it
  try {
    return run_command(argc, argv);
  } catch (const std::bad_alloc&) {  // before there was a command to say so
    std::fputs("error: out of memory\n", stderr);
  } catch (const std::system_error&) {  // standard error takes nothing
  }
  return failure;
}
