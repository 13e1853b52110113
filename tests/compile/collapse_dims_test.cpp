// Loops over dimensions that became one give the values of the dimensions themselves.
#include <fmt/ranges.h>

#include <random>

#include "both.h"

namespace hilo::test {
namespace {

// What moves places of a value, or computes with it: one of each kind, along dimensions drawn.
class Moves {
 public:
  Moves(uint32_t seed, Dims dims) : random_(seed), dims_(std::move(dims)) {
    lines_ = fmt::format("  v0 = {} parameter(0)\n  z = f32[] parameter(1)\n", shape(dims_));
  }

  std::string module(int steps) {
    for (int i = 0; i < steps; ++i) (this->*kinds[draw(std::size(kinds))])();
    return fmt::format(
        "HloModule m\nmost {{ a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = f32[] maximum(a, b) }}\nENTRY e {{\n{}  ROOT r = {} negate(v{})\n}}\n",
        lines_, shape(dims_), last_);
  }

 private:
  size_t draw(size_t count) { return random_() % count; }
  size_t draw_dim() { return draw(dims_.size()); }
  static std::string shape(const Dims& dims) {
    return fmt::format("f32[{}]", fmt::join(dims, ","));
  }
  void add(const std::string& instruction) {
    lines_ += fmt::format("  v{} = {} {}\n", last_ + 1, shape(dims_), instruction);
    ++last_;
  }
  template <class F>
  std::string each(std::string_view separator, F text) {
    std::vector<std::string> out;
    for (size_t d = 0; d < dims_.size(); ++d) out.push_back(text(d));
    return fmt::format("{}", fmt::join(out, separator));
  }

  void compute() { add(fmt::format("add(v{0}, v{0})", last_)); }
  void pad() {
    const size_t chosen = draw_dim();
    const int64_t low = static_cast<int64_t>(draw(4)), high = static_cast<int64_t>(draw(3));
    const std::string padding = each("x", [&](size_t d) {
      return d == chosen ? fmt::format("{}_{}", low, high) : std::string("0_0");
    });
    dims_[chosen] += low + high;
    add(fmt::format("pad(v{}, z), padding={}", last_, padding));
  }
  void slice() {
    const size_t chosen = draw_dim();
    const int64_t stride = draw(3) == 0 ? 2 : 1, start = dims_[chosen] > 1 ? 1 : 0;
    const Dims old = dims_;
    dims_[chosen] = (old[chosen] - start + stride - 1) / stride;
    add(fmt::format("slice(v{}), slice={{{}}}", last_, each(", ", [&](size_t d) {
                      return d == chosen ? fmt::format("[{}:{}:{}]", start, old[d], stride)
                                         : fmt::format("[0:{}]", old[d]);
                    })));
  }
  void concatenate() {
    const size_t chosen = draw_dim();
    dims_[chosen] *= 2;
    add(fmt::format("concatenate(v{0}, v{0}), dimensions={{{1}}}", last_, chosen));
  }
  void reverse() {
    const size_t first = draw_dim(), count = 1 + draw(dims_.size() - first);
    std::string dims = fmt::format("{}", first);
    for (size_t d = first + 1; d < first + count; ++d) dims += fmt::format(",{}", d);
    add(fmt::format("reverse(v{}), dimensions={{{}}}", last_, dims));
  }
  void window() {
    const size_t chosen = draw_dim();
    const int64_t size = static_cast<int64_t>(1 + draw(4)), low = static_cast<int64_t>(draw(3)),
                  high = static_cast<int64_t>(draw(3)), apart = static_cast<int64_t>(1 + draw(2));
    const int64_t results = dims_[chosen] + low + high - (size - 1) * apart;
    if (results < 1) return;
    dims_[chosen] = results;
    const auto of_dims = [&](int64_t here, int64_t elsewhere) {
      return each("x", [&](size_t d) { return fmt::format("{}", d == chosen ? here : elsewhere); });
    };
    const std::string padding = each("x", [&](size_t d) {
      return d == chosen ? fmt::format("{}_{}", low, high) : std::string("0_0");
    });
    add(fmt::format("reduce-window(v{}, z), window={{size={} pad={} rhs_dilate={}}}, to_apply=most",
                    last_, of_dims(size, 1), padding, of_dims(apart, 1)));
  }
  // One dimension goes to the front, the others stay side by side.
  void transpose() {
    const size_t chosen = draw_dim();
    Dims from = {static_cast<int64_t>(chosen)}, dims = {dims_[chosen]};
    for (size_t d = 0; d < dims_.size(); ++d) {
      if (d == chosen) continue;
      from.push_back(static_cast<int64_t>(d));
      dims.push_back(dims_[d]);
    }
    dims_ = dims;
    add(fmt::format("transpose(v{}), dimensions={{{}}}", last_, fmt::join(from, ",")));
  }
  void broadcast() {
    if (dims_.size() > 4) return;
    const size_t place = draw(dims_.size() + 1);
    Dims to;
    for (size_t d = 0; d < dims_.size(); ++d)
      to.push_back(static_cast<int64_t>(d < place ? d : d + 1));
    dims_.insert(dims_.begin() + static_cast<int64_t>(place), 2);
    add(fmt::format("broadcast(v{}), dimensions={{{}}}", last_, fmt::join(to, ",")));
  }
  void reshape() {
    if (dims_.size() < 3) return;
    const size_t d = draw(dims_.size() - 1);
    dims_[d] *= dims_[d + 1];
    dims_.erase(dims_.begin() + static_cast<int64_t>(d) + 1);
    add(fmt::format("reshape(v{})", last_));
  }

  static constexpr void (Moves::* kinds[])() = {
      &Moves::compute,   &Moves::pad,       &Moves::slice,   &Moves::concatenate, &Moves::reverse,
      &Moves::transpose, &Moves::broadcast, &Moves::reshape, &Moves::window};
  std::mt19937 random_;
  Dims dims_;
  std::string lines_;
  int last_ = 0;
};

TEST(CollapseDims, ValuesOfManyMoves) {
  const Dims shapes[] = {{7, 5, 3}, {4, 1, 6, 2}, {2, 3, 4, 5}, {40, 8, 1}, {3, 2, 2, 2, 3}};
  uint32_t seed = 0;
  for (const Dims& dims : shapes)
    for (int steps = 1; steps <= 6; ++steps)
      for (int turn = 0; turn < 4; ++turn) {
        const std::string text = Moves(++seed, dims).module(steps);
        const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
        ASSERT_TRUE(one && seven) << text << (one ? "" : to_string(one.error()));
        EXPECT_TRUE(same_bits(one->compiled, one->evaluated)) << text;
        EXPECT_TRUE(same_bits(one->compiled, seven->compiled)) << text;
      }
}

// Places at the ends of a dimension are repeated, before others of few elements each.
TEST(CollapseDims, RepeatedEdges) {
  for (std::string_view type : {"s8", "bf16", "f32"})
    for (const int64_t times : {1, 2, 4, 5})
      for (const int64_t behind : {1, 3, 4, 600}) {
        const std::string text = fmt::format(
            R"(HloModule m
ENTRY e {{
  x = {0}[9,30,{2}] parameter(0)
  n = {0}[9,30,{2}] negate(x)
  f = {0}[9,1,{2}] slice(n), slice={{[0:9],[0:1],[0:{2}]}}
  l = {0}[9,1,{2}] slice(n), slice={{[0:9],[29:30],[0:{2}]}}
  r = {0}[9,{2}] reshape(l)
  b = {0}[9,{1},{2}] broadcast(r), dimensions={{0,2}}
  z = {0}[] constant(7)
  s = {0}[9,2,{2}] broadcast(z), dimensions={{}}
  ROOT j = {0}[9,{3},{2}] concatenate(f, n, b, s), dimensions={{1}}
}}
)",
            type, times, behind, 33 + times);
        expect_native_on_threads(text);
      }
}

}  // namespace
}  // namespace hilo::test
