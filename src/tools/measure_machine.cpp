#include "tools/measure_machine.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>

#include "compile/compile.h"
#include "text/text.h"
#include "tools/roofline.h"

namespace hilo::tools {
namespace {

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A loop that takes so many trips over an array that stays in a cache. `step` computes y of x,
// which is an array of the type with so many elements; it may use one, an array of ones.
struct Probe {
  std::string_view type;
  int64_t elements;
  std::string_view step;
};
constexpr std::string_view loop = R"(HloModule loop
body {{
  s = (s64[], {0}) parameter(0)
  n = s64[] get-tuple-element(s), index=0
  x = {0} get-tuple-element(s), index=1
  step = s64[] constant(1)
  next = s64[] add(n, step)
  unit = {1}[] constant(1)
  one = {0} broadcast(unit), dimensions={{}}
  {2}
  ROOT t = (s64[], {0}) tuple(next, y)
}}
test {{
  s = (s64[], {0}) parameter(0)
  n = s64[] get-tuple-element(s), index=0
  trips = s64[] constant({3})
  ROOT goes = pred[] compare(n, trips), direction=LT
}}
ENTRY main {{
  x = {0} parameter(0)
  zero = s64[] constant(0)
  s = (s64[], {0}) tuple(zero, x)
  w = (s64[], {0}) while(s), condition=test, body=body
  ROOT y = {0} get-tuple-element(w), index=1
}}
)";
constexpr std::string_view product = R"(HloModule product
ENTRY main {{
  x = {0} parameter(0)
  ROOT y = {0} dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
)";

// Numbers between 1 and 2 of all bits; whole ones are a permutation of the indices.
Literal argument_of(const Shape& shape) {
  Literal out = Literal::uninitialized(shape);
  const auto fill = [&]<class T>(std::span<T> numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      constexpr double golden = 0.6180339887498949;
      const double part = golden * static_cast<double>(i);
      if constexpr (std::is_integral_v<T>) numbers[i] = static_cast<T>(i * 5 % numbers.size());
      else numbers[i] = static_cast<T>(1 + part - std::floor(part));
    }
  };
  if (shape.type == ElementType::F32) fill(out.mutable_data<float>());
  else if (shape.type == ElementType::F64) fill(out.mutable_data<double>());
  else fill(out.mutable_data<int32_t>());
  return out;
}

// The least seconds of several runs on one thread.
Result<double> run_seconds(const std::string& text) {
  constexpr int runs = 10;
  HILO_TRY(Module module, parse(text));
  const Literal argument = argument_of(module.shape(module[module.entry].parameters[0]));
  HILO_TRY(const Executable executable, compile(std::move(module), cpu_target(), {.threads = 1}));
  double least = 0;
  for (int i = 0; i < runs; ++i) {
    Result<void> sound;
    const double taken = seconds_of([&] {
      if (const auto out = executable.run({argument}); !out) sound = std::unexpected(out.error());
    });
    HILO_DO(sound);
    least = i == 0 ? taken : std::min(least, taken);
  }
  return least;
}

// Of one trip, where it is thought to take so many.
Result<double> trip_seconds(const Probe& probe, double expected) {
  constexpr double run = 2e-3;
  const std::string shape = fmt::format("{}[{}]", probe.type, probe.elements);
  std::string step;
  for (std::string_view rest = probe.step; !rest.empty();) {
    const size_t mark = std::min(rest.find('@'), rest.size());
    step += rest.substr(0, mark);
    if (mark < rest.size()) step += shape;
    rest.remove_prefix(std::min(mark + 1, rest.size()));
  }
  const double trips = std::clamp(std::ceil(run / expected), 10.0, 1e6);
  HILO_TRY(const double taken, run_seconds(fmt::format(fmt::runtime(loop), shape, probe.type, step,
                                                       static_cast<int64_t>(trips))));
  return taken / trips;
}

class Measuring {
 public:
  explicit Measuring(const Machine& host) : record_(host) {}

  Result<MachineRecord> measure() {
    Cores& cores = record_.cores;
    HILO_DO(kernel_start());
    HILO_DO(product_rate("f32", cores.multiply_adds.f32));
    HILO_DO(product_rate("f64", cores.multiply_adds.f64));
    HILO_DO(both("divisions", cores.divisions, "y = @ divide(one, x)"));
    HILO_DO(both("roots", cores.square_roots, "y = @ sqrt(x)"));
    HILO_DO(both("exponentials", cores.transcendentals, "m = @ negate(x)\n  y = @ exponential(m)"));
    HILO_DO(gather_rate());
    for (size_t i = 0; i < cores.caches.size(); ++i) HILO_DO(cache_rate(i));
    HILO_DO(memory_rates());
    hand_over();
    tell("");
    return record_;
  }

 private:
  // On a terminal.
  static void tell(std::string_view what) {
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K{}", what);
  }

  Result<void> kernel_start() {
    tell("calls");
    double& start = record_.cores.kernel_seconds;
    HILO_TRY(start, trip_seconds({"f32", 16, "y = @ negate(x)"}, start));
    return {};
  }

  Result<void> product_rate(std::string_view type, double& rate) {
    constexpr double side = 512;
    tell("products");
    HILO_TRY(const double taken,
             run_seconds(fmt::format(fmt::runtime(product), fmt::format("{}[512,512]", type))));
    rate = side * side * side / taken;
    return {};
  }

  // Elements a second of a step over half of the first cache.
  Result<void> element_rate(Probe probe, double bytes, double& rate) {
    probe.elements =
        static_cast<int64_t>(static_cast<double>(record_.cores.caches[0].bytes) / 2 / bytes);
    const auto elements = static_cast<double>(probe.elements);
    HILO_TRY(const double taken, trip_seconds(probe, elements / rate));
    rate = elements / std::max(taken - record_.cores.kernel_seconds, taken / 2);
    return {};
  }

  Result<void> both(std::string_view what, FloatRates& rates, std::string_view step) {
    tell(what);
    HILO_DO(element_rate({"f32", 0, step}, 4, rates.f32));
    return element_rate({"f64", 0, step}, 8, rates.f64);
  }

  Result<void> gather_rate() {
    tell("gathers");
    return element_rate({"s32", 0,
                         "y = @ gather(x, x), offset_dims={}, collapsed_slice_dims={0}, "
                         "start_index_map={0}, index_vector_dim=1, slice_sizes={1}"},
                        4, record_.cores.gathers);
  }

  // An array is read and written where it lies: a store counts as two loads (docs/cost.md). It is
  // as far from the size of this cache as from that of the one before.
  Result<void> cache_rate(size_t level) {
    tell("caches");
    Cache& cache = record_.cores.caches[level];
    const auto size = static_cast<double>(cache.bytes);
    const double before =
        level > 0 ? static_cast<double>(record_.cores.caches[level - 1].bytes) : size / 4;
    const auto elements = static_cast<int64_t>(std::sqrt(size * before) / 4);
    const double loads = 3 * 4 * static_cast<double>(elements);
    HILO_TRY(const double taken,
             trip_seconds({"f32", elements, "y = @ negate(x)"}, loads / cache.bytes_per_second));
    cache.bytes_per_second = loads / std::max(taken - record_.cores.kernel_seconds, taken / 2);
    return {};
  }

  Result<void> memory_rates() {
    tell("memory");
    HILO_TRY(const Roofline one, measure_roofline(1));
    HILO_TRY(const Roofline all, measure_roofline(static_cast<int>(record_.cores.count)));
    record_.cores.bytes_per_second = one.bytes_per_second;
    record_.bytes_per_second = std::max(one.bytes_per_second, all.bytes_per_second);
    return {};
  }

  // Until all threads have begun, or one waits for so long that there are fewer. The median:
  // threads that wait may be asleep.
  void hand_over() {
    constexpr int runs = 301;
    const auto threads = static_cast<int>(record_.cores.count);
    if (threads < 2) return;
    tell("threads");
    ThreadPool pool(threads);
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
      std::atomic<int> begun = 0;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      times.push_back(seconds_of([&] {
        pool.run(threads, [&](int64_t) {
          ++begun;
          while (begun < threads && std::chrono::steady_clock::now() < end) continue;
        });
      }));
    }
    std::ranges::nth_element(times, times.begin() + runs / 2);
    record_.cores.thread_seconds = times[runs / 2];
  }

  MachineRecord record_;
};

}  // namespace

Result<MachineRecord> measure_machine() { return Measuring(host_machine()).measure(); }

}  // namespace hilo::tools
