#include "tools/interrupts.h"

#include <signal.h>
#include <sys/time.h>

#include <cmath>

namespace hilo::tools {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> interrupted = false, timed_out = false;

}  // namespace

const std::atomic<bool>& listen_for_interrupts(double timeout) {
  signal(SIGINT, [](int) { interrupted = true; });
  if (timeout <= 0) return interrupted;
  signal(SIGALRM, [](int) { timed_out = interrupted = true; });
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(timeout);
  timer.it_value.tv_usec = 1 + static_cast<suseconds_t>(std::fmod(timeout, 1) * 999'998);
  setitimer(ITIMER_REAL, &timer, nullptr);
  return interrupted;
}

Error name_timeout(Error error, double timeout) {
  if (timed_out) error.message = fmt::format("stopped after {} s (--timeout)", timeout);
  if (timed_out) error.kind = ErrorKind::Interrupted;
  return error;
}

}  // namespace hilo::tools
