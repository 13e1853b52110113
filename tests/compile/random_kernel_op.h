// Modules of one op that has kernels, with random sizes, types and attributes.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "../pass/judge.h"

namespace hilo::test {

class RandomKernelOp {
 public:
  explicit RandomKernelOp(uint64_t seed) : dice_(seed) {}
  // Of kind `number` modulo the number of kinds.
  std::string text(uint64_t number) {
    static constexpr std::string (RandomKernelOp::* kinds[])() = {
        &RandomKernelOp::dot,      &RandomKernelOp::convolution, &RandomKernelOp::fft,
        &RandomKernelOp::sort,     &RandomKernelOp::topk,        &RandomKernelOp::cholesky,
        &RandomKernelOp::triangle, &RandomKernelOp::random_bits, &RandomKernelOp::lapack};
    return (this->*kinds[number % std::size(kinds)])();
  }

 private:
  struct Axes {  // of one array, in random order
    std::vector<std::pair<char, int64_t>> all;
    void shuffle(Dice& dice) {
      for (size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[static_cast<size_t>(dice.below(static_cast<int64_t>(i)))]);
    }
    Dims sizes() const {
      Dims out;
      for (const auto& [name, size] : all) out.push_back(size);
      return out;
    }
    // Where the axes of these names stand, in the order of the names.
    Dims find(std::string_view names) const {
      Dims out;
      for (char name : names)
        out.push_back(std::ranges::find(all, name, [](auto& axis) { return axis.first; }) -
                      all.begin());
      return out;
    }
  };

  static std::string shape(std::string_view type, const Dims& dims) {
    return fmt::format("{}[{}]", type, fmt::join(dims, ","));
  }
  static std::string list(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }
  static std::string module(const std::string& body, const std::string& before = "") {
    return "HloModule m\n" + before + "ENTRY e {\n" + body + "}\n";
  }
  std::string_view type(std::vector<std::string_view> from) { return dice_.pick(from); }

  std::string dot() {
    const std::string_view batch = dice_.pick<std::string_view>({"", "b", "bc"}),
                           summed = dice_.pick<std::string_view>({"s", "st", ""}),
                           rows = dice_.pick<std::string_view>({"m", "", "mo"}),
                           columns = dice_.pick<std::string_view>({"n", "", "np"});
    std::map<char, int64_t> size;
    for (char name : std::string("bcstmonp")) size[name] = dice_.below(40) ? 1 + dice_.below(9) : 0;
    const auto axes = [&](std::string_view first, std::string_view second, std::string_view third) {
      Axes out;
      for (std::string_view names : {first, second, third})
        for (char name : names) out.all.emplace_back(name, size[name]);
      out.shuffle(dice_);
      return out;
    };
    const Axes lhs = axes(batch, summed, rows), rhs = axes(batch, columns, summed);
    Dims result;
    for (char name : batch) result.push_back(size[name]);
    for (const Axes* side : {&lhs, &rhs})
      for (const auto& [name, extent] : side->all)
        if (!batch.contains(name) && !summed.contains(name)) result.push_back(extent);
    const std::string_view of = type({"f32", "f64", "bf16", "f16", "s32", "u8", "s64", "c64"});
    return module(fmt::format(
        "  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT r = {} dot(a, b), "
        "lhs_batch_dims={}, rhs_batch_dims={}, lhs_contracting_dims={}, rhs_contracting_dims={}\n",
        shape(of, lhs.sizes()), shape(of, rhs.sizes()), shape(of, result), list(lhs.find(batch)),
        list(rhs.find(batch)), list(lhs.find(summed)), list(rhs.find(summed))));
  }

  std::string convolution() {
    const int64_t groups = 1 + dice_.below(3), spatial = dice_.below(3);
    const bool of_batch = dice_.below(3) == 0;
    const int64_t batch = 1 + dice_.below(3), features = 1 + dice_.below(3);
    const int64_t outputs = groups * (1 + dice_.below(3));
    Axes input{
        {{'b', of_batch ? batch * groups : batch}, {'f', of_batch ? features : features * groups}}};
    Axes kernel{{{'i', features}, {'o', outputs}}}, result{{{'b', batch}, {'f', outputs}}};
    std::string sizes, strides, pads, input_steps, steps, reversals;
    for (int64_t d = 0; d < spatial; ++d) {
      const int64_t window = 1 + dice_.below(3), stride = 1 + dice_.below(2);
      const int64_t step = 1 + dice_.below(2), hole = 1 + dice_.below(3);
      const int64_t low = dice_.below(4) - 1, high = dice_.below(4) - 1, size = 2 + dice_.below(5);
      const int64_t seen = (size - 1) * hole + 1 + low + high, reach = (window - 1) * step + 1;
      const char name = static_cast<char>('0' + d), *cross = d ? "x" : "";
      input.all.emplace_back(name, size), kernel.all.emplace_back(name, window);
      result.all.emplace_back(name, seen < reach ? 0 : (seen - reach) / stride + 1);
      sizes += fmt::format("{}{}", cross, window), strides += fmt::format("{}{}", cross, stride);
      pads += fmt::format("{}{}_{}", cross, low, high);
      input_steps += fmt::format("{}{}", cross, hole), steps += fmt::format("{}{}", cross, step);
      reversals += fmt::format("{}{}", cross, dice_.below(2));
    }
    for (Axes* axes : {&input, &kernel, &result}) axes->shuffle(dice_);
    const auto names = [](const Axes& axes) {
      std::string out;
      for (const auto& [name, size] : axes.all) out += name;
      return out;
    };
    const std::string window =
        spatial ? fmt::format(
                      "window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} "
                      "rhs_reversal={}}}, ",
                      sizes, strides, pads, input_steps, steps, reversals)
                : "";
    const std::string_view of = type({"f32", "f64", "bf16", "s32", "c64"});
    return module(fmt::format(
        "  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT r = {} convolution(a, b), {}"
        "dim_labels={}_{}->{}, {}_group_count={}\n",
        shape(of, input.sizes()), shape(of, kernel.sizes()), shape(of, result.sizes()), window,
        names(input), names(kernel), names(result), of_batch ? "batch" : "feature", groups));
  }

  std::string fft() {
    const bool is_double = dice_.below(2);
    const std::string_view real = is_double ? "f64" : "f32", complex = is_double ? "c128" : "c64";
    const std::string_view kind = type({"FFT", "IFFT", "RFFT", "IRFFT"});
    Dims whole, lengths;
    for (int64_t left = dice_.below(3); left > 0; --left) whole.push_back(1 + dice_.below(4));
    for (int64_t left = 1 + dice_.below(3); left > 0; --left) {
      lengths.push_back(1 + dice_.below(18));
      whole.push_back(lengths.back());
    }
    Dims half = whole;
    half.back() = whole.back() / 2 + 1;
    const std::string from = kind == "RFFT"    ? shape(real, whole)
                             : kind == "IRFFT" ? shape(complex, half)
                                               : shape(complex, whole);
    const std::string to = kind == "RFFT"    ? shape(complex, half)
                           : kind == "IRFFT" ? shape(real, whole)
                                             : shape(complex, whole);
    return module(
        fmt::format("  a = {} parameter(0)\n  ROOT r = {} fft(a), fft_type={}, fft_length={}\n",
                    from, to, kind, list(lengths)));
  }

  Dims some_dims(int64_t most) {
    Dims out;
    for (int64_t left = 1 + dice_.below(3); left > 0; --left) out.push_back(1 + dice_.below(most));
    return out;
  }

  std::string sort() {
    const Dims dims = some_dims(12);
    const int64_t operands = 1 + dice_.below(3), dim = dice_.below(std::ssize(dims));
    std::string compared, entry, arguments, shapes;
    std::vector<std::string_view> types;
    for (int64_t i = 0; i < operands; ++i) {
      types.push_back(type({"f32", "s32", "u8", "bf16", "f64", "s8", "f16"}));
      for (int64_t side = 0; side < 2; ++side)
        compared +=
            fmt::format("  p{} = {}[] parameter({})\n", 2 * i + side, types.back(), 2 * i + side);
      entry += fmt::format("  a{} = {} parameter({})\n", i, shape(types.back(), dims), i);
      arguments += fmt::format("{}a{}", i ? ", " : "", i);
      shapes += fmt::format("{}{}", i ? ", " : "", shape(types.back(), dims));
    }
    const std::string_view order = type({"LT", "GT"});
    const bool is_total = types[0][0] != 's' && types[0][0] != 'u' && dice_.below(2);
    const std::string total = is_total ? ", type=TOTALORDER" : "";
    const int64_t form = dice_.below(4);  // one key, a computed key, two keys, no order by keys
    if (form == 1)
      compared += fmt::format(
          "  x = {0}[] negate(p0)\n  y = {0}[] negate(p1)\n  ROOT r = pred[] compare(x, y), "
          "direction={1}{2}\n",
          types[0], order, total);
    else if (form == 2 && operands > 1)
      compared += fmt::format(
          "  x = pred[] compare(p0, p1), direction={0}{1}\n  y = pred[] compare(p0, p1), "
          "direction=EQ{1}\n  z = pred[] compare(p2, p3), direction=LT\n  w = pred[] and(y, z)\n"
          "  ROOT r = pred[] or(x, w)\n",
          order, total);
    else if (form == 3)
      compared +=
          fmt::format("  x = pred[] compare(p1, p0), direction={}{}\n  ROOT r = pred[] and(x, x)\n",
                      order, total);
    else
      compared += fmt::format("  ROOT r = pred[] compare(p0, p1), direction={}{}\n", order, total);
    return module(entry + fmt::format("  ROOT r = {} sort({}), dimensions={{{}}}, is_stable=true, "
                                      "to_apply=before\n",
                                      operands > 1 ? "(" + shapes + ")" : shapes, arguments, dim),
                  "before {\n" + compared + "}\n");
  }

  std::string topk() {
    Dims dims = some_dims(70);
    const std::string_view of = type({"f32", "s32", "bf16", "u8", "f64", "s16"});
    const std::string from = shape(of, dims);
    const int64_t k = 1 + dice_.below(dims.back());
    dims.back() = k;
    return module(
        fmt::format("  a = {} parameter(0)\n  ROOT r = ({}, {}) topk(a), k={}, largest={}\n", from,
                    shape(of, dims), shape("s32", dims), k, dice_.below(2) ? "true" : "false"));
  }

  // a a* + 9 of matrices, and c * the unit matrix: what factors and solutions are well made of.
  std::string definite(std::string_view of, int64_t n) {
    const bool is_complex = of[0] == 'c';
    const std::string matrices = fmt::format("{}[2,{},{}]", of, n, n);
    const std::string conjugate =
        is_complex ? fmt::format(
                         "  re = {1}[2,{2},{2}] real(a)\n  im = {1}[2,{2},{2}] imag(a)\n"
                         "  back = {1}[2,{2},{2}] negate(im)\n"
                         "  other = {0} complex(re, back)\n",
                         matrices, of == "c64" ? "f32" : "f64", n)
                   : fmt::format("  other = {0} copy(a)\n", matrices);
    return fmt::format(
        "  a = {0} parameter(0)\n{1}  p = {0} dot(a, other), lhs_batch_dims={{0}}, "
        "rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}\n"
        "  i = s32[{2},{2}] iota(), iota_dimension=0\n  j = s32[{2},{2}] iota(), iota_dimension=1\n"
        "  same = pred[{2},{2}] compare(i, j), direction=EQ\n"
        "  one = {3}[{2},{2}] convert(same)\n  all = {0} broadcast(one), dimensions={{1,2}}\n"
        "  c = {3}[] constant({4})\n  cs = {0} broadcast(c), dimensions={{}}\n"
        "  unit = {0} multiply(all, cs)\n  q = {0} add(p, unit)\n",
        matrices, conjugate, n, of, is_complex ? "(9, 0)" : "9");
  }
  std::string cholesky() {
    const std::string_view of = type({"f32", "f64", "c64", "c128"});
    const int64_t n = 1 + dice_.below(9);
    return module(definite(of, n) + fmt::format("  ROOT r = {}[2,{},{}] cholesky(q), lower={}\n",
                                                of, n, n, dice_.below(2) ? "true" : "false"));
  }
  std::string triangle() {
    const std::string_view of = type({"f32", "f64", "c64", "c128"});
    const int64_t n = 1 + dice_.below(9), other = 1 + dice_.below(20);
    const bool on_left = dice_.below(2);
    const std::string unknown =
        fmt::format("{}[2,{},{}]", of, on_left ? n : other, on_left ? other : n);
    return module(definite(of, n) +
                  fmt::format("  b = {0} parameter(1)\n  ROOT r = {0} triangular-solve(q, b), "
                              "left_side={1}, lower={2}, unit_diagonal=false, transpose_a={3}\n",
                              unknown, on_left, dice_.below(2) == 1,
                              type({"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})));
  }

  std::string random_bits() {
    const Dims dims = some_dims(9);
    const int64_t words = 2 + dice_.below(2);
    const std::string_view algorithm = words == 2 ? "rng_three_fry" : "rng_philox";
    return module(
        fmt::format("  s = u64[{0}] parameter(0)\n  ROOT r = (u64[{0}], {1}) rng-bit-generator(s), "
                    "algorithm={2}\n",
                    words, shape(type({"u32", "u64", "u8", "u16"}), dims), algorithm));
  }

  // Factors, the orthogonal matrix of them and the right one.
  std::string qr(std::string_view of, int64_t columns, char letter) {
    const int64_t rows = columns + dice_.below(4);
    const std::string matrices = fmt::format("{}[2,{},{}]", of, rows, columns);
    const std::string scales = fmt::format("{}[2,{}]", of, columns);
    const auto call = [&](std::string_view result, std::string_view operands,
                          std::string_view routine) {
      return fmt::format(
          "{} custom-call({}), custom_call_target=\"lapack_{}{}_ffi\", "
          "api_version=API_VERSION_TYPED_FFI\n",
          result, operands, letter, routine);
    };
    const std::string both = fmt::format("({}, {})", matrices, scales);
    return "  a = " + matrices + " parameter(0)\n  f = " + call(both, "a", "geqrf") +
           "  v = " + matrices + " get-tuple-element(f), index=0\n  s = " + scales +
           " get-tuple-element(f), index=1\n  q = " +
           call(matrices, "v, s", letter == 's' || letter == 'd' ? "orgqr" : "ungqr") +
           fmt::format("  ROOT r = ({0}, {1}, {0}) tuple(v, s, q)\n", matrices, scales);
  }

  std::string lapack() {
    const std::string_view of = type({"f32", "f64", "c64", "c128"});
    const char letter = of == "f32" ? 's' : of == "f64" ? 'd' : of == "c64" ? 'c' : 'z';
    const int64_t n = 1 + dice_.below(9);
    const std::string matrices = fmt::format("{}[2,{},{}]", of, n, n);
    const std::string triangle = fmt::format("uplo = {} : ui8", dice_.below(2) ? 'L' + 0 : 'U' + 0);
    const auto call = [&](std::string_view result, std::string_view operands,
                          std::string_view routine, const std::string& config) {
      return fmt::format(
          "  ROOT r = {} custom-call({}), custom_call_target=\"lapack_{}{}_ffi\", "
          "api_version=API_VERSION_TYPED_FFI, backend_config={{{}}}\n",
          result, operands, letter, routine, config);
    };
    const int64_t kind = dice_.below(4);
    if (kind == 3) return module(qr(of, n, letter));
    if (kind == 0)
      return module(definite(of, n) +
                    call(fmt::format("({}, s32[2,{}], s32[2])", matrices, n), "q", "getrf", ""));
    if (kind == 1)
      return module(definite(of, n) +
                    call(fmt::format("({}, s32[2])", matrices), "q", "potrf", triangle));
    return module(definite(of, n) + "  b = " + matrices + " parameter(1)\n" +
                  call(matrices, "q, b", "trsm",
                       fmt::format("side = {} : ui8, {}, trans_x = {} : ui8, diag = 78 : ui8",
                                   dice_.below(2) ? 'L' + 0 : 'R' + 0, triangle,
                                   dice_.pick(std::vector<int>{'N', 'T', 'C'}))));
  }

  Dice dice_;
};

}  // namespace hilo::test
