// Ops in terms of simpler ones: random types, dimensions and attributes of each op, against the
// evaluator's own function of it.
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "judge.h"

namespace hilo {
namespace {

using test::Dice;

Dims random_dims(Dice& dice, int64_t least_rank, int64_t max_rank, int64_t most = 5) {
  Dims out;
  for (int64_t rank = least_rank + dice.below(max_rank - least_rank + 1); rank > 0; --rank)
    out.push_back(1 + dice.below(most));
  return out;
}

std::string shape(std::string_view type, const Dims& dims) {
  return fmt::format("{}[{}]", type, fmt::join(dims, ","));
}

// 0 to n - 1 in any order.
std::vector<int64_t> shuffled(Dice& dice, int64_t n) {
  std::vector<int64_t> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  for (size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[dice.next() % i]);
  return out;
}

std::vector<int64_t> sorted_part(const std::vector<int64_t>& of, size_t from, size_t count) {
  std::vector<int64_t> out(of.begin() + from, of.begin() + from + count);
  std::ranges::sort(out);
  return out;
}

bool flip(Dice& dice) { return dice.below(2) != 0; }

std::string_view pick(Dice& dice, const std::vector<std::string_view>& from) {
  return dice.pick(from);
}

std::string batch_norm(Dice& dice) {
  const std::string_view type = pick(dice, {"f32", "f64", "bf16"});
  const Dims dims = random_dims(dice, 2, 4);
  const int64_t feature = dice.below(std::ssize(dims)), kind = dice.below(3);
  const std::string x = shape(type, dims), s = shape(type, {dims[feature]});
  const std::string attributes = fmt::format("epsilon=0.01, feature_index={}", feature);
  std::string out = fmt::format("x = {0} parameter(0)\n s = {1} parameter(1)\n", x, s);
  if (kind == 0)
    return out + fmt::format(
                     " o = {1} parameter(2)\n ROOT r = ({0}, {1}, {1}) "
                     "batch-norm-training(x, s, o), {2}",
                     x, s, attributes);
  out += fmt::format(" m = {0} parameter(2)\n p = {0} parameter(3)\n v = {0} multiply(p, p)\n", s);
  if (kind == 1)
    return out + fmt::format(
                     " o = {1} parameter(4)\n ROOT r = {0} batch-norm-inference(x, s, o, "
                     "m, v), {2}",
                     x, s, attributes);
  return out + fmt::format(
                   " d = {0} parameter(4)\n ROOT r = ({0}, {1}, {1}) batch-norm-grad(x, s, "
                   "m, v, d), {2}",
                   x, s, attributes);
}

std::string logistic(Dice& dice) {
  const std::string x =
      shape(pick(dice, {"f16", "bf16", "f32", "f64", "c64"}), random_dims(dice, 0, 3));
  return fmt::format("x = {0} parameter(0)\n ROOT r = {0} logistic(x)", x);
}

std::string reduce_precision(Dice& dice) {
  const std::string x =
      shape(pick(dice, {"f16", "bf16", "f32", "f64"}), random_dims(dice, 0, 3, 9));
  return fmt::format(
      "x = {0} parameter(0)\n ROOT r = {0} reduce-precision(x), exponent_bits={1}, "
      "mantissa_bits={2}",
      x, 1 + dice.below(11), dice.below(25));
}

std::string comparison(Dice& dice) {
  const Dims dims = random_dims(dice, 0, 2, 9);
  const std::string x = shape(pick(dice, {"f16", "bf16", "f32", "f64"}), dims);
  return fmt::format(
      "x = {0} parameter(0)\n y = {0} parameter(1)\n ROOT r = {1} compare(x, y), "
      "direction={2}, type=TOTALORDER",
      x, shape("pred", dims), pick(dice, {"EQ", "NE", "LT", "LE", "GT", "GE"}));
}

std::string topk(Dice& dice) {
  const std::string_view type = pick(dice, {"f16", "bf16", "f32", "f64", "s32", "u8", "s64"});
  const Dims dims = random_dims(dice, 1, 3, 12);
  Dims kept = dims;
  kept.back() = 1 + dice.below(dims.back());
  return fmt::format("x = {} parameter(0)\n ROOT r = ({}, {}) topk(x), k={}, largest={}",
                     shape(type, dims), shape(type, kept), shape("s32", kept), kept.back(),
                     flip(dice));
}

// The dimensions of each operand in any order.
std::string dot_of(Dice& dice, std::string_view left_type, std::string_view right_type,
                   std::string_view type) {
  const int64_t batch = dice.below(3), contracting = dice.below(3), rows = dice.below(3),
                columns = dice.below(3);
  const Dims shared = random_dims(dice, batch + contracting, batch + contracting);
  const auto left = shuffled(dice, batch + contracting + rows),
             right = shuffled(dice, batch + contracting + columns);
  const auto dims_of = [&](const std::vector<int64_t>& places) {
    Dims out = random_dims(dice, std::ssize(places), std::ssize(places));
    for (size_t i = 0; i < shared.size(); ++i) out[places[i]] = shared[i];
    return out;
  };
  const Dims x = dims_of(left), y = dims_of(right);
  Dims made(shared.begin(), shared.begin() + batch);
  const auto add_free = [&](const Dims& dims, const std::vector<int64_t>& places) {
    for (int64_t d : sorted_part(places, shared.size(), places.size() - shared.size()))
      made.push_back(dims[d]);
  };
  add_free(x, left), add_free(y, right);
  const auto part = [&](const std::vector<int64_t>& places, int64_t from, int64_t count) {
    return fmt::format("{}", fmt::join(places.begin() + from, places.begin() + from + count, ","));
  };
  return fmt::format(
      "x = {} parameter(0)\n y = {} parameter(1)\n ROOT r = {} dot(x, y), lhs_batch_dims={{{}}}, "
      "rhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}",
      shape(left_type, x), shape(right_type, y), shape(type, made), part(left, 0, batch),
      part(right, 0, batch), part(left, batch, contracting), part(right, batch, contracting));
}

std::string dot(Dice& dice) {
  const std::string_view type = pick(dice, {"f32", "f64", "s32", "c64"});
  return dot_of(dice, type, type, type);
}

std::string narrow_dot(Dice& dice) {
  const std::vector<std::string_view> types = {"f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f4e2m1fn"};
  const std::string_view left = dice.pick(types);
  return dot_of(dice, left, dice.pick(types), "f32");
}

// A Hermitian matrix whose diagonal outweighs the rest.
std::string cholesky(Dice& dice) {
  const std::string_view type = pick(dice, {"f64", "c128"});
  const int64_t n = 1 + dice.below(6);
  Dims dims = random_dims(dice, 0, 2, 3);
  const int64_t rank = std::ssize(dims) + 2;
  dims.push_back(n), dims.push_back(n);
  std::vector<int64_t> batch(static_cast<size_t>(rank - 2)), turned(static_cast<size_t>(rank));
  std::iota(batch.begin(), batch.end(), 0);
  std::iota(turned.begin(), turned.end(), 0);
  std::swap(turned[rank - 1], turned[rank - 2]);
  std::string out = fmt::format("x = {} parameter(0)\n", shape(type, dims));
  if (type == "c128")
    out += fmt::format(
        " re = {0} real(x)\n im = {0} imag(x)\n mi = {0} negate(im)\n "
        "h = {1} complex(re, mi)\n",
        shape("f64", dims), shape(type, dims));
  return out +
         fmt::format(
             " t = {0} transpose({6}), dimensions={{{1}}}\n y = {0} add(x, t)\n i = {2} "
             "iota(), iota_dimension={3}\n j = {2} iota(), iota_dimension={4}\n e = {5} "
             "compare(i, j), direction=EQ\n d = {0} convert(e)\n c = {7}[] constant({9})\n b = "
             "{0} broadcast(c), dimensions={{}}\n w = {0} multiply(d, b)\n a = {0} add(y, "
             "w)\n ROOT r = {0} cholesky(a), lower={8}",
             shape(type, dims), fmt::join(turned, ","), shape("s32", dims), rank - 1, rank - 2,
             shape("pred", dims), type == "c128" ? "h" : "x", type, flip(dice),
             type == "c128" ? "(40, 0)" : "40");
}

std::string triangular_solve(Dice& dice) {
  const std::string_view type = pick(dice, {"f64", "c128"});
  const int64_t n = 1 + dice.below(5), sides = 1 + dice.below(4);
  const bool left = flip(dice);
  Dims a = random_dims(dice, 0, 2, 3), b = a;
  a.push_back(n), a.push_back(n);
  b.push_back(left ? n : sides), b.push_back(left ? sides : n);
  return fmt::format(
      "a = {} parameter(0)\n b = {} parameter(1)\n ROOT r = {} triangular-solve(a, "
      "b), left_side={}, lower={}, unit_diagonal={}, transpose_a={}",
      shape(type, a), shape(type, b), shape(type, b), left, flip(dice), flip(dice),
      pick(dice, {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}));
}

std::string fft(Dice& dice) {
  const bool wide = flip(dice);
  const std::string_view real = wide ? "f64" : "f32", complex = wide ? "c128" : "c64",
                         kind = pick(dice, {"FFT", "IFFT", "RFFT", "IRFFT"});
  const Dims length = random_dims(dice, 1, 3, 20), before = random_dims(dice, 0, 2, 3);
  Dims full = before;
  full.insert(full.end(), length.begin(), length.end());
  Dims half = full;
  half.back() = half.back() / 2 + 1;
  const std::string in = kind == "RFFT"    ? shape(real, full)
                         : kind == "IRFFT" ? shape(complex, half)
                                           : shape(complex, full),
                    out = kind == "RFFT"    ? shape(complex, half)
                          : kind == "IRFFT" ? shape(real, full)
                                            : shape(complex, full);
  return fmt::format("x = {} parameter(0)\n ROOT r = {} fft(x), fft_type={}, fft_length={{{}}}", in,
                     out, kind, fmt::join(length, ","));
}

// What gathers and scatters have in common: windows of an array at places that indices say.
struct Windows {
  Dims array, sizes, indices, moved;  // of the array, a window, the indices; moved or updates
  std::vector<int64_t> hidden, window, map;  // dimensions
  int64_t vector_dim;
};

Windows random_windows(Dice& dice) {
  Windows out;
  out.array = random_dims(dice, 1, 4);
  const int64_t rank = std::ssize(out.array);
  for (int64_t d = 0; d < rank; ++d) {
    const bool is_hidden = dice.below(3) == 0;
    if (is_hidden) out.hidden.push_back(d);
    out.sizes.push_back(is_hidden ? 1 : 1 + dice.below(out.array[d]));
  }
  const auto order = shuffled(dice, rank);
  out.map.assign(order.begin(), order.begin() + 1 + dice.below(rank));
  const Dims batch = random_dims(dice, 0, 2, 4);
  out.indices = batch;
  out.vector_dim = dice.below(std::ssize(batch) + 1);
  if (out.map.size() == 1 && flip(dice)) out.vector_dim = std::ssize(batch);  // no dimension at all
  else out.indices.insert(out.indices.begin() + out.vector_dim, std::ssize(out.map));
  Dims kept;
  for (int64_t d = 0; d < rank; ++d)
    if (!std::ranges::count(out.hidden, d)) kept.push_back(out.sizes[d]);
  const int64_t all = std::ssize(kept) + std::ssize(batch);
  out.window = sorted_part(shuffled(dice, all), 0, kept.size());
  for (int64_t d = 0, from_window = 0, from_batch = 0; d < all; ++d)
    out.moved.push_back(std::ranges::count(out.window, d) ? kept[from_window++]
                                                          : batch[from_batch++]);
  return out;
}

std::string gather(Dice& dice) {
  const Windows w = random_windows(dice);
  const std::string_view type = pick(dice, {"f32", "s16", "pred", "c64"});
  return fmt::format(
      "x = {} parameter(0)\n i = {} parameter(1)\n ROOT r = {} gather(x, i), offset_dims={{{}}}, "
      "collapsed_slice_dims={{{}}}, start_index_map={{{}}}, index_vector_dim={}, "
      "slice_sizes={{{}}}",
      shape(type, w.array), shape(pick(dice, {"s32", "u8", "s64"}), w.indices),
      shape(type, w.moved), fmt::join(w.window, ","), fmt::join(w.hidden, ","),
      fmt::join(w.map, ","), w.vector_dim, fmt::join(w.sizes, ","));
}

std::string scatter(Dice& dice) {
  const Windows w = random_windows(dice);
  return fmt::format(
      "x = {0} parameter(0)\n i = {1} parameter(1)\n u = {2} parameter(2)\n ROOT r = {0} "
      "scatter(x, "
      "i, u), update_window_dims={{{3}}}, inserted_window_dims={{{4}}}, "
      "scatter_dims_to_operand_dims={{{5}}}, index_vector_dim={6}, to_apply=f",
      shape("f32", w.array), shape(pick(dice, {"s32", "u8", "s64"}), w.indices),
      shape("f32", w.moved), fmt::join(w.window, ","), fmt::join(w.hidden, ","),
      fmt::join(w.map, ","), w.vector_dim);
}

struct Labelled {
  char label;
  int64_t size;
};
std::pair<std::string, Dims> in_any_order(Dice& dice, const std::vector<Labelled>& of) {
  std::string labels;
  Dims dims;
  for (int64_t i : shuffled(dice, std::ssize(of)))
    labels += of[i].label, dims.push_back(of[i].size);
  return {labels, dims};
}

std::string convolution(Dice& dice) {
  const int64_t spatial = dice.below(4), groups = 1 + dice.below(3), kind = dice.below(3),
                feature_groups = kind == 1 ? groups : 1, batch_groups = kind == 2 ? groups : 1,
                features = 1 + dice.below(3), made = groups * (1 + dice.below(3)),
                batch = 1 + dice.below(3);
  std::vector<Labelled> input{{'b', batch * batch_groups}, {'f', features * feature_groups}},
      kernel{{'i', features}, {'o', made}}, result{{'b', batch}, {'f', made}};
  std::vector<std::string> sizes, strides, pads, bases, windows, reversals;
  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t n = 1 + dice.below(6), window = 1 + dice.below(3), stride = 1 + dice.below(2),
                  base = dice.below(3) ? 1 : 2, spread = dice.below(3) ? 1 : 2;
    int64_t low = 0, high = 0, room = 0;
    while (room < 1) {
      low = dice.below(5) - 1, high = dice.below(5) - 1;
      room = (n - 1) * base + 1 + low + high - ((window - 1) * spread + 1) + 1;
    }
    const char label = static_cast<char>('0' + d);
    input.push_back({label, n}), kernel.push_back({label, window});
    result.push_back({label, (room - 1) / stride + 1});
    sizes.push_back(fmt::format("{}", window)), strides.push_back(fmt::format("{}", stride));
    pads.push_back(fmt::format("{}_{}", low, high)), bases.push_back(fmt::format("{}", base));
    windows.push_back(fmt::format("{}", spread)), reversals.push_back(flip(dice) ? "1" : "0");
  }
  const auto [x_labels, x] = in_any_order(dice, input);
  const auto [w_labels, w] = in_any_order(dice, kernel);
  const auto [y_labels, y] = in_any_order(dice, result);
  const std::string window =
      spatial ? fmt::format(
                    "window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} "
                    "rhs_reversal={}}}, ",
                    fmt::join(sizes, "x"), fmt::join(strides, "x"), fmt::join(pads, "x"),
                    fmt::join(bases, "x"), fmt::join(windows, "x"), fmt::join(reversals, "x"))
              : "";
  return fmt::format(
      "x = {} parameter(0)\n w = {} parameter(1)\n ROOT y = {} convolution(x, w), "
      "{}dim_labels={}_{}->{}, feature_group_count={}, batch_group_count={}",
      shape("f32", x), shape("f32", w), shape("f32", y), window, x_labels, w_labels, y_labels,
      feature_groups, batch_groups);
}

std::string map(Dice& dice) {
  const Dims dims = random_dims(dice, 1, 3);
  std::vector<int64_t> all(dims.size());
  std::iota(all.begin(), all.end(), 0);
  return fmt::format(
      "x = {0} parameter(0)\n y = {0} parameter(1)\n ROOT r = {0} map(x, y), "
      "dimensions={{{1}}}, to_apply=f",
      shape("f32", dims), fmt::join(all, ","));
}

struct Kind {
  const char* pass;
  Keeps keeps;
  std::string (*make)(Dice&);
  int least_changed;  // of 100 modules
};

constexpr Kind kinds[] = {{"batch-norm-expander", Keeps::Reals, batch_norm, 100},
                          {"logistic-expander", Keeps::Reals, logistic, 100},
                          {"reduce-precision-expander", Keeps::Bits, reduce_precision, 50},
                          {"comparison-expander", Keeps::Bits, comparison, 100},
                          {"topk-decomposer", Keeps::Bits, topk, 100},
                          {"dot-decomposer", Keeps::Reals, dot, 80},
                          {"narrow-operand-upcaster", Keeps::Reals, narrow_dot, 100},
                          {"cholesky-expander", Keeps::Reals, cholesky, 100},
                          {"triangular-solve-expander", Keeps::Reals, triangular_solve, 100},
                          {"fft-expander", Keeps::Reals, fft, 100},
                          {"gather-simplifier", Keeps::Bits, gather, 50},
                          {"gather-simplifier", Keeps::Bits, scatter, 50},
                          {"convolution-canonicalization", Keeps::Reals, convolution, 50},
                          {"map-inliner", Keeps::Bits, map, 100}};

TEST(Expansions, RandomFormsComputeTheSame) {
  for (const Kind& kind : kinds) {
    int changed = 0;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      Dice dice(seed);
      const Module before = test::parsed(fmt::format(R"(HloModule m
f {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = f32[] constant(3)
 d = f32[] multiply(b, c)
 ROOT s = f32[] subtract(a, d) }}
ENTRY e {{ {} }}
)",
                                                     kind.make(dice)));
      const auto errors = verify(before);
      ASSERT_TRUE(errors.empty()) << to_string(errors[0]) << print(before);
      const Module after = test::after_passes(before, kind.pass);
      changed += !difference(before, after).empty();
      EXPECT_EQ(test::difference_in_values(before, after, kind.keeps, seed, 1), "")
          << kind.pass << " " << print(before) << print(after);
      if (HasFailure()) break;  // one module is enough to see what is wrong
    }
    EXPECT_GE(changed, kind.least_changed) << kind.pass;
  }
}

}  // namespace
}  // namespace hilo
