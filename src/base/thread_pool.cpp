#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace hilo {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// A thread that is woken starts some 30 us later. So who has just worked looks for more for a while
// before it sleeps; where others want its core, it lets them.
template <class Condition>
void look_for(const Condition& comes) {
  constexpr auto patience = std::chrono::microseconds(100);
  constexpr int looks = 32;  // some 2 us
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < looks; ++i) {
      if (comes()) return;
      pause();
    }
    sched_yield();
  } while (std::chrono::steady_clock::now() - start < patience);
}

}  // namespace

struct ThreadPool::State {
  struct Job {
    const std::function<void(int64_t)>* body;
    int64_t tiles;
    std::atomic<int64_t> next = 0, done = 0;
    std::atomic<int64_t> wanted = 0;  // sleepers that are still to be woken
  };
  std::mutex mutex;
  std::condition_variable work, room, finished;
  std::vector<std::shared_ptr<Job>> jobs;  // with tiles that nobody has taken
  bool stop = false;
  std::atomic<int64_t> posted = 0;   // jobs ever, and one for the end
  std::atomic<int64_t> looking = 0;  // workers awake without work
  std::atomic<int> core = -1;        // of who called last
  cpu_set_t cores;                   // of who made the pool
  std::vector<std::thread> workers;

  // Under the lock. A caller that waits may begin.
  void take_off(const std::shared_ptr<Job>& job) {
    if (std::erase(jobs, job) > 0) room.notify_one();
  }

  // Each who is woken wakes two others: as many as there are tiles for, in few steps.
  void wake_two(Job& job) {
    for (int i = 0; i < 2; ++i)
      if (job.wanted.load() > 0 && job.wanted.fetch_sub(1) > 0) work.notify_one();
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

  // A system may leave a woken thread where it was woken, behind who woke it, and another core
  // idle.
  void leave_core_of_caller() const {
    const int here = sched_getcpu();
    if (here < 0 || here != core.load(std::memory_order_relaxed)) return;
    cpu_set_t others = cores;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
  }

  // Looks for a new job for a while, without the lock.
  void look(std::unique_lock<std::mutex>& lock) {
    const int64_t seen = posted.load();
    ++looking;
    lock.unlock();
    leave_core_of_caller();
    look_for([&] { return posted.load(std::memory_order_relaxed) != seen; });
    lock.lock();
    --looking;
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
      wake_two(*job);
      leave_core_of_caller();
      help(job);
      lock.lock();
      if (jobs.empty() && !stop) look(lock);
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  CPU_ZERO(&state_->cores);
  sched_getaffinity(0, sizeof state_->cores, &state_->cores);
  for (int i = 1; i < threads; ++i)
    state_->workers.emplace_back([state = state_.get()] { state->work_loop(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
    ++state_->posted;
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
  const int64_t helpers = std::min<int64_t>(tiles, threads()) - 1;
  std::unique_lock lock(state_->mutex);
  // Where tiles of another caller wait, no thread is idle, and one more would slow down the others.
  // So a body must not wait for what such a caller does.
  state_->room.wait(lock, [&] { return state_->jobs.empty(); });
  state_->jobs.push_back(job);
  ++state_->posted;
  state_->core = sched_getcpu();
  job->wanted = helpers - state_->looking;
  lock.unlock();
  state_->wake_two(*job);
  state_->help(job);
  look_for([&] { return job->done.load() == job->tiles; });
  lock.lock();
  state_->finished.wait(lock, [&] { return job->done.load() == job->tiles; });
}

}  // namespace hilo
