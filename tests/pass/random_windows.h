// Texts of programs that slide windows or move rows, most of one op, with random sizes. Some do not
// verify.
#pragma once

#include "judge.h"

namespace hilo::test {

enum class WindowedOp : uint8_t {
  Pad,
  Slice,
  Reverse,
  Concatenate,
  ReduceWindow,
  Running,
  Convolution,
  KernelGradient,
  SelectAndScatter,
  Scan,
  Reshape,
  Roll,
  SliceOfPad,
};
inline constexpr WindowedOp all_windowed_ops[] = {
    WindowedOp::Pad,         WindowedOp::Slice,          WindowedOp::Reverse,
    WindowedOp::Concatenate, WindowedOp::ReduceWindow,   WindowedOp::Running,
    WindowedOp::Convolution, WindowedOp::KernelGradient, WindowedOp::SelectAndScatter,
    WindowedOp::Scan,        WindowedOp::Reshape,        WindowedOp::Roll,
    WindowedOp::SliceOfPad};

inline std::string joined(const Dims& numbers, const char* separator) {
  std::string out;
  for (int64_t number : numbers) out += fmt::format("{}{}", out.empty() ? "" : separator, number);
  return out;
}
inline std::string array(const std::string& type, const Dims& dims) {
  return fmt::format("{}[{}]", type, joined(dims, ","));
}

// One dimension of a window over a random size; some cover nothing.
struct RandomWindow {
  int64_t rows, size, stride, low, high, window_dilation, base_dilation;
  bool reversal;

  RandomWindow(Dice& dice, bool plain) {
    rows = 1 + dice.below(18);
    size = plain ? 1 : 1 + dice.below(4);
    stride = plain || dice.below(2) ? 1 : 1 + dice.below(3);
    low = plain ? 0 : dice.below(6) - 2, high = plain ? 0 : dice.below(6) - 2;
    window_dilation = plain || dice.below(2) ? 1 : 1 + dice.below(3);
    base_dilation = plain || dice.below(3) ? 1 : 1 + dice.below(3);
    reversal = !plain && dice.below(4) == 0;
  }
  int64_t windows() const {
    const int64_t padded = low + high + (rows - 1) * base_dilation + 1;
    const int64_t covered = (size - 1) * window_dilation + 1;
    return padded < covered ? 0 : (padded - covered) / stride + 1;
  }
};

inline std::string window_text(const std::vector<RandomWindow>& dims, bool reverses) {
  const auto each = [&](auto text) {
    std::string out;
    for (const RandomWindow& one : dims) out += (out.empty() ? "" : "x") + text(one);
    return out;
  };
  std::string out = "window={size=";
  out += each([](const auto& w) { return fmt::format("{}", w.size); });
  out += " stride=" + each([](const auto& w) { return fmt::format("{}", w.stride); });
  out += " pad=" + each([](const auto& w) { return fmt::format("{}_{}", w.low, w.high); });
  out += " lhs_dilate=" + each([](const auto& w) { return fmt::format("{}", w.base_dilation); });
  out += " rhs_dilate=" + each([](const auto& w) { return fmt::format("{}", w.window_dilation); });
  if (reverses)
    out += " rhs_reversal=" + each([](const auto& w) { return fmt::format("{:d}", w.reversal); });
  return out + "}";
}

inline std::string combiner_text(const std::string& name, const char* op, const std::string& type) {
  return fmt::format(
      "{0} {{\n a = {1}[] parameter(0)\n b = {1}[] parameter(1)\n ROOT c = {1}[] {2}(a, b)\n}}\n",
      name, type, op);
}
inline std::string program(const std::string& computations, const std::string& entry) {
  return "HloModule m\n" + computations + "ENTRY main {\n" + entry + "}\n";
}

class RandomWindowText {
 public:
  explicit RandomWindowText(Dice& dice) : dice_(dice) {}

  std::string pad() {
    Dims in, out;
    std::string config;
    for (int d = 0; d < 2; ++d) {
      const int64_t size = dice_.below(15), low = dice_.below(8) - 3, high = dice_.below(8) - 3,
                    interior = dice_.below(2) ? 0 : dice_.below(4);
      in.push_back(size);
      out.push_back(low + high + size + std::max<int64_t>(0, size - 1) * interior);
      config += fmt::format("{}{}_{}_{}", d ? "x" : "", low, high, interior);
    }
    return program("", fmt::format(" x = {} parameter(0)\n p = f32[] parameter(1)\n"
                                   " ROOT r = {} pad(x, p), padding={}\n",
                                   array("f32", in), array("f32", out), config));
  }

  std::string slice() {
    Dims in, out;
    std::string config;
    for (int d = 0; d < 2; ++d) {
      const int64_t size = 1 + dice_.below(20), start = dice_.below(size),
                    limit = start + dice_.below(size - start + 1), stride = 1 + dice_.below(3);
      in.push_back(size);
      out.push_back((limit - start + stride - 1) / stride);
      config += fmt::format("{}[{}:{}:{}]", d ? ", " : "", start, limit, stride);
    }
    return program("", fmt::format(" x = {} parameter(0)\n ROOT r = {} slice(x), slice={{{}}}\n",
                                   array("s32", in), array("s32", out), config));
  }

  std::string reverse() {
    const Dims dims = {dice_.below(14), 1 + dice_.below(6)};
    const std::string shape = array("f32", dims);
    return program("", fmt::format(" x = {} parameter(0)\n ROOT r = {} reverse(x), "
                                   "dimensions={{{}}}\n",
                                   shape, shape, dice_.below(2) ? "0" : "0,1"));
  }

  std::string concatenate() {
    const int64_t dim = dice_.below(2), other = 1 + dice_.below(6);
    std::string operands, names;
    int64_t sum = 0;
    const auto shape = [&](int64_t size) {
      return array("f32", dim == 0 ? Dims{size, other} : Dims{other, size});
    };
    for (int64_t i = 0, n = 1 + dice_.below(4); i < n; ++i) {
      const int64_t size = dice_.below(9);
      sum += size;
      operands += fmt::format(" x{} = {} parameter({})\n", i, shape(size), i);
      names += fmt::format("{}x{}", i ? ", " : "", i);
    }
    return program("", operands + fmt::format(" ROOT r = {} concatenate({}), dimensions={{{}}}\n",
                                              shape(sum), names, dim));
  }

  std::string reduce_window() {
    const std::vector<RandomWindow> dims = {{dice_, false}, {dice_, dice_.below(2) == 0}};
    const char* const ops[] = {"add", "maximum", "minimum", "multiply", "subtract"};
    const char* const op = ops[dice_.below(5)];
    const std::string type = dice_.below(2) ? "f32" : "s32";
    return windowed(dims, op, type == "f32" && op == std::string("multiply") ? "s32" : type);
  }

  std::string running() {
    std::vector<RandomWindow> dims = {{dice_, true}, {dice_, true}};
    RandomWindow& one = dims[static_cast<size_t>(dice_.below(2))];
    one.size = one.rows + dice_.below(2) * dice_.below(3);
    (dice_.below(2) ? one.low : one.high) = one.size - 1;
    const char* const ops[] = {"add", "maximum", "minimum"};
    return windowed(dims, ops[dice_.below(3)], dice_.below(2) ? "f32" : "s32");
  }

  std::string convolution() {
    const std::vector<RandomWindow> dims = {{dice_, false}, {dice_, dice_.below(2) == 0}};
    const int64_t groups = dice_.below(2) ? 1 : 1 + dice_.below(4);
    const bool of_batches = dice_.below(3) == 0;
    const int64_t batch = (of_batches ? groups : 1) * (1 + dice_.below(3));
    const int64_t in = 1 + dice_.below(4), out = groups * (1 + dice_.below(3));
    const int64_t features = of_batches ? in : in * groups;
    return convolved({batch, dims[0].rows, dims[1].rows, features},
                     {dims[0].size, dims[1].size, in, out}, dims, "b01f_01io->b01f",
                     fmt::format("{}_group_count={}", of_batches ? "batch" : "feature", groups));
  }

  // The window is as large as the array.
  std::string kernel_gradient() {
    std::vector<RandomWindow> dims = {{dice_, false}, {dice_, dice_.below(2) == 0}};
    for (RandomWindow& one : dims) {
      one.size = std::max<int64_t>(1, one.rows - dice_.below(3));
      one.window_dilation = dice_.below(3) ? 1 : 2;
      if (one.window_dilation == 2) one.size = (one.size + 1) / 2;
      one.low = dice_.below(3), one.high = dice_.below(3);
    }
    const int64_t batch = 1 + dice_.below(4), in = 1 + dice_.below(5), out = 1 + dice_.below(4);
    return convolved({batch, dims[0].rows, dims[1].rows, in},
                     {batch, dims[0].size, dims[1].size, out}, dims, "f01b_i01o->01bf", "");
  }

  std::string select_and_scatter() {
    std::vector<RandomWindow> dims = {{dice_, false}, {dice_, dice_.below(2) == 0}};
    for (RandomWindow& one : dims) one.window_dilation = one.base_dilation = 1;
    const std::string type = dice_.below(2) ? "f32" : "s32";
    const char* const comparisons[] = {"GE", "GT", "LE", "LT"};
    const std::string select = fmt::format(
        "select {{\n a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT c = pred[] compare(a, "
        "b), direction={1}\n}}\n",
        type, comparisons[dice_.below(4)]);
    const std::string whole = array(type, {dims[0].rows, dims[1].rows});
    return program(
        select + combiner_text("scatter", dice_.below(4) ? "add" : "maximum", type),
        fmt::format(" x = {} parameter(0)\n s = {} parameter(1)\n i = {}[] parameter(2)\n ROOT r = "
                    "{} select-and-scatter(x, s, i), {}, select=select, scatter=scatter\n",
                    whole, array(type, {dims[0].windows(), dims[1].windows()}), type, whole,
                    window_text(dims, false)));
  }

  std::string scan() {
    const Dims dims = {1 + dice_.below(12), 1 + dice_.below(5)};
    const int64_t dim = dice_.below(2);
    const std::string slice = array("s32", {dims[static_cast<size_t>(1 - dim)]});
    const char* const ops[] = {"add", "maximum", "minimum"};
    const std::string body = fmt::format(
        "body {{\n a = {0} parameter(0)\n b = {0} parameter(1)\n c = {0} {1}(a, b)\n ROOT t = "
        "({0}, "
        "{0}) tuple(c, c)\n}}\n",
        slice, ops[dice_.below(3)]);
    const std::string whole = array("s32", dims);
    return program(body,
                   fmt::format(" x = {0} parameter(0)\n i = {1} parameter(1)\n s = ({0}, {1}) "
                               "scan(x, i), dimensions={{{2}}}, num_carries=1, is_reverse={3}, "
                               "is_associative={4}, to_apply=body\n ROOT r = {0} "
                               "get-tuple-element(s), index=0\n",
                               whole, slice, dim, dice_.below(2) ? "true" : "false",
                               dice_.below(2) ? "true" : "false"));
  }

  // The end of an array, sometimes all of it, and its beginning.
  std::string roll() {
    const int64_t size = 2 + dice_.below(15), other = 1 + dice_.below(3),
                  start = 1 + dice_.below(size - 1), limit = 1 + dice_.below(size),
                  whole = dice_.below(2) * size;
    const auto shape = [&](int64_t rows) { return array("f32", {rows, other}); };
    return program(
        "", fmt::format(" x = {0} parameter(0)\n a = {1} slice(x), slice={{[{4}:{5}], [0:{8}]}}"
                        "\n b = {2} slice(x), slice={{[0:{6}], [0:{8}]}}\n ROOT "
                        "r = {3} concatenate(a, {7}b), dimensions={{0}}\n",
                        shape(size), shape(size - start), shape(limit),
                        shape(size - start + whole + limit), start, size, limit, whole ? "x, " : "",
                        other));
  }

  std::string slice_of_pad() {
    const int64_t size = 1 + dice_.below(14), low = dice_.below(6), high = dice_.below(6),
                  padded = low + size + high, start = dice_.below(padded),
                  limit = start + 1 + dice_.below(padded - start);
    return program(
        "", fmt::format(" x = f32[{0}] parameter(0)\n v = f32[] parameter(1)\n p = f32[{1}] pad(x, "
                        "v), padding={2}_{3}\n ROOT r = f32[{4}] slice(p), "
                        "slice={{[{5}:{6}]}}\n",
                        size, padded, low, high, limit - start, start, limit));
  }

  // Factors of the same product, grouped at random on both sides.
  std::string reshape() {
    Dims factors;
    for (int64_t i = 0, n = 2 + dice_.below(3); i < n; ++i) factors.push_back(1 + dice_.below(6));
    const auto grouped = [&] {
      Dims out = {1};
      for (int64_t factor : factors) {
        if (dice_.below(2)) out.push_back(1);
        out.back() *= factor;
      }
      return out;
    };
    const Dims in = grouped(), out = grouped();
    return program("", fmt::format(" x = {} parameter(0)\n ROOT r = {} reshape(x)\n",
                                   array("s32", in), array("s32", out)));
  }

 private:
  std::string windowed(const std::vector<RandomWindow>& dims, const char* op,
                       const std::string& type) {
    return program(
        combiner_text("combine", op, type),
        fmt::format(" x = {} parameter(0)\n i = {}[] parameter(1)\n ROOT r = {} reduce-window(x, "
                    "i), {}, to_apply=combine\n",
                    array(type, {dims[0].rows, dims[1].rows}), type,
                    array(type, {dims[0].windows(), dims[1].windows()}), window_text(dims, false)));
  }

  // The result's shape is that of the labels b01f or 01bf.
  std::string convolved(const Dims& input, const Dims& kernel,
                        const std::vector<RandomWindow>& dims, const std::string& labels,
                        const std::string& groups) {
    const Dims windows = {dims[0].windows(), dims[1].windows()};
    int64_t batch = input[0];
    if (groups.starts_with("batch")) batch /= std::stoll(groups.substr(groups.find('=') + 1));
    const Dims result = groups.empty() ? Dims{windows[0], windows[1], input[3], kernel[3]}
                                       : Dims{batch, windows[0], windows[1], kernel[3]};
    return program(
        "", fmt::format(" x = {} parameter(0)\n k = {} parameter(1)\n ROOT r = {} "
                        "convolution(x, k), {}, dim_labels={}{}{}\n",
                        array("f32", input), array("f32", kernel), array("f32", result),
                        window_text(dims, true), labels, groups.empty() ? "" : ", ", groups));
  }

  Dice& dice_;
};

inline std::string random_window_text(WindowedOp kind, Dice& dice) {
  RandomWindowText text(dice);
  switch (kind) {
    case WindowedOp::Pad: return text.pad();
    case WindowedOp::Slice: return text.slice();
    case WindowedOp::Reverse: return text.reverse();
    case WindowedOp::Concatenate: return text.concatenate();
    case WindowedOp::ReduceWindow: return text.reduce_window();
    case WindowedOp::Running: return text.running();
    case WindowedOp::Convolution: return text.convolution();
    case WindowedOp::KernelGradient: return text.kernel_gradient();
    case WindowedOp::SelectAndScatter: return text.select_and_scatter();
    case WindowedOp::Scan: return text.scan();
    case WindowedOp::Reshape: return text.reshape();
    case WindowedOp::Roll: return text.roll();
    case WindowedOp::SliceOfPad: return text.slice_of_pad();
  }
  return "";
}

}  // namespace hilo::test
