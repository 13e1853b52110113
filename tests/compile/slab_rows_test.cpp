// Fusions whose reductions keep the innermost dimension: softmax and norms over a middle or the
// first one. All steps of a few columns, or slabs, are one kernel that stores nothing between.
#include <fmt/ranges.h>

#include <algorithm>

#include "../base/environment.h"
#include "both.h"

namespace hilo::test {
namespace {

struct Form {
  std::string type = "f32";
  Dims dims;           // of what is reduced
  Dims reduced = {1};  // dimension numbers
  Dims kept() const {
    Dims out;
    for (int64_t d = 0; d < std::ssize(dims); ++d)
      if (std::ranges::count(reduced, d) == 0) out.push_back(d);
    return out;
  }
  std::string list(const Dims& numbers) const { return fmt::format("{}", fmt::join(numbers, ",")); }
  std::string all() const { return fmt::format("{}[{}]", type, list(dims)); }
  std::string numbers() const {
    Dims sizes;
    for (int64_t d : kept()) sizes.push_back(dims[static_cast<size_t>(d)]);
    return fmt::format("{}[{}]", type, list(sizes));
  }
};

// A program over such arrays: $A and $N are their shapes and those of a number of each column,
// $R the reduced dimensions and $K the kept ones.
std::string program(const Form& form, std::string_view entry) {
  std::string out = R"(HloModule m
add { a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = $T[] add(a, b) }
max { a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = $T[] maximum(a, b) }
ENTRY e {
  x = $A parameter(0)
  n = $T[] constant(-inf)
  z = $T[] constant(0)
)";
  out += entry;
  out += "}\n";
  const std::pair<std::string_view, std::string> parts[] = {{"$T", form.type},
                                                            {"$A", form.all()},
                                                            {"$N", form.numbers()},
                                                            {"$R", form.list(form.reduced)},
                                                            {"$K", form.list(form.kept())}};
  for (const auto& [mark, text] : parts)
    for (size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at))
      out.replace(at, mark.size(), text);
  return out;
}

constexpr std::string_view softmax = R"(
  m = $N reduce(x, n), dimensions={$R}, to_apply=max
  mb = $A broadcast(m), dimensions={$K}
  d = $A subtract(x, mb)
  p = $A exponential(d)
  s = $N reduce(p, z), dimensions={$R}, to_apply=add
  sb = $A broadcast(s), dimensions={$K}
  ROOT q = $A divide(p, sb)
)";

constexpr std::string_view log_sum = R"(
  m = $N reduce(x, n), dimensions={$R}, to_apply=max
  mb = $A broadcast(m), dimensions={$K}
  d = $A subtract(x, mb)
  p = $A exponential(d)
  s = $N reduce(p, z), dimensions={$R}, to_apply=add
  l = $N log(s)
  ROOT q = $N add(l, m)
)";

// A norm, scaled by what else is read: of each element, of each column, and of one dimension.
constexpr std::string_view norm = R"(
  w = $A parameter(1)
  c = $N parameter(2)
  f = $T[] constant(0.125)
  e = $T[] constant(1)
  eb = $N broadcast(e), dimensions={}
  fb = $N broadcast(f), dimensions={}
  s = $N reduce(x, z), dimensions={$R}, to_apply=add
  m = $N multiply(s, fb)
  mb = $A broadcast(m), dimensions={$K}
  d = $A subtract(x, mb)
  dd = $A multiply(d, d)
  v = $N reduce(dd, z), dimensions={$R}, to_apply=add
  vf = $N multiply(v, fb)
  ve = $N add(vf, eb)
  r = $N rsqrt(ve)
  rb = $A broadcast(r), dimensions={$K}
  y = $A multiply(d, rb)
  yw = $A multiply(y, w)
  cb = $A broadcast(c), dimensions={$K}
  ROOT q = $A add(yw, cb)
)";

double tolerance_of(const std::string& type) {
  return type == "f64" ? 1e-13 : type == "f32" ? 4e-6 : 0.02;
}

void expect_equal(const Form& form, std::string_view entry, uint64_t seed = 1) {
  const std::string text = program(form, entry);
  expect_native(run_both(text, seed, 1, processor_of(seed)), text, tolerance_of(form.type));
}

void expect_one_kernel(const Form& form, std::string_view entry) {
  const std::string text = program(form, entry);
  const auto both = run_both(text);
  expect_native(both, text, tolerance_of(form.type));
  if (!both) return;
  EXPECT_EQ(both->report.kernels, 1) << text;
  EXPECT_EQ(both->report.temp_bytes, 0) << text;
}

TEST(SlabRows, AreOneKernel) {
  const Dims forms[] = {{300, 3, 48}, {20, 60, 33}, {4, 128, 64}, {400, 4, 5},
                        {100, 20, 2}, {70, 16, 11}, {40, 300, 8}, {65, 7, 6}};
  for (const Dims& dims : forms)
    for (const std::string_view entry : {softmax, log_sum, norm})
      for (const std::string type : {"f32", "f64", "bf16"}) expect_one_kernel({type, dims}, entry);
}

// Around as many columns, and slabs, as are lanes.
TEST(SlabRows, AnyNumberOfColumns) {
  for (int64_t columns = 2; columns <= 36; ++columns)
    for (const int64_t lines : {2, 5, 19}) {
      const auto seed = static_cast<uint64_t>(columns);
      expect_equal({"f32", {97, lines, columns}}, softmax, seed);
      expect_equal({"f32", {66, lines, columns}}, norm, seed);
    }
}

TEST(SlabRows, AnyNumberOfSlabs) {
  for (const int64_t slabs : {1, 2, 63, 64, 65, 71, 80, 95, 96, 97, 129})
    for (const int64_t columns : {3, 8, 50}) {
      expect_equal({"f32", {slabs, 9, columns}}, softmax);
      expect_equal({"f16", {slabs, 4, columns}}, norm);
    }
}

// Several dimensions are reduced, or kept on either side.
TEST(SlabRows, OfSeveralDimensions) {
  const Dims sizes = {70, 3, 4, 2, 5};
  for (const Dims& reduced : {Dims{1}, {2}, {3}, {1, 2}, {2, 3}, {1, 3}, {0, 2}, {0}, {1, 2, 3}}) {
    expect_equal({"f32", sizes, reduced}, softmax);
    expect_equal({"f64", {2, 6, 5, 4, 40}, reduced}, norm);
    expect_equal({"f32", {1, 8, 1, 4, 40}, reduced}, log_sum);
  }
  for (const Dims& dims : {Dims{40, 300}, {300, 8}, {7, 1000}})
    expect_one_kernel({"f32", dims, {0}}, softmax);
}

// Of other types, and of what is not added or chosen but compared.
TEST(SlabRows, OfAllTypes) {
  constexpr std::string_view counted = R"(
  m = $N reduce(x, z), dimensions={$R}, to_apply=max
  mb = $A broadcast(m), dimensions={$K}
  d = $A subtract(mb, x)
  s = $N reduce(d, z), dimensions={$R}, to_apply=add
  sb = $A broadcast(s), dimensions={$K}
  ROOT q = $A maximum(sb, x)
)";
  for (const std::string type : {"s8", "u16", "s32", "u64", "f16"})
    for (const int64_t columns : {3, 6, 8, 13, 40})
      for (const int64_t lines : {4, 21}) {
        std::string text = program({type, {90, lines, columns}}, counted);
        if (const size_t at = text.find("constant(-inf)"); at != std::string::npos)
          text.replace(at, 14, "constant(0)");
        expect_native(run_both(text), text, type == "f16" ? 0.02 : 0);
      }
}

TEST(SlabRows, OfComplexNumbers) {
  constexpr std::string_view less_product = R"(
  s = $N reduce(x, z), dimensions={$R}, to_apply=add
  sb = $A broadcast(s), dimensions={$K}
  d = $A subtract(x, sb)
  p = $A multiply(d, x)
  t = $N reduce(p, z), dimensions={$R}, to_apply=add
  tb = $A broadcast(t), dimensions={$K}
  ROOT q = $A add(tb, d)
)";
  for (const std::string type : {"c64", "c128"})
    for (const Dims& dims : {Dims{70, 6, 5}, {20, 9, 18}}) {
      std::string text = program({type, dims}, less_product);
      text.replace(text.find("constant(-inf)"), 14, "constant((0, 0))");
      text.replace(text.find("constant(0)"), 11, "constant((0, 0))");
      const size_t most = text.find("maximum(a, b)");
      text.replace(most, 7, "add");
      expect_native(run_both(text), text, 1e-5);
    }
}

// Several results of both forms, and numbers that are results themselves.
TEST(SlabRows, OfSeveralResults) {
  for (const Dims& dims : {Dims{80, 12, 5}, {30, 12, 40}, {100, 3, 17}}) {
    std::string entry(norm);
    entry.replace(entry.find("ROOT q"), 6, "q");
    expect_equal({"f32", dims}, entry + "  ROOT t = ($A, $N, $A) tuple(q, v, y)\n");
    expect_equal({"f32", dims}, entry + "  ROOT t = ($N, $N) tuple(r, m)\n");
    expect_equal({"f32", dims}, entry + "  ROOT t = ($A, $N, $A, $N) tuple(q, r, q, r)\n");
  }
}

// What is added to the result may lie where the result goes; lanes that are computed twice must not
// find it there.
TEST(SlabRows, BesideWhatIsWrittenOver) {
  for (const Dims& dims : {Dims{70, 9, 5}, {16, 40, 20}, {16, 40, 32}}) {
    std::string entry(softmax);
    entry.replace(entry.find("ROOT q"), 6, "q");
    entry += R"(
  u = $A parameter(1)
  k = $A sort(u), dimensions={1}, to_apply=less
  o = $A add(q, k)
  ROOT v = $A sort(o), dimensions={1}, to_apply=less
)";
    std::string text = program({"f32", dims}, entry);
    text.insert(text.find("ENTRY"), R"(less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
)");
    for (const int threads : {1, 3}) expect_native(run_both(text, 1, threads), text, 4e-6);
  }
}

// Elements of other places are asked for: no tile of the group's slabs has them.
TEST(SlabRows, BesideWhatIsReadElsewhere) {
  std::string entry(softmax);
  entry.replace(entry.find("ROOT q"), 6, "q");
  entry += R"(
  h = $A reverse(x), dimensions={0}
  ROOT o = $A add(q, h)
)";
  for (const Dims& dims : {Dims{70, 9, 5}, {80, 3, 4}, {16, 40, 20}})
    expect_equal({"f32", dims}, entry);
}

TEST(SlabRows, SameBitsFromAnyThreads) {
  for (const Dims& dims : {Dims{3000, 9, 5}, {300, 40, 33}, {64, 700, 48}})
    expect_native_on_threads(program({"f32", dims}, softmax), 4e-6);
}

// Chains of reductions, arithmetic on their numbers and on what these are spread over, at random.
class Chain {
 public:
  explicit Chain(uint64_t seed) : random_(seed) {
    static const std::string types[] = {"f32", "f64"};
    form_.type = types[below(std::size(types))];
    form_.dims.clear();
    const size_t rank = 2 + below(3);
    for (size_t d = 0; d < rank; ++d) form_.dims.push_back(1 + static_cast<int64_t>(below(9)));
    form_.dims[below(rank)] = 16 + static_cast<int64_t>(below(90));
    if (below(2) == 0) form_.dims[0] = 64 + static_cast<int64_t>(below(70));
    const size_t first = below(rank - 1), last = first + below(rank - 1 - first);
    form_.reduced.clear();
    for (size_t d = first; d <= last; ++d) form_.reduced.push_back(static_cast<int64_t>(d));
    add("w = $A parameter(1)"), add("c = $N parameter(2)"), add("one = $T[] constant(1)");
    add("ones = $N broadcast(one), dimensions={}");
    add("part = $T[] constant(0.0625)"), add("small = $N broadcast(part), dimensions={}");
    all_ = {"x", "w"}, numbers_ = {"c", "ones"};
    const size_t steps = 3 + below(7);
    for (size_t i = 0; i < steps; ++i) step();
    finish();
  }

  const Form& form() const { return form_; }
  std::string text() const { return program(form_, body_); }

 private:
  size_t below(size_t n) { return random_() % n; }
  void add(const std::string& line) { body_ += "  " + line + "\n"; }
  const std::string& one_of(const std::vector<std::string>& names) {
    // Mostly the newest.
    return below(3) == 0 ? names[below(names.size())] : names.back();
  }
  std::string made(std::string_view shape, const std::string& what) {
    const std::string name = fmt::format("v{}", count_++);
    add(fmt::format("{} = {} {}", name, shape, what));
    return name;
  }
  void compute(std::string_view shape, std::vector<std::string>& names) {
    static const std::string two[] = {"add", "subtract", "multiply", "maximum", "minimum"},
                             one[] = {"tanh", "logistic", "abs"};
    const std::string a = one_of(names), c = names[below(names.size())];
    names.push_back(below(3) == 0
                        ? made(shape, fmt::format("{}({})", one[below(std::size(one))], a))
                        : made(shape, fmt::format("{}({}, {})", two[below(std::size(two))], a, c)));
  }
  void step() {
    switch (below(4)) {
      case 0: return compute("$A", all_);
      case 1: return compute("$N", numbers_);
      case 2:
        // Something like a mean, or an extremum, so that numbers stay of one size.
        numbers_.push_back(
            made("$N", fmt::format("reduce({}, {}), dimensions={{$R}}, to_apply={}",
                                   made("$A", "tanh(" + one_of(all_) + ")"), below(2) ? "z" : "one",
                                   below(2) ? "add" : "max")));
        numbers_.push_back(made("$N", fmt::format("multiply({}, small)", numbers_.back())));
        return;
      default:
        all_.push_back(
            made("$A", fmt::format("broadcast({}), dimensions={{$K}}", one_of(numbers_))));
        all_.push_back(made("$A", fmt::format("multiply({}, {})", all_.back(), one_of(all_))));
    }
  }
  void finish() {
    std::vector<std::string> results = {all_.back()};
    std::string shapes = "$A";
    if (below(2) == 0) results.push_back(one_of(all_)), shapes += ", $A";
    if (below(2) == 0) results.push_back(one_of(numbers_)), shapes += ", $N";
    add(fmt::format("ROOT t = ({}) tuple({})", shapes, fmt::join(results, ", ")));
  }

  std::mt19937_64 random_;
  Form form_;
  std::string body_;
  std::vector<std::string> all_, numbers_;
  int count_ = 0;
};

// Sums of up to a thousand numbers, of which nothing is near zero by itself.
double tolerance_of_chain(const std::string& type) { return type == "f64" ? 1e-11 : 1e-3; }

// HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: seeds for a longer run.
TEST(SlabRows, RandomChains) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 1);
  const uint64_t count = number_from("HILO_RANDOM_COUNT", 60);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Chain chain(seed);
    const std::string text = chain.text();
    expect_native(run_both(text, seed, seed % 2 ? 1 : 3, processor_of(seed)), text,
                  tolerance_of_chain(chain.form().type));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

// Not where as many lines as lanes would not stay in the cache, or with too few rows for threads.
TEST(SlabRows, NotOfLongOnes) {
  const auto kernels = [](const Dims& dims) {
    const std::string text = program({"f32", dims}, softmax);
    const auto both = run_both(text);
    expect_native(both, text, 1e-5);
    return both ? both->report.kernels : 0;
  };
  // Lines of an eighth of the second cache.
  const int64_t bytes = find_cpu("native").cores.caches[1].bytes / 8;
  EXPECT_EQ(kernels({8, bytes / (48 * static_cast<int64_t>(sizeof(float))), 48}), 1);
  EXPECT_GT(kernels({8, 5000, 48}), 1);
  EXPECT_GT(kernels({2, 600, 48}), 1);
  EXPECT_EQ(kernels({8, 250, 400}), 1);
  EXPECT_GT(kernels({8, 300, 400}), 1);
  EXPECT_EQ(kernels({100, 300, 3}), 1);
  EXPECT_GT(kernels({100, 1500, 3}), 1);
}

}  // namespace
}  // namespace hilo::test
