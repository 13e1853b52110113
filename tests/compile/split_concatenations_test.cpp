// What is computed of arrays that are put beside each other is computed of each.
#include <fmt/ranges.h>

#include <algorithm>
#include <random>

#include "both.h"

namespace hilo::test {
namespace {

// A program that joins two to six arrays, divides what they are made of, and reduces or gives it.
class JoinedProgram {
 public:
  explicit JoinedProgram(uint64_t seed) : random_(seed) {
    static constexpr std::string_view types[] = {"f32", "f64", "s32", "bf16"};
    type_ = types[draw(std::size(types))];
    dims_ = draw(2) == 0 ? Dims{0, 0} : Dims{0, 0, 0};
    for (int64_t& size : dims_) size = sizes[draw(std::size(sizes))];
    joined_ = draw(dims_.size());
    count_ = 2 + draw(5);
    is_equal_ = draw(2) == 0;
    for (size_t i = 0; i < count_; ++i) {
      parts_.push_back(dims_);
      if (!is_equal_) parts_[i][joined_] = 1 + static_cast<int64_t>(draw(70));
    }
    dims_[joined_] = 0;
    for (const Dims& part : parts_) dims_[joined_] += part[joined_];
  }

  // Whether all of it keeps each bit.
  bool is_exact() const { return is_exact_; }

  std::string text() {
    std::string names;
    for (size_t i = 0; i < count_; ++i) {
      add(fmt::format("p{}", i), parts_[i], fmt::format("parameter({})", i));
      add(fmt::format("a{}", i), parts_[i], fmt::format("abs(p{})", i));
      add(fmt::format("q{}", i), parts_[i], fmt::format("add(a{0}, a{0})", i));
      add(fmt::format("o{}", i), parts_[i], fmt::format("maximum(q{0}, one{0})", i), i);
      add(fmt::format("d{}", i), parts_[i], fmt::format("divide(p{0}, o{0})", i));
      names += fmt::format("{}d{}", i > 0 ? ", " : "", i);
    }
    add("j", dims_, fmt::format("concatenate({}), dimensions={{{}}}", names, joined_));
    add("w", dims_, fmt::format("parameter({})", count_));
    Dims line = {dims_[joined_]};
    add("v", line, fmt::format("parameter({})", count_ + 1));
    add("b", dims_, fmt::format("broadcast(v), dimensions={{{}}}", joined_));
    static constexpr std::string_view steps[] = {"multiply(j, w)", "subtract(b, j)", "negate(j)",
                                                 "maximum(j, j)"};
    add("s", dims_, steps[draw(std::size(steps))]);
    return fmt::format("HloModule m\n{}ENTRY e {{\n{}}}\n", reducer(), lines_ + result());
  }

 private:
  static constexpr int64_t sizes[] = {3, 17, 40, 64, 100};
  size_t draw(size_t count) { return random_() % count; }
  std::string shape(const Dims& dims) const {
    return fmt::format("{}[{}]", type_, fmt::join(dims, ","));
  }
  void add(const std::string& name, const Dims& dims, std::string_view op) {
    lines_ += fmt::format("  {} = {} {}\n", name, shape(dims), op);
  }
  void add(const std::string& name, const Dims& dims, std::string_view op, size_t i) {
    lines_ += fmt::format(
        "  c{0} = {1}[] constant(1)\n  one{0} = {2} broadcast(c{0}), "
        "dimensions={{}}\n",
        i, type_, shape(dims));
    add(name, dims, op);
  }
  std::string reducer() {
    static constexpr std::string_view ops[] = {"add", "maximum", "minimum", "multiply"};
    op_ = ops[draw(type_ == "s32" ? std::size(ops) : std::size(ops) - 1)];  // products overflow
    return fmt::format(
        "of {{\n  x = {0}[] parameter(0)\n  y = {0}[] parameter(1)\n  ROOT z = {0}[] {1}(x, "
        "y)\n}}\n",
        type_, op_);
  }
  std::string result() {
    if (draw(4) == 0) return fmt::format("  ROOT r = {} negate(s)\n", shape(dims_));
    Dims reduced, kept;
    while (reduced.empty()) {
      kept.clear();
      for (size_t d = 0; d < dims_.size(); ++d)
        if (draw(2) == 0) reduced.push_back(static_cast<int64_t>(d));
        else kept.push_back(dims_[d]);
    }
    is_exact_ = type_ == "s32" || op_ == "maximum" || op_ == "minimum";
    const std::string one = fmt::format(
        "  i = {0}[] constant(1)\n  f = {1} reduce(s, i), dimensions={{{2}}}, to_apply=of\n", type_,
        shape(kept), fmt::join(reduced, ","));
    if (draw(2) == 0) return one + fmt::format("  ROOT r = {} abs(f)\n", shape(kept));
    // Read by two: the array less what it comes to.
    std::string to;
    for (size_t d = 0; d < dims_.size(); ++d)
      if (std::ranges::count(reduced, static_cast<int64_t>(d)) == 0)
        to += fmt::format("{}{}", to.empty() ? "" : ",", d);
    return one + fmt::format(
                     "  g = {0} broadcast(f), dimensions={{{1}}}\n"
                     "  ROOT r = {0} subtract(s, g)\n",
                     shape(dims_), to);
  }

  std::mt19937_64 random_;
  std::string_view type_, op_;
  Dims dims_;
  std::vector<Dims> parts_;
  size_t joined_ = 0, count_ = 0;
  bool is_equal_ = false, is_exact_ = true;
  std::string lines_;
};

TEST(SplitConcatenations, RandomProgramsAgreeWithTheEvaluator) {
  constexpr double rounding = 1e-5, of_narrow = 1e-2;
  for (uint64_t seed = 1; seed <= 90; ++seed) {
    JoinedProgram program(seed);
    const std::string text = program.text();
    const double tolerance = program.is_exact()        ? 0
                             : text.contains(" bf16[") ? of_narrow
                                                       : rounding;
    expect_native(run_both(text, seed, 1 + static_cast<int>(seed % 3), processor_of(seed)), text,
                  tolerance);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

constexpr std::string_view joined = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[200,300] parameter(0)
  y = f32[200,200] parameter(1)
  a = f32[200,300] exponential(x)
  b = f32[200,200] tanh(y)
  j = f32[200,500] concatenate(a, b), dimensions={1}
  z = f32[] constant(0)
)";

TEST(SplitConcatenations, NothingIsStored) {
  for (std::string_view result :
       {"  ROOT s = f32[200] reduce(j, z), dimensions={1}, to_apply=add\n}\n",
        "  ROOT s = f32[500] reduce(j, z), dimensions={0}, to_apply=add\n}\n",
        "  ROOT s = f32[200,500] logistic(j)\n}\n",
        R"(  s = f32[200] reduce(j, z), dimensions={1}, to_apply=add
  t = f32[200,500] broadcast(s), dimensions={0}
  d = f32[200,500] subtract(j, t)
  q = f32[200,500] multiply(d, d)
  ROOT v = f32[200] reduce(q, z), dimensions={1}, to_apply=add
}
)"}) {
    const std::string text = std::string(joined) + std::string(result);
    const auto both = run_both(text);
    expect_native(both, text, 1e-5);
    ASSERT_TRUE(both);
    EXPECT_LE(both->report.temp_bytes, 4096) << text;
  }
}

// Vectors of three made of two, and their directions.
TEST(SplitConcatenations, SingleElementsInAnotherOrder) {
  const std::string text = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[1,3000] parameter(0)
  y = f32[1,3000] parameter(1)
  a = f32[1,3000] multiply(x, y)
  b = f32[1,3000] subtract(x, y)
  c = f32[1,3000] add(x, y)
  j = f32[3,3000] concatenate(a, b, c), dimensions={0}
  z = f32[] constant(0)
  q = f32[3,3000] multiply(j, j)
  s = f32[3000] reduce(q, z), dimensions={0}, to_apply=add
  o = f32[] constant(1)
  p = f32[3000] broadcast(o), dimensions={}
  l = f32[3000] add(s, p)
  n = f32[3000,3] broadcast(l), dimensions={0}
  t = f32[3000,3] transpose(j), dimensions={1,0}
  ROOT r = f32[3000,3] divide(t, n)
}
)";
  const auto both = run_both(text);
  expect_native(both, text, 1e-6);
  ASSERT_TRUE(both);
  EXPECT_LE(both->report.temp_bytes, 4096) << text;
}

// Sines and cosines of the same angles: one loop makes both halves.
TEST(SplitConcatenations, HalvesOfTheSameAngles) {
  for (int64_t size : {8, 10, 16, 40, 128}) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[96,{0}] parameter(0)
  s = f32[96,{0}] sine(x)
  c = f32[96,{0}] cosine(x)
  ROOT j = f32[96,{1}] concatenate(s, c), dimensions={{1}}
}}
)",
                                         size, 2 * size);
    const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
    expect_native(one, text, 1e-6);
    ASSERT_TRUE(one && three);
    EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
    EXPECT_EQ(one->report.temp_bytes, 0) << text;
  }
}

// Parts that a transpose makes longer runs of are turned one by one, also through elementwise ops;
// those that it makes shorter ones of stay joined.
TEST(SplitConcatenations, LongerRunsOfTransposes) {
  for (std::string_view type : {"f32", "bf16", "s8", "f64"})
    for (auto [before, behind] :
         {std::pair("", "t"), std::pair("  c = {0}[37,130] add(j, w)\n", "t"),
          std::pair("", "maximum(t, t)")}) {
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  x = {0}[37,99] parameter(0)\n  y = {0}[37,31] parameter(1)\n"
          "  w = {0}[37,130] parameter(2)\n  j = {0}[37,130] concatenate(x, y), dimensions={{1}}\n",
          type);
      const std::string text_before = fmt::format(fmt::runtime(before), type);
      const std::string turned = fmt::format(
          "  t = {0}[130,37] transpose({1}), dimensions={{1,0}}\n  ROOT r = {0}[130,37] {2}\n}}\n",
          type, *before ? "c" : "j", std::string_view(behind) == "t" ? "copy(t)" : behind);
      const std::string program = text + text_before + turned;
      const auto one = run_both(program, 1, 1), three = run_both(program, 1, 3);
      expect_native(one, program, 0);
      ASSERT_TRUE(one && three);
      EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << program;
      EXPECT_EQ(one->report.temp_bytes, 0) << program;
    }
}

// Which of a result's transposes come to be parts of a concatenation.
TEST(SplitConcatenations, TransposesOfTheParts) {
  const auto count = [](std::string_view dims, std::string_view order) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[40,60,32] parameter(0)
  y = f32[40,60,32] parameter(1)
  j = f32[40,60,64] concatenate(x, y), dimensions={{2}}
  ROOT t = f32[{}] transpose(j), dimensions={{{}}}
}}
)",
                                         dims, order);
    Result<Module> module = parse(text);
    EXPECT_TRUE(module) << text;
    EXPECT_TRUE(cpu_target().prepare(*module, cpu_target().machine("native"), {}));
    return std::ranges::count_if(module->instructions, [](const Instruction& instruction) {
      return !instruction.removed && instruction.op == Op::Transpose;
    });
  };
  EXPECT_EQ(count("64,40,60", "2,0,1"), 2);
  EXPECT_EQ(count("40,64,60", "0,2,1"), 2);
  EXPECT_EQ(count("60,40,64", "1,0,2"), 1);
}

// Sums and differences of neighbours beside each other, and of every nth of these again: the ladder
// of a wavelet. No loop chooses between parts element by element.
TEST(SplitConcatenations, EveryNthElementOfTheParts) {
  for (std::string_view type : {"f32", "bf16", "s32"})
    for (auto [stride, kept] : {std::pair(2, 384), std::pair(3, 256), std::pair(5, 153)}) {
      const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[40,768] parameter(0)
  e = {0}[40,384] slice(x), slice={{[0:40], [0:768:2]}}
  o = {0}[40,384] slice(x), slice={{[0:40], [1:768:2]}}
  a = {0}[40,384] add(e, o)
  d = {0}[40,384] subtract(e, o)
  j = {0}[40,768] concatenate(a, d), dimensions={{1}}
  f = {0}[40,{2}] slice(j), slice={{[0:40], [0:{3}:{1}]}}
  p = {0}[40,{2}] slice(j), slice={{[0:40], [1:{4}:{1}]}}
  s = {0}[40,{2}] add(f, p)
  t = {0}[40,{2}] subtract(f, p)
  ROOT r = {0}[40,{5}] concatenate(s, t), dimensions={{1}}
}}
)",
                                           type, stride, kept, stride * (kept - 1) + 1,
                                           stride * (kept - 1) + 2, 2 * kept);
      const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
      expect_native(one, text, 0);
      ASSERT_TRUE(one && three);
      EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
      Result<Module> module = parse(text);
      ASSERT_TRUE(module) << text;
      EXPECT_TRUE(cpu_target().prepare(*module, cpu_target().machine("native"), {}));
      EXPECT_EQ(std::ranges::count_if(module->instructions,
                                      [](const Instruction& instruction) {
                                        return !instruction.removed &&
                                               instruction.op == Op::Concatenate;
                                      }),
                1)
          << text;
    }
}

// A loop over a short row would choose between parts by branches; of costly ops it is no vectors.
TEST(SplitConcatenations, CostlyOpsOfShortRows) {
  for (std::string_view op : {"sine", "exponential", "rsqrt"}) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[5000,8] parameter(0)
  y = f32[5000,8] add(x, x)
  j = f32[5000,16] concatenate(x, y), dimensions={{1}}
  ROOT r = f32[5000,16] {}(j)
}}
)",
                                         op);
    const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
    expect_native(one, text, 1e-6);
    ASSERT_TRUE(one && three);
    EXPECT_TRUE(same_bits(one->compiled, three->compiled)) << text;
    Result<Module> module = parse(text);
    ASSERT_TRUE(module) << text;
    EXPECT_TRUE(cpu_target().prepare(*module, cpu_target().machine("native"), {}));
    for (const Instruction& instruction : module->instructions)
      if (!instruction.removed && is_elementwise(instruction.op) &&
          !has_trait(instruction.op, TraitCheap))
        EXPECT_EQ(module->shape(instruction).dims, (Dims{5000, 8})) << text;
  }
}

// The rows of a state that is stacked again in each stage of a step are arrays of their own.
TEST(SplitConcatenations, SlicesOfOnePart) {
  const std::string text = R"(HloModule m
ENTRY e {
  y = f32[3,1000] parameter(0)
  a = f32[1,1000] slice(y), slice={[0:1], [0:1000]}
  b = f32[1,1000] slice(y), slice={[1:2], [0:1000]}
  c = f32[1,1000] slice(y), slice={[2:3], [0:1000]}
  p = f32[1,1000] multiply(a, b)
  q = f32[1,1000] multiply(b, c)
  r = f32[1,1000] multiply(c, a)
  k = f32[3,1000] concatenate(p, q, r), dimensions={0}
  z = f32[3,1000] add(y, k)
  d = f32[1,1000] slice(z), slice={[0:1], [0:1000]}
  f = f32[1,1000] slice(z), slice={[1:2], [0:1000]}
  g = f32[1,1000] slice(z), slice={[2:3], [0:1000]}
  s = f32[1,1000] multiply(d, f)
  t = f32[1,1000] multiply(f, g)
  u = f32[1,1000] multiply(g, d)
  l = f32[3,1000] concatenate(s, t, u), dimensions={0}
  v = f32[3,1000] add(k, l)
  ROOT w = f32[3,1000] add(y, v)
}
)";
  const auto one = run_both(text, 1, 1), three = run_both(text, 1, 3);
  expect_native(one, text, 1e-6);
  ASSERT_TRUE(one && three);
  EXPECT_TRUE(same_bits(one->compiled, three->compiled));
  Result<Module> module = parse(text);
  ASSERT_TRUE(module);
  EXPECT_TRUE(cpu_target().prepare(*module, cpu_target().machine("native"), {}));
  for (const Instruction& instruction : module->instructions)
    if (!instruction.removed && instruction.op == Op::Slice)
      EXPECT_EQ((*module)[module->operands(instruction)[0]].op, Op::Parameter);
}

}  // namespace
}  // namespace hilo::test
