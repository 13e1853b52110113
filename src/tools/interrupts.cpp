#include "tools/interrupts.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>

#include "tools/diagnostics.h"

namespace hilo::tools {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> interrupted = false, timed_out = false;

// What is said of work that has not stopped by itself, ready to be written by a signal handler.
struct LastWords {
  std::string error, json;  // for standard error, and for standard output where JSON is asked for
} words_of_user, words_of_timeout;

constexpr double longest_timeout = 1e9;  // 31 years, as much as any timer takes
constexpr unsigned seconds_to_stop = 1;

Error stopped_by_timeout(double timeout) {
  return {ErrorKind::Interrupted, fmt::format("stopped after {} s (--timeout)", timeout)};
}

LastWords last_words(const Error& error, const Session& session) {
  return {to_string(error) + "\n", session.json ? errors_json("", {error}) + "\n" : ""};
}

void set_flag() {
  interrupted = true;
  alarm(seconds_to_stop);
}

void on_alarm(int) {
  if (!interrupted) {
    timed_out = true;
    return set_flag();
  }
  const LastWords& words = timed_out ? words_of_timeout : words_of_user;
  (void)!write(STDERR_FILENO, words.error.data(), words.error.size());
  (void)!write(STDOUT_FILENO, words.json.data(), words.json.size());
  _exit(failure);
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

}  // namespace

Result<const std::atomic<bool>*> listen_for_interrupts(double timeout, const Session& session) {
  if (!(timeout >= 0 && timeout <= longest_timeout))
    return fail(ErrorKind::Usage, "--timeout={}: a number of seconds was expected", timeout);
  words_of_user = last_words({ErrorKind::Interrupted, "stopped by the user"}, session);
  words_of_timeout = last_words(stopped_by_timeout(timeout), session);
  handle(SIGALRM, on_alarm, SA_RESTART);
  handle(SIGINT, [](int) { set_flag(); }, static_cast<int>(SA_RESETHAND | SA_RESTART));
  if (timeout == 0) return &interrupted;
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(timeout);
  timer.it_value.tv_usec = 1 + static_cast<suseconds_t>(std::fmod(timeout, 1) * 999'998);
  setitimer(ITIMER_REAL, &timer, nullptr);
  return &interrupted;
}

void outlive_termination() {
  handle(SIGTERM, [](int) { set_flag(); }, SA_RESTART);  // which may come again
}

void stop_listening() {
  handle(SIGINT, SIG_DFL, 0);
  handle(SIGTERM, SIG_DFL, 0);
  alarm(0);
}

Error name_timeout(Error error, double timeout) {
  stop_listening();
  if (!timed_out) return error;
  Error out = stopped_by_timeout(timeout);
  if (const size_t more = error.message.find("; "); more != std::string::npos)
    out.message += error.message.substr(more);  // what other processes wait for
  out.place = std::move(error.place);
  return out;
}

}  // namespace hilo::tools
