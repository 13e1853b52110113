// Modules that were changed at random are evaluated, compiled and run, verified and not: each ends
// in values or in an error. HILO_MUTATED says how many of them (4000 for a long run), HILO_SEED
// which, HILO_SANITIZE that the sanitizers watch.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "both.h"
#include "random_changes.h"
#include "small_modules.h"
#include "wire/wire.h"

namespace hilo::test {
namespace {

int64_t number_from(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::atoll(text) : otherwise;
}

// Those of this folder, and the corpus' small ones, evenly taken, where it is there.
std::vector<std::string> seeds() {
  constexpr size_t max_bytes = 6000, most_of_corpus = 160;
  std::vector<std::string> out(std::begin(small_modules), std::end(small_modules));
  const std::filesystem::path corpus = std::filesystem::path(HILO_SHARED) / "corpus";
  if (std::string_view(HILO_SHARED).empty() || !std::filesystem::exists(corpus)) return out;
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(corpus))
    if (file.path().extension() == ".hlo" && file.file_size() < max_bytes)
      files.push_back(file.path());
  std::ranges::sort(files);
  const size_t step = std::max<size_t>(1, files.size() / most_of_corpus);
  for (size_t i = 0; i < files.size(); i += step)
    if (const auto text = read_whole_file(files[i].string())) out.push_back(*text);
  return out;
}

// Sets a flag when work has taken longer than it should.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds time)
      : thread_([this, time] {
          std::unique_lock lock(mutex_);
          if (!ended_.wait_for(lock, time, [&] { return is_over_; })) flag_ = true;
        }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  const std::atomic<bool>* flag() const { return &flag_; }

 private:
  std::atomic<bool> flag_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

constexpr int64_t max_bytes = 64 << 20;

std::optional<Inputs> inputs_for(const Module& module, int64_t devices, std::mt19937_64& random) {
  Inputs out;
  int64_t bytes = 0;
  for (InstructionId parameter : module[module.entry].parameters) {
    const int64_t more = literal_bytes(module.shape(parameter));
    if (more > max_bytes || (bytes += more) > max_bytes) return std::nullopt;
  }
  for (int64_t device = 0; device < devices; ++device) {
    std::vector<Literal>& values = out.devices.emplace_back();
    for (InstructionId parameter : module[module.entry].parameters) {
      values.push_back(random_value(module.shape(parameter), random));
    }
  }
  return out;
}

// What became of a module; a child counts, its parent sums up.
struct Counts {
  int64_t parsed = 0, sound = 0, fit_to_run = 0, evaluated = 0, compiled = 0, ran = 0;
};

void run_module(const Module& module, bool is_verified, Counts& counts, std::mt19937_64& random) {
  const Deadline deadline(std::chrono::seconds(3));
  EvalOptions eval;
  eval.threads = 1;
  eval.max_steps = 1000;
  eval.memory_limit = max_bytes;
  eval.interrupt = deadline.flag();
  eval.is_verified = is_verified;
  const int64_t devices = device_count(module, eval);
  const auto inputs = devices <= 4 ? inputs_for(module, devices, random) : std::nullopt;
  if (inputs && estimate_memory(module, eval) <= max_bytes)
    counts.evaluated += evaluate(module, *inputs, eval).has_value();
  CompileOptions options;
  options.threads = 1;
  options.is_verified = is_verified;
  options.emit.verify_ir = true;
  options.emit.interrupt = deadline.flag();
  options.eval = eval;
  const auto executable = compile(module, cpu_target(), options);
  counts.compiled += executable.has_value();
  if (executable && inputs && executable->report().run_bytes <= max_bytes)
    counts.ran += executable->run_devices(*inputs, {.interrupt = deadline.flag()}).has_value();
}

// Without what verify() finds, compile() and evaluate() refuse with its first error.
void expect_refused(const Module& module, const Error& error) {
  const auto evaluated = evaluate(module, {});
  check(!evaluated && evaluated.error().message == error.message, "evaluate() verifies");
  const auto compiled = compile(module);
  check(!compiled && compiled.error().message == error.message, "compile() verifies");
}

std::string text_of_case(const std::vector<std::string>& texts, int64_t number,
                         std::mt19937_64& random) {
  const std::string& text = texts[random() % texts.size()];
  return number % 2 == 0 ? change_text(text, random) : text;
}

// Even cases change the text, odd ones the module.
void run_case(const std::vector<std::string>& texts, int64_t number, Counts& counts) {
  std::mt19937_64 random(static_cast<uint64_t>(number) * 7919 + 1);
  const std::string text = text_of_case(texts, number, random);
  auto module = parse(text, {.max_literal_bytes = max_bytes});
  if (!module) return;
  ++counts.parsed;
  if (number % 2 == 1)
    for (uint64_t n = 1 + random() % 3; n > 0; --n) change_module(*module, random);
  const std::vector<Error> errors = verify(*module);
  if (!errors.empty()) expect_refused(*module, errors[0]);
  const bool is_fit = verify(*module, {.only_to_run = true}).empty();
  counts.sound += errors.empty();
  counts.fit_to_run += is_fit;
  check(is_fit || !errors.empty(), "verify() finds what its part finds");
  if (is_fit) run_module(*module, !errors.empty(), counts, random);
}

struct Shared {
  std::atomic<int64_t> number = 0;
  Counts counts;
};

// Runs cases from shared.number on until one ends the process, or all are done.
void run_child(const std::vector<std::string>& texts, int64_t end, Shared& shared) {
  for (; shared.number < end; ++shared.number) {
    alarm(60);
    run_case(texts, shared.number, shared.counts);
  }
  _exit(0);
}

TEST(MutatedModules, EndInValuesOrErrors) {
  const std::vector<std::string> texts = seeds();
  const int64_t count = number_from("HILO_MUTATED", 150), first = number_from("HILO_SEED", 0);
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared;
  shared.number = first;
  int failures = 0;
  while (shared.number < first + count && failures < 50) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_child(texts, first + count, shared);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    const int64_t number = shared.number++;
    std::mt19937_64 random(static_cast<uint64_t>(number) * 7919 + 1);
    ADD_FAILURE() << "case " << number << " ended with status " << status << ":\n"
                  << text_of_case(texts, number, random);
    ++failures;
  }
  const Counts& all = shared.counts;
  fmt::print("{} modules: {} parsed, {} sound, {} fit to run, {} evaluated, {} compiled, {} ran\n",
             count, all.parsed, all.sound, all.fit_to_run, all.evaluated, all.compiled, all.ran);
  EXPECT_GT(all.ran, count / 20);
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace hilo::test
