#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
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

struct Job {
  const std::function<void(int64_t)>& body;
  int64_t tiles;
  std::atomic<int64_t> left = tiles, done = 0;  // not taken yet; done
  std::atomic<bool> has_thrown = false;
  std::exception_ptr thrown = nullptr;  // of the first tile that did; read when all are done

  void do_tile(int64_t tile) {
    try {
      body(tile);
    } catch (...) {
      if (!has_thrown.exchange(true)) thrown = std::current_exception();
    }
  }
};

// The tiles of one job after the other, in a share for each thread, so that one which comes again
// and again finds in its cache what it left there. Who has no tiles any more takes others'. There
// is no lock: many threads come at once, and one that slept in a queue would wake after the work. A
// share is one word: the job's number, how many tiles it has, and how many of them are taken. Who
// adds one to it has taken a tile; as long as some are left, the job is that of the number.
class Shares {
 public:
  static constexpr int64_t most = 65535;  // tiles of a share

  explicit Shares(int threads) : shares_(static_cast<size_t>(threads)) {}

  size_t count() const { return shares_.size(); }
  uint32_t number() const { return number_.load(); }
  Job* job() const { return job_.load(std::memory_order_acquire); }

  // No tile of the job before is left.
  uint32_t publish(Job& job) {
    const uint32_t number = number_.load(std::memory_order_relaxed) + 1;
    const int64_t count = shares_of(job.tiles);
    job_.store(&job, std::memory_order_release);
    for (int64_t i = 0; i < count; ++i) {
      const auto tiles = static_cast<uint64_t>(tiles_of(i, job.tiles));
      shares_[static_cast<size_t>(i)].word.store(static_cast<uint64_t>(number) << 32 | tiles << 16);
    }
    number_.store(number);
    return number;
  }

  // Whether the job has tiles for this share; whether any are left.
  bool has(size_t share, uint32_t number) const {
    return shares_[share].word.load() >> 32 == number;
  }
  bool any() const {
    const uint32_t now = number();
    return std::ranges::any_of(shares_, [&](const Share& share) {
      const uint64_t word = share.word.load();
      return word >> 32 == now && taken(word) < tiles(word);
    });
  }

  // The next tile of a share of this job; none: there is none.
  std::optional<int64_t> take(size_t share, uint32_t number) {
    std::atomic<uint64_t>& shared = shares_[share].word;
    uint64_t word = shared.load();
    while (word >> 32 == number && taken(word) < tiles(word))
      if (const Job* now = job(); shared.compare_exchange_weak(word, word + 1))
        return tile_of(static_cast<int64_t>(share), taken(word), now->tiles);
    return std::nullopt;
  }

 private:
  struct alignas(64) Share {
    std::atomic<uint64_t> word = 0;  // number, tiles, those that are taken
  };
  static int64_t tiles(uint64_t word) { return static_cast<int64_t>(word >> 16 & 0xffff); }
  static int64_t taken(uint64_t word) { return static_cast<int64_t>(word & 0xffff); }
  // Tiles of short jobs lie in the caches, and a share is a piece of their array, so that it is the
  // same part of it in jobs of more and of fewer tiles. Tiles of long jobs come from memory and are
  // dealt out in turn, so that threads read neighbours at a time.
  static bool is_long(int64_t tiles) { return tiles > 64; }
  int64_t tiles_of(int64_t share, int64_t tiles) const {
    const int64_t count = shares_of(tiles);
    return is_long(tiles) ? (tiles - share + count - 1) / count
                          : (share + 1) * tiles / count - share * tiles / count;
  }
  int64_t tile_of(int64_t share, int64_t n, int64_t tiles) const {
    const int64_t count = shares_of(tiles);
    return is_long(tiles) ? share + n * count : share * tiles / count + n;
  }
  int64_t shares_of(int64_t tiles) const {
    return std::min(tiles, static_cast<int64_t>(shares_.size()));
  }
  std::vector<Share> shares_;
  alignas(64) std::atomic<uint32_t> number_ = 0;
  std::atomic<Job*> job_ = nullptr;
};

// How deep in bodies of run() a thread is, also where one throws.
class Inside {
 public:
  explicit Inside(int& depth) : depth_(depth) { ++depth_; }
  ~Inside() { --depth_; }

 private:
  int& depth_;
};

}  // namespace

struct ThreadPool::State {
  explicit State(int threads) : shares(threads) {}

  Shares shares;
  // A job has tiles that nobody has taken: where another caller's wait, no thread is idle, and one
  // more would slow down the others. So a body must not wait for what such a caller does.
  alignas(64) std::atomic<bool> busy = false;
  std::atomic<int64_t> looking = 0;  // workers awake without work
  std::atomic<int64_t> asleep = 0, callers_asleep = 0;
  std::atomic<int64_t> wanted = 0;  // sleepers that are still to be woken
  std::atomic<int> core = -1;       // of who called last
  std::atomic<bool> stop = false;
  std::mutex mutex;  // of those who sleep
  std::condition_variable work, finished;
  cpu_set_t cores;  // of who made the pool
  std::vector<std::thread> workers;

  // Each who is woken wakes two others: as many as there are tiles for, in few steps.
  void wake_two() {
    for (int i = 0; i < 2; ++i)
      if (wanted.load() > 0 && wanted.fetch_sub(1) > 0) work.notify_one();
  }

  void wake(int64_t helpers) {
    const int64_t missing = std::min(helpers - looking.load(), asleep.load());
    if (missing <= 0) return;
    wanted = missing;
    mutex.lock();  // who is about to sleep sleeps then, or has seen the job
    mutex.unlock();
    wake_two();
  }

  // Takes tiles of the job of this number until none is left, first of the thread's own share. The
  // job lives while one that was taken is not counted as done.
  void help(uint32_t number, size_t thread) {
    const size_t threads = shares.count();
    Job* job = nullptr;
    int64_t mine = 0;
    for (size_t n = 0; n < threads; ++n)
      while (const auto tile = shares.take((thread + n) % threads, number)) {
        job = shares.job();
        if (job->left.fetch_sub(1) == 1) {
          busy = false;
          busy.notify_one();
        }
        job->do_tile(*tile);
        ++mine;
      }
    if (!job) return;
    const int64_t all = job->tiles;
    if (job->done.fetch_add(mine) + mine < all || callers_asleep.load() == 0) return;
    const std::lock_guard lock(mutex);
    finished.notify_all();
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

  // Waits for a job that is not that of this number.
  void look(uint32_t seen) {
    ++looking;
    leave_core_of_caller();
    look_for([&] { return shares.number() != seen || stop.load(std::memory_order_relaxed); });
    --looking;
    if (shares.number() != seen) return;
    std::unique_lock lock(mutex);
    ++asleep;
    work.wait(lock, [&] { return stop.load() || shares.any(); });
    --asleep;
    lock.unlock();
    wake_two();
    leave_core_of_caller();
  }

  // Those whose shares they are come first, if they are awake.
  static void let_others_begin() {
    constexpr int looks = 16;  // some 1 us
    for (int i = 0; i < looks; ++i) pause();
  }

  void work_loop(size_t thread) {
    while (!stop) {
      const uint32_t number = shares.number();
      if (!shares.has(thread, number)) let_others_begin();
      help(number, thread);
      look(number);
    }
  }

  void run(const std::function<void(int64_t)>& body, int64_t tiles) {
    Job job = {body, tiles};
    while (busy.exchange(true)) busy.wait(true);
    core = sched_getcpu();
    const uint32_t number = shares.publish(job);
    wake(std::min(tiles, static_cast<int64_t>(shares.count())) - 1);
    help(number, 0);
    wait_until_done(job);
    if (job.thrown) std::rethrow_exception(job.thrown);
  }

  void wait_until_done(const Job& job) {
    const auto is_done = [&] { return job.done.load() == job.tiles; };
    look_for(is_done);
    if (is_done()) return;
    std::unique_lock lock(mutex);
    ++callers_asleep;
    finished.wait(lock, is_done);
    --callers_asleep;
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>(std::max(threads, 1))) {
  CPU_ZERO(&state_->cores);
  sched_getaffinity(0, sizeof state_->cores, &state_->cores);
  try {
    for (int i = 1; i < threads; ++i)
      state_->workers.emplace_back(
          [state = state_.get(), thread = static_cast<size_t>(i)] { state->work_loop(thread); });
  } catch (const std::system_error&) {  // the system has no more threads, or no stacks for them
  } catch (const std::bad_alloc&) {
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
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
  const int64_t most = Shares::most * threads();
  for (int64_t begin = 0; begin < tiles; begin += most) {
    // A body that itself calls run() goes inline, on whichever thread it is.
    const std::function<void(int64_t)> counted = [&](int64_t tile) {
      const Inside inside(depth);
      body(begin + tile);
    };
    state_->run(counted, std::min(most, tiles - begin));
  }
}

}  // namespace hilo
