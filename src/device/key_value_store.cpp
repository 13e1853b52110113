// One connection a client, a thread each: "p" key value, or "g" seconds key, in three texts.
#include "device/key_value_store.h"

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "device/socket.h"

namespace hilo {
namespace {

constexpr std::string_view greeting = "hilo store 1";
constexpr double answer_s = 10;  // of the other side, where it need not wait for anybody

class TcpStore : public KeyValueStore {
 public:
  explicit TcpStore(Socket socket) : socket_(std::move(socket)) {}
  Result<void> put(const std::string& key, const std::string& value) override {
    HILO_DO(ask("p", key, value, answer_s));
    return {};
  }
  Result<std::string> get(const std::string& key, double timeout_s) override {
    const Result<std::string> said =
        ask("g", fmt::format("{}", timeout_s), key, timeout_s + answer_s);
    if (!said) return said;
    if (said->starts_with('+')) return said->substr(1);
    return fail(ErrorKind::Io, "{} did not come within {} s", key, timeout_s);
  }

 private:
  Result<std::string> ask(std::string_view what, const std::string& first,
                          const std::string& second, double seconds) {
    const std::lock_guard lock(mutex_);
    const Deadline deadline = deadline_in(seconds);
    for (const std::string_view text : {what, std::string_view(first), std::string_view(second)})
      HILO_DO(send_text(socket_, text, deadline));
    return receive_text(socket_, deadline);
  }

  std::mutex mutex_;
  Socket socket_;
};

}  // namespace

struct KeyValueServer::State {
  Listener listener;
  std::string host;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values;
  std::atomic<bool> is_ending = false;
  std::list<std::thread> clients;
  std::thread thread;

  void serve(Socket socket);
  std::string answer(const std::string& what, const std::string& first, const std::string& second);
  void run();
};

std::string KeyValueServer::State::answer(const std::string& what, const std::string& first,
                                          const std::string& second) {
  std::unique_lock lock(mutex);
  if (what == "p") {
    values.emplace(first, second);
    changed.notify_all();
    return "+";
  }
  const auto there = [&] { return is_ending || values.contains(second); };
  changed.wait_until(lock, deadline_in(std::strtod(first.c_str(), nullptr)), there);
  const auto found = values.find(second);
  return found == values.end() ? "-" : "+" + found->second;
}

// Ends when the client goes; between two questions it may be silent for long.
void KeyValueServer::State::serve(Socket socket) {
  constexpr double look_s = 0.2;
  if (!send_text(socket, greeting, deadline_in(answer_s))) return;
  while (!is_ending) {
    auto what = receive_text(socket, deadline_in(look_s));
    if (!what && what.error().message == "nothing comes") continue;
    if (!what) return;
    const auto first = receive_text(socket, deadline_in(answer_s));
    const auto second = receive_text(socket, deadline_in(answer_s));
    if (!first || !second) return;
    if (!send_text(socket, answer(*what, *first, *second), deadline_in(answer_s))) return;
  }
}

void KeyValueServer::State::run() {
  constexpr double look_s = 0.1;
  while (!is_ending) {
    auto socket = accept_from(listener.socket, deadline_in(look_s));
    if (!socket) continue;
    clients.emplace_back(
        [this, one = std::make_shared<Socket>(std::move(*socket))] { serve(std::move(*one)); });
  }
}

KeyValueServer::KeyValueServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

KeyValueServer::~KeyValueServer() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
  for (std::thread& client : state_->clients) client.join();
}

Result<std::unique_ptr<KeyValueServer>> KeyValueServer::start(const std::string& address) {
  auto state = std::make_unique<State>();
  HostAddress own;
  if (!address.empty()) {
    HILO_TRY(own, parse_address(address));
  }
  HILO_TRY(state->listener, listen_on(own.port));
  state->host = own.host;
  state->thread = std::thread([all = state.get()] { all->run(); });
  return std::unique_ptr<KeyValueServer>(new KeyValueServer(std::move(state)));
}

std::string KeyValueServer::address() const {
  const std::string host = state_->host.empty() ? host_name() : state_->host;
  return text_of(HostAddress{host, state_->listener.port});
}

Result<std::unique_ptr<KeyValueStore>> open_store(const std::string& address, double timeout_s) {
  HILO_TRY(const HostAddress at, parse_address(address));
  const Deadline deadline = deadline_in(timeout_s);
  HILO_TRY(Socket socket, connect_to(at, deadline));
  send_at_once(socket);
  const auto said = receive_text(socket, deadline);
  if (!said || *said != greeting)
    return fail(ErrorKind::Io, "{}: no process of Hilo answers there", address);
  return std::make_unique<TcpStore>(std::move(socket));
}

}  // namespace hilo
