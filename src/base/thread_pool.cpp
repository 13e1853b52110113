#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cgroup.h"

namespace hilo {
namespace {

std::string own_groups() {
  std::ifstream file("/proc/self/cgroup");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::min<double>(
                         cores, std::ceil(cgroup_cores("/sys/fs/cgroup", own_groups())))));
}

struct ThreadPool::State {
  struct Job {
    const std::function<void(int64_t)>* body;
    int64_t tiles;
    std::atomic<int64_t> next = 0, done = 0;
  };
  std::mutex mutex;
  std::condition_variable work, room, finished;
  std::vector<std::shared_ptr<Job>> jobs;  // with tiles that nobody has taken
  bool stop = false;
  std::vector<std::thread> workers;

  // Under the lock. A caller that waits may begin.
  void take_off(const std::shared_ptr<Job>& job) {
    if (std::erase(jobs, job) > 0) room.notify_one();
  }

  // Takes tiles of the job until none is left.
  void help(const std::shared_ptr<Job>& job) {
    int64_t mine = 0;
    for (int64_t tile; (tile = job->next.fetch_add(1)) < job->tiles; ++mine) {
      if (tile + 1 == job->tiles) {
        const std::lock_guard lock(mutex);
        take_off(job);
      }
      (*job->body)(tile);
    }
    if (mine > 0 && job->done.fetch_add(mine) + mine == job->tiles) {
      std::lock_guard lock(mutex);
      finished.notify_all();
    }
  }

  void work_loop() {
    std::unique_lock lock(mutex);
    while (true) {
      work.wait(lock, [&] { return stop || !jobs.empty(); });
      if (stop) return;
      const std::shared_ptr<Job> job = jobs.front();
      if (job->next.load() >= job->tiles) {
        take_off(job);
        continue;
      }
      lock.unlock();
      help(job);
      lock.lock();
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  for (int i = 1; i < threads; ++i)
    state_->workers.emplace_back([state = state_.get()] { state->work_loop(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->work.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::threads() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::run(int64_t tiles, const std::function<void(int64_t)>& body) {
  thread_local int depth = 0;
  if (tiles <= 1 || state_->workers.empty() || depth > 0) {
    for (int64_t i = 0; i < tiles; ++i) body(i);
    return;
  }
  auto job = std::make_shared<State::Job>();
  // A body that itself calls run() goes inline, on whichever thread it is.
  const std::function<void(int64_t)> counted = [&](int64_t tile) {
    ++depth;
    body(tile);
    --depth;
  };
  job->body = &counted;
  job->tiles = tiles;
  std::unique_lock lock(state_->mutex);
  // Where tiles of another caller wait, no thread is idle, and one more would slow down the others.
  // So a body must not wait for what such a caller does.
  state_->room.wait(lock, [&] { return state_->jobs.empty(); });
  state_->jobs.push_back(job);
  lock.unlock();
  state_->work.notify_all();
  state_->help(job);
  lock.lock();
  state_->finished.wait(lock, [&] { return job->done.load() == job->tiles; });
}

}  // namespace hilo
