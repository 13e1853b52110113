// Ranks within one process: each has a thread that hands it its frames.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "device/transport.h"

namespace hilo {
namespace {

// What one rank was sent and has not seen. Never full, so that nobody waits to send.
class Inbox {
 public:
  struct Item {
    int from;
    std::optional<Frame> frame;  // none: it has ended
  };
  void put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    changed_.notify_one();
  }
  // Until end().
  void hand_to(const Transport::Receiver& receiver) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return is_ended_ || !items_.empty(); });
      if (is_ended_) return;
      Item item = std::move(items_.front());
      items_.pop_front();
      lock.unlock();
      if (item.frame) receiver.receive(item.from, std::move(*item.frame));
      else receiver.lose(item.from, "it has ended");
      lock.lock();
    }
  }
  void end() {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool is_ended_ = false;
};

class LocalTransport : public Transport {
 public:
  using Inboxes = std::vector<std::shared_ptr<Inbox>>;
  LocalTransport(int rank, Inboxes inboxes) : rank_(rank), inboxes_(std::move(inboxes)) {}
  ~LocalTransport() override {
    for (int other = 0; other < size(); ++other)
      if (other != rank_) inboxes_[static_cast<size_t>(other)]->put({rank_, std::nullopt});
    inboxes_[static_cast<size_t>(rank_)]->end();
    if (thread_.joinable()) thread_.join();
  }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(inboxes_.size()); }
  void start(Receiver receiver, Allocate) override {
    thread_ =
        std::thread([receiver = std::move(receiver), inbox = inboxes_[static_cast<size_t>(rank_)]] {
          inbox->hand_to(receiver);
        });
  }
  void send(int to, Frame frame) override {
    inboxes_[static_cast<size_t>(to)]->put({rank_, std::move(frame)});
  }
  Clock::time_point last_heard(int) const override { return Clock::now(); }

 private:
  int rank_;
  Inboxes inboxes_;
  std::thread thread_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> local_transports(int size) {
  LocalTransport::Inboxes inboxes;
  for (int rank = 0; rank < size; ++rank) inboxes.push_back(std::make_shared<Inbox>());
  std::vector<std::unique_ptr<Transport>> out;
  for (int rank = 0; rank < size; ++rank)
    out.push_back(std::make_unique<LocalTransport>(rank, inboxes));
  return out;
}

}  // namespace hilo
