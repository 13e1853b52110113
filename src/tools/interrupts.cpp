#include "tools/interrupts.h"

#include <signal.h>
#include <sys/time.h>

#include <cmath>

namespace hilo::tools {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> interrupted = false, timed_out = false;

constexpr double longest_timeout = 1e9;  // 31 years, as much as any timer takes

}  // namespace

Result<const std::atomic<bool>*> listen_for_interrupts(double timeout) {
  if (!(timeout >= 0 && timeout <= longest_timeout))
    return fail(ErrorKind::Usage, "--timeout={}: a number of seconds was expected", timeout);
  struct sigaction first = {};
  first.sa_handler = [](int) { interrupted = true; };
  first.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &first, nullptr);
  if (timeout == 0) return &interrupted;
  signal(SIGALRM, [](int) { timed_out = interrupted = true; });
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(timeout);
  timer.it_value.tv_usec = 1 + static_cast<suseconds_t>(std::fmod(timeout, 1) * 999'998);
  setitimer(ITIMER_REAL, &timer, nullptr);
  return &interrupted;
}

Error name_timeout(Error error, double timeout) {
  if (timed_out) error.message = fmt::format("stopped after {} s (--timeout)", timeout);
  if (timed_out) error.kind = ErrorKind::Interrupted;
  return error;
}

}  // namespace hilo::tools
