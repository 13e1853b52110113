// match_modules: counterparts through names, op_names and structure; what is new and gone.
#include "parsed.h"

namespace hilo::testing_analysis {
namespace {

Module module_of(const std::string& text) {
  Result<Module> parsed = parse(text);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : to_string(parsed.error()));
  if (!parsed) return {};
  for (const Error& error : verify(*parsed)) ADD_FAILURE() << to_string(error);
  return *std::move(parsed);
}

// "x~y z~w": the pairs in the order of a; then what has none, "-x +y".
std::string pairs_of(const Module& a, const Module& b) {
  const Matching matching = match_modules(a, b);
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : " ") + text; };
  for (uint32_t i = 0; i < a.instructions.size(); ++i)
    if (const InstructionId other = matching.in_b[i])
      add(fmt::format("{}~{}{}", a.instructions[i].name, b[other].name,
                      matching.takes_others[i] ? "!" : ""));
  for (uint32_t i = 0; i < a.instructions.size(); ++i)
    if (!matching.in_b[i]) add(fmt::format("-{}", a.instructions[i].name));
  for (uint32_t i = 0; i < b.instructions.size(); ++i)
    if (!matching.in_a[i]) add(fmt::format("+{}", b.instructions[i].name));
  return out;
}
std::string pairs_of(const std::string& a, const std::string& b) {
  return pairs_of(module_of(a), module_of(b));
}

TEST(Matching, NamesAreNoMatter) {
  EXPECT_EQ(pairs_of(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a.1 = f32[4] sine(x)
  a.2 = f32[4] cosine(x)
  ROOT a.3 = f32[4] subtract(a.1, a.2)
})",
                     R"(HloModule m
ENTRY e {
  a.1 = f32[4] parameter(0)
  a.3 = f32[4] cosine(a.1)
  a.2 = f32[4] sine(a.1)
  ROOT x = f32[4] subtract(a.2, a.3)
})"),
            "x~a.1 a.1~a.2 a.2~a.3 a.3~x");
}

TEST(Matching, OtherSizesAndConstants) {
  EXPECT_EQ(pairs_of(R"(HloModule m
ENTRY e {
  x = f32[4,2] parameter(0)
  n = f32[] constant(4)
  ns = f32[4,2] broadcast(n), dimensions={}
  two = f32[] constant(2)
  twos = f32[4,2] broadcast(two), dimensions={}
  q = f32[4,2] divide(x, ns)
  ROOT r = f32[4,2] multiply(q, twos)
})",
                     R"(HloModule m
ENTRY e {
  p.1 = f32[8,2] parameter(0)
  p.2 = f32[] constant(2)
  p.3 = f32[8,2] broadcast(p.2), dimensions={}
  p.4 = f32[] constant(8)
  p.5 = f32[8,2] broadcast(p.4), dimensions={}
  p.6 = f32[8,2] divide(p.1, p.5)
  ROOT p.7 = f32[8,2] multiply(p.6, p.3)
})"),
            "x~p.1 n~p.4 ns~p.5 two~p.2 twos~p.3 q~p.6 r~p.7");
}

TEST(Matching, NewAndGone) {
  EXPECT_EQ(pairs_of(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  s = f32[4] sine(x)
  c = f32[4] convert(s)
  ROOT r = f32[4] add(c, x)
})",
                     R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  s = f32[4] sine(x)
  t = f32[4] tanh(s)
  ROOT r = f32[4] add(t, x)
})"),
            "x~x s~s r~r! -c +t");
}

// An instruction that stands in the middle of many like it takes no other's counterpart.
TEST(Matching, OneMoreInAChain) {
  const auto chain = [](int count, int missing) {
    std::string out = "HloModule m\nENTRY e {\n  v0 = f32[4] parameter(0)\n";
    std::string last = "v0";
    for (int i = 1; i <= count; ++i) {
      if (i == missing) continue;
      const std::string name = fmt::format("v{}", i);
      out += fmt::format("  {} = f32[4] {}({}), metadata={{op_name=\"layer{}\"}}\n", name,
                         i % 2 ? "sine" : "cosine", last, i);
      last = name;
    }
    return out + fmt::format("  ROOT r = f32[4] negate({})\n}}", last);
  };
  const Module a = module_of(chain(20, 0)), b = module_of(chain(20, 11));
  const Matching matching = match_modules(a, b);
  for (uint32_t i = 0; i < a.instructions.size(); ++i) {
    const InstructionId other = matching.in_b[i];
    EXPECT_EQ(other ? b[other].name : "none",
              a.instructions[i].name == "v11" ? "none" : a.instructions[i].name);
    EXPECT_EQ(matching.takes_others[i], a.instructions[i].name == "v12");
  }
}

TEST(Matching, FusedAndNot) {
  EXPECT_EQ(pairs_of(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  s = f32[4] sine(x)
  n = f32[4] negate(s)
  ROOT t = f32[4] tanh(n)
})",
                     R"(HloModule m
fused {
  p = f32[4] parameter(0)
  a = f32[4] sine(p)
  ROOT b = f32[4] negate(a)
}
ENTRY e {
  x = f32[4] parameter(0)
  f = f32[4] fusion(x), kind=kLoop, calls=fused
  ROOT t = f32[4] tanh(f)
})"),
            "x~x s~a n~b t~t +p +f");
}

TEST(Matching, ParametersByTheirNames) {
  EXPECT_EQ(pairs_of(R"(HloModule m
ENTRY e {
  a = f32[4] parameter(0), metadata={op_name="w"}
  b = f32[4] parameter(1), metadata={op_name="x"}
  ROOT r = f32[4] subtract(a, b)
})",
                     R"(HloModule m
ENTRY e {
  a = f32[4] parameter(0), metadata={op_name="scale"}
  b = f32[4] parameter(1), metadata={op_name="w"}
  c = f32[4] parameter(2), metadata={op_name="x"}
  d = f32[4] multiply(b, a)
  ROOT r = f32[4] subtract(d, c)
})"),
            "a~b b~c r~r! +a +d");
}

// Loops, what they call, and what only copies and tuples stand between.
TEST(Matching, LoopsCopiesAndTuples) {
  const std::string loop = R"(HloModule m
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[4] sine(v)
  ROOT out = (s32[], f32[4]) tuple(next, w)
}
condition {
  t = (s32[], f32[4]) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  limit = s32[] constant(5)
  ROOT less = pred[] compare(j, limit), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(init), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(loop), index=1
})";
  std::string copied = loop;
  const auto replace = [&](const std::string& from, const std::string& to) {
    copied.replace(copied.find(from), from.size(), to);
  };
  replace("  init = (s32[], f32[4]) tuple(zero, x)",
          "  y = f32[4] copy(x)\n  init = (s32[], f32[4]) tuple(zero, y)");
  replace("constant(5)", "constant(6)");
  EXPECT_EQ(pairs_of(loop, copied),
            "s~s i~i v~v one~one next~next w~w out~out t~t j~j limit~limit less~less x~x zero~zero "
            "init~init loop~loop r~r +y");
}

TEST(Matching, ComputationsThatNothingCalls) {
  const std::string text = R"(HloModule m
unused.1 {
  a = f32[] parameter(0)
  ROOT b = f32[] sine(a)
}
ENTRY e {
  ROOT x = f32[4] parameter(0)
})";
  EXPECT_EQ(pairs_of(text, text), "a~a b~b x~x");
}

TEST(Matching, ManyAlike) {
  const auto many = [](int count) {
    std::string out = "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n";
    std::string results;
    for (int i = 0; i < count; ++i) {
      out += fmt::format("  s.{} = f32[4] sine(x)\n", i);
      results += fmt::format("{}s.{}", i ? ", " : "", i);
    }
    std::string shape;
    for (int i = 0; i < count; ++i) shape += i ? ", f32[4]" : "f32[4]";
    return out + fmt::format("  ROOT r = ({}) tuple({})\n}}", shape, results);
  };
  const Module a = module_of(many(30)), b = module_of(many(33));
  const Matching matching = match_modules(a, b);
  EXPECT_EQ(std::ranges::count(matching.in_b, InstructionId()), 0);
  EXPECT_EQ(std::ranges::count(matching.in_a, InstructionId()), 3);
}

}  // namespace
}  // namespace hilo::testing_analysis
