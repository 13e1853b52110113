// Random single ops whose elements are chosen by data: slices, gathers, scatters, sorts and
// reductions, with indices outside, duplicates, ties and NaN. Numbers are multiples of 1/8, so that
// sums are exact in any order.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "../judge.h"

namespace hilo::test {

struct OpCase {
  Module module;
  std::vector<Literal> arguments;
};

// Of the standard library's kind, for shuffles.
struct DiceEngine {
  using result_type = uint64_t;
  Dice* dice;
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() { return dice->next(); }
};

class RandomOps {
 public:
  explicit RandomOps(uint64_t seed) : dice_(seed) {}

  OpCase make() {
    static constexpr void (RandomOps::* kinds[])() = {
        &RandomOps::dynamic_slice,  &RandomOps::dynamic_update_slice,
        &RandomOps::gather,         &RandomOps::gather,
        &RandomOps::scatter,        &RandomOps::scatter,
        &RandomOps::sort,           &RandomOps::top_k,
        &RandomOps::reduce,         &RandomOps::partial_reduce,
        &RandomOps::batched,        &RandomOps::fft,
        &RandomOps::linear_algebra, &RandomOps::ragged_dot};
    (this->*kinds[dice_.below(std::ssize(kinds))])();
    auto module = parse(callees_ + "ENTRY main {\n" + body_ + "}\n");
    check(module.has_value(),
          callees_ + body_ + (module ? std::string() : to_string(module.error())));
    return {std::move(*module), std::move(arguments_)};
  }

 private:
  static std::string text_of(const Dims& dims) { return fmt::format("{}", fmt::join(dims, ",")); }
  static std::string shape_of(std::string_view type, const Dims& dims) {
    return fmt::format("{}[{}]", type, text_of(dims));
  }
  Dims dims(int64_t least_rank, int64_t most_rank) {
    Dims out(static_cast<size_t>(least_rank + dice_.below(most_rank - least_rank + 1)));
    for (int64_t& size : out) size = 1 + dice_.below(9);
    return out;
  }
  std::string type() {
    static const std::vector<std::string> types = {"f32",  "f32", "s32", "bf16",
                                                   "pred", "u8",  "c64"};
    return dice_.pick(types);
  }
  std::string number_type() {
    static const std::vector<std::string> types = {"f32", "f32", "s32", "f64", "u16"};
    return dice_.pick(types);
  }
  std::string index_type() {
    static const std::vector<std::string> types = {"s32", "s32", "s64", "u32", "s8", "u8", "u64"};
    return dice_.pick(types);
  }

  // A parameter with eighths, with odd numbers too where these are asked for.
  std::string parameter(std::string_view type, const Dims& dims, bool odd = false) {
    return parameter(type, dims, [&](ElementType element) {
      static constexpr double odds[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, -NAN};
      if (odd && is_floating(element) && dice_.below(4) == 0) return odds[dice_.below(6)];
      const double whole = static_cast<double>(dice_.below(9)) - 4;
      if (element == ElementType::Pred) return static_cast<double>(dice_.below(2));
      if (is_unsigned(element)) return std::abs(whole);
      return is_floating(element) || is_complex(element) ? whole / 8 : whole;
    });
  }
  // Some outside of [0, size).
  std::string index_parameter(std::string_view type, const Dims& dims, int64_t size) {
    return parameter(type, dims, [&](ElementType element) {
      if (dice_.below(16) == 0 && bits_of(element) == 64) return dice_.below(2) ? 1e18 : 5e9;
      const double out = static_cast<double>(dice_.below(size + 6)) - 3;
      return is_unsigned(element) ? std::abs(out) : out;
    });
  }
  template <class Draw>
  std::string parameter(std::string_view type, const Dims& dims, const Draw& draw) {
    const std::string name = fmt::format("p{}", arguments_.size());
    body_ +=
        fmt::format("  {} = {} parameter({})\n", name, shape_of(type, dims), arguments_.size());
    const auto element = element_type_of(type);
    Literal out = Literal::zeros(Shape::array(*element, dims));
    const int64_t bytes = storage_bytes(*element);
    for (int64_t i = 0; i < out.count(); ++i)
      std::ranges::copy(scalar_of(*element, draw(*element)).raw(),
                        out.mutable_raw().begin() + i * bytes);
    arguments_.push_back(std::move(out));
    return name;
  }

  Dims sizes_within(const Dims& whole) {
    Dims out;
    for (int64_t size : whole) out.push_back(dice_.below(3) == 0 ? size : 1 + dice_.below(size));
    return out;
  }
  std::string starts(const Dims& whole) {
    const std::string type = index_type();
    std::string out;
    for (int64_t size : whole) out += ", " + index_parameter(type, {}, size);
    return out;
  }
  void dynamic_slice() {
    const std::string of = type();
    const Dims whole = dims(1, 3), sizes = sizes_within(whole);
    const std::string array = parameter(of, whole), at = starts(whole);
    body_ += fmt::format("  ROOT r = {} dynamic-slice({}{}), dynamic_slice_sizes={{{}}}\n",
                         shape_of(of, sizes), array, at, text_of(sizes));
  }
  void dynamic_update_slice() {
    const std::string of = type();
    const Dims whole = dims(1, 3);
    const std::string array = parameter(of, whole), update = parameter(of, sizes_within(whole)),
                      at = starts(whole);
    body_ += fmt::format("  ROOT r = {} dynamic-update-slice({}, {}{})\n", shape_of(of, whole),
                         array, update, at);
  }

  // What gather and scatter have in common.
  struct Windows {
    Dims array, window, window_dims, collapsed, batching, of_indices, start_map, indices, batch;
    int64_t vector_dim = 0;
    std::string index_name;
    Dims small;  // the result of a gather, the updates of a scatter
  };
  Windows windows() {
    Windows out;
    out.array = dims(1, 3);
    for (int64_t dim = 0; dim < std::ssize(out.array); ++dim) {
      const int64_t size = out.array[dim], role = dice_.below(5);
      if (role == 0) out.batching.push_back(dim);
      if (role == 1 || role == 2) out.collapsed.push_back(dim);
      if (role >= 3) out.window.push_back(dice_.below(2) ? size : 1 + dice_.below(size));
      if (role > 0 && dice_.below(4) > 0) out.start_map.push_back(dim);
    }
    std::ranges::shuffle(out.start_map, engine_);
    find_indices(out);
    const auto rank = static_cast<int64_t>(out.batch.size() + out.window.size());
    Dims at(static_cast<size_t>(rank));
    std::iota(at.begin(), at.end(), 0);
    std::ranges::shuffle(at, engine_);
    out.window_dims.assign(at.begin(), at.begin() + std::ssize(out.window));
    std::ranges::sort(out.window_dims);
    size_t window = 0, batch = 0;
    for (int64_t dim = 0; dim < rank; ++dim)
      out.small.push_back(std::ranges::count(out.window_dims, dim) ? out.window[window++]
                                                                   : out.batch[batch++]);
    return out;
  }
  // Batch dimensions in any order, the index vector anywhere among them or not there.
  void find_indices(Windows& out) {
    std::vector<std::pair<int64_t, int64_t>> all;  // size, batching dimension of the array
    for (int64_t dim : out.batching) all.emplace_back(out.array[dim], dim);
    for (int64_t i = dice_.below(3); i > 0; --i) all.emplace_back(1 + dice_.below(6), -1);
    const bool counts = !out.start_map.empty() && dice_.below(3) == 0;
    if (counts) all.emplace_back(out.array[out.start_map[0]], -2);
    std::ranges::shuffle(all, engine_);
    const int64_t components = std::ssize(out.start_map);
    out.vector_dim = dice_.below(std::ssize(all) + 1);
    const bool is_implicit = components == 1 && dice_.below(2) == 0;
    if (is_implicit) out.vector_dim = std::ssize(all);
    for (const auto& [size, dim] : all) out.indices.push_back(size), out.batch.push_back(size);
    if (!is_implicit) out.indices.insert(out.indices.begin() + out.vector_dim, components);
    const auto number = [&](size_t i) {
      return static_cast<int64_t>(i) + (!is_implicit && static_cast<int64_t>(i) >= out.vector_dim);
    };
    for (int64_t dim : out.batching)
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i].second == dim) out.of_indices.push_back(number(i));
    const std::string type = counts ? "s32" : index_type();
    int64_t size = 1;
    for (int64_t dim : out.start_map) size = std::max(size, out.array[dim]);
    if (!counts) {
      out.index_name = index_parameter(type, out.indices, size);
      return;
    }
    Dims one = out.indices, rest = out.indices;
    if (!is_implicit) one[out.vector_dim] = 1, rest[out.vector_dim] -= 1;
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].second == -2)
        body_ +=
            fmt::format("  n = {} iota(), iota_dimension={}\n", shape_of(type, one), number(i));
    out.index_name = "n";
    if (components == 1) return;
    const std::string others = index_parameter(type, rest, size);
    body_ += fmt::format("  i = {} concatenate(n, {}), dimensions={{{}}}\n",
                         shape_of(type, out.indices), others, out.vector_dim);
    out.index_name = "i";
  }

  void gather() {
    const std::string of = type();
    const Windows w = windows();
    Dims sizes(w.array.size(), 1);
    size_t next = 0;
    for (int64_t dim = 0; dim < std::ssize(w.array); ++dim)
      if (!std::ranges::count(w.batching, dim) && !std::ranges::count(w.collapsed, dim))
        sizes[dim] = w.window[next++];
    const std::string array = parameter(of, w.array);
    body_ += fmt::format(
        "  ROOT r = {} gather({}, {}), offset_dims={{{}}}, collapsed_slice_dims={{{}}}, "
        "start_index_map={{{}}}, operand_batching_dims={{{}}}, start_indices_batching_dims={{{}}}, "
        "index_vector_dim={}, slice_sizes={{{}}}\n",
        shape_of(of, w.small), array, w.index_name, text_of(w.window_dims), text_of(w.collapsed),
        text_of(w.start_map), text_of(w.batching), text_of(w.of_indices), w.vector_dim,
        text_of(sizes));
  }

  // A computation of two scalars.
  std::string combiner(std::string_view type, std::string_view result) {
    callees_ += fmt::format(
        "combine {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  ROOT c = {0}[] "
        "{1}\n}}\n",
        type, result);
    return "combine";
  }
  void scatter() {
    const std::string of = number_type();
    static const std::vector<std::string> results = {
        "add(a, b)",      "add(a, b)", "maximum(a, b)", "minimum(b, a)",
        "multiply(a, b)", "copy(b)",   "subtract(b, a)"};
    const Windows w = windows();
    const bool is_pair = dice_.below(4) == 0;
    std::string arrays, updates, shape = shape_of(of, w.array);
    for (int i = 0; i < (is_pair ? 2 : 1); ++i) arrays += (i ? ", " : "") + parameter(of, w.array);
    for (int i = 0; i < (is_pair ? 2 : 1); ++i) updates += ", " + parameter(of, w.small);
    if (is_pair) {
      callees_ += fmt::format(
          "combine {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n"
          "  c = {0}[] parameter(2)\n  d = {0}[] parameter(3)\n  s = {0}[] add(a, c)\n"
          "  m = {0}[] maximum(b, d)\n  ROOT t = ({0}[], {0}[]) tuple(s, m)\n}}\n",
          of);
      shape = fmt::format("({0}, {0})", shape);
    } else {
      combiner(of, dice_.pick(results));
    }
    body_ += fmt::format(
        "  ROOT r = {} scatter({}, {}{}), update_window_dims={{{}}}, inserted_window_dims={{{}}}, "
        "scatter_dims_to_operand_dims={{{}}}, input_batching_dims={{{}}}, "
        "scatter_indices_batching_dims={{{}}}, index_vector_dim={}, to_apply=combine\n",
        shape, arrays, w.index_name, updates, text_of(w.window_dims), text_of(w.collapsed),
        text_of(w.start_map), text_of(w.batching), text_of(w.of_indices), w.vector_dim);
  }

  void sort() {
    const Dims whole = dims(1, 3);
    const int64_t count = 1 + dice_.below(3);
    std::string operands, shapes, parameters;
    std::string first;
    for (int64_t i = 0; i < count; ++i) {
      const std::string of = number_type();
      if (i == 0) first = of;
      operands += (i ? ", " : "") + parameter(of, whole, true);
      shapes += (i ? ", " : "") + shape_of(of, whole);
      for (int64_t k : {2 * i, 2 * i + 1})
        parameters += fmt::format("  x{0} = {1}[] parameter({0})\n", k, of);
    }
    callees_ += fmt::format("before {{\n{}  ROOT c = pred[] compare(x0, x1), direction={}\n}}\n",
                            parameters, dice_.below(2) ? "LT" : "GT");
    body_ += fmt::format(
        "  ROOT r = {} sort({}), dimensions={{{}}}, is_stable={}, to_apply=before\n",
        count == 1 ? shapes : "(" + shapes + ")", operands, dice_.below(std::ssize(whole)), "true");
  }

  void top_k() {
    const std::string of = number_type();
    Dims whole = dims(1, 3);
    if (dice_.below(2)) whole.back() += 9;
    const std::string array = parameter(of, whole, true);
    const int64_t k = 1 + dice_.below(whole.back());
    whole.back() = k;
    const std::string shape = fmt::format("({}, {})", shape_of(of, whole), shape_of("s32", whole));
    const bool largest = dice_.below(2);
    if (dice_.below(2)) {
      body_ += fmt::format("  ROOT r = {} topk({}), k={}, largest={}\n", shape, array, k, largest);
      return;
    }
    callees_ += fmt::format(
        "before {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  i = s32[] parameter(2)\n"
        "  j = s32[] parameter(3)\n  ROOT c = pred[] compare(a, b), direction={1}\n}}\n",
        of, largest ? "GT" : "LT");
    body_ += fmt::format(
        "  ROOT r = {} custom-call({}), custom_call_target=\"TopK\", "
        "called_computations={{before}}\n",
        shape, array);
  }

  // The greatest and its number, a sum and a greatest, or one array under one of many ops.
  void reduce() {
    const Dims whole = dims(1, 3);
    Dims reduced, kept;
    for (int64_t dim = 0; dim < std::ssize(whole); ++dim)
      if (dice_.below(2)) reduced.push_back(dim);
      else kept.push_back(whole[dim]);
    const int64_t kind = dice_.below(3);
    const std::string of = number_type(), second = kind == 0 ? "s32" : of;
    const std::string initial = dice_.below(2) ? "0" : "1";
    if (kind == 2) {
      static const std::vector<std::string> results = {"add(a, b)", "maximum(a, b)",
                                                       "minimum(a, b)", "multiply(a, b)"};
      const std::string array = parameter(of, whole);
      combiner(of, dice_.pick(results));
      body_ += fmt::format(
          "  z = {}[] constant({})\n  ROOT r = {} reduce({}, z), dimensions={{{}}}, "
          "to_apply=combine\n",
          of, initial, shape_of(of, kept), array, text_of(reduced));
      return;
    }
    const std::string head = fmt::format(
        "combine {{\n  a = {0}[] parameter(0)\n  i = {1}[] parameter(1)\n  b = {0}[] parameter(2)\n"
        "  j = {1}[] parameter(3)\n",
        of, second);
    callees_ += head +
                (kind == 0 ? fmt::format("  g = pred[] compare(a, b), direction=GT\n"
                                         "  e = pred[] compare(a, b), direction=EQ\n"
                                         "  l = pred[] compare(i, j), direction=LT\n"
                                         "  n = pred[] and(e, l)\n  o = pred[] or(g, n)\n"
                                         "  v = {0}[] select(o, a, b)\n"
                                         "  w = {1}[] select(o, i, j)\n",
                                         of, second)
                           : fmt::format("  v = {0}[] add(a, b)\n"
                                         "  w = {0}[] maximum(i, j)\n",
                                         of)) +
                fmt::format("  ROOT t = ({}[], {}[]) tuple(v, w)\n}}\n", of, second);
    const std::string array = parameter(of, whole), other = parameter(second, whole);
    body_ += fmt::format(
        "  y = {}[] constant({})\n  z = {}[] constant(0)\n  ROOT r = ({}, {}) reduce({}, {}, y, "
        "z), "
        "dimensions={{{}}}, to_apply=combine\n",
        of, initial, second, shape_of(of, kept), shape_of(second, kept), array, other,
        text_of(reduced));
  }

  void partial_reduce() {
    Dims whole = dims(1, 3);
    const int64_t dim = dice_.below(std::ssize(whole));
    whole[dim] += 4;
    Dims result = whole;
    result[dim] = 1 + dice_.below(whole[dim]);
    callees_ +=
        "before {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  i = s32[] parameter(2)\n"
        "  j = s32[] parameter(3)\n  ROOT c = pred[] compare(a, b), direction=GT\n}\n";
    const std::string array = parameter("f32", whole);
    body_ += fmt::format(
        "  i = {} iota(), iota_dimension={}\n  low = f32[] constant(-inf)\n"
        "  none = s32[] constant(-1)\n  ROOT r = ({}, {}) custom-call({}, i, low, none), "
        "custom_call_target=\"PartialReduce\", called_computations={{before}}, "
        "backend_config={{\"log2_reduction\":1,\"reduction_dim\":{},"
        "\"to_apply_type\":\"comparator\",\"top_k\":1}}\n",
        shape_of("s32", whole), dim, shape_of("f32", result), shape_of("s32", result), array, dim);
  }

  // Rounded to steps that no result lies between: sums in another order are the same.
  void fft() {
    static const std::vector<int64_t> sizes = {1, 2, 3, 4, 6, 8, 9, 16, 16, 25, 64};
    static const std::vector<std::string> types = {"FFT", "IFFT", "RFFT", "IRFFT"};
    const std::string kind = dice_.pick(types);
    Dims from = dims(0, 2), lengths;
    for (int64_t i = dice_.below(3); i >= 0; --i) lengths.push_back(dice_.pick(sizes));
    from.insert(from.end(), lengths.begin(), lengths.end());
    Dims to = from;
    if (kind == "RFFT") to.back() = to.back() / 2 + 1;
    if (kind == "IRFFT") from.back() = from.back() / 2 + 1;
    const bool is_real = kind == "IRFFT";
    const std::string array = parameter(kind == "RFFT" ? "f64" : "c128", from);
    body_ += fmt::format("  t = {} fft({}), fft_type={}, fft_length={{{}}}\n",
                         shape_of(is_real ? "f64" : "c128", to), array, kind, text_of(lengths));
    const std::string shape = shape_of("f64", to);
    body_ += fmt::format(
        "  s = f64[] constant(37.7192837)\n  f = {} broadcast(s), dimensions={{}}\n", shape);
    const auto rounded = [&](const std::string& root, const std::string& part) {
      body_ +=
          fmt::format("  {0}m = {1} multiply({2}, f)\n  {3}{0} = {1} round-nearest-even({0}m)\n",
                      part, shape, is_real ? "t" : part + "p", root);
    };
    if (is_real) return rounded("ROOT ", "r");
    body_ += fmt::format("  ap = {0} real(t)\n  bp = {0} imag(t)\n", shape);
    rounded("", "a");
    rounded("", "b");
    body_ += fmt::format("  ROOT r = ({0}, {0}) tuple(a, b)\n", shape);
  }

  // Matrices of a batch, and random numbers.
  void batched() {
    Dims whole = dims(2, 3);
    const int64_t n = whole.back();
    const int64_t kind = 1 + dice_.below(2);
    if (kind == 1) {
      const std::string state = parameter("u64", {2});
      body_ +=
          fmt::format("  ROOT r = (u64[2], {}) rng-bit-generator({}), algorithm=rng_three_fry\n",
                      shape_of("u32", whole), state);
      return;
    }
    whole[whole.size() - 2] = n;
    const std::string array = parameter("f32", whole);
    body_ += fmt::format(
        "  ROOT r = {} custom-call({}), custom_call_target=\"Cholesky\", "
        "frontend_attributes={{num_batch_dims=\"{}\"}}\n",
        shape_of("f32", whole), array, whole.size() - 2);
  }

  // Factors of matrices, and systems with triangular ones.
  void linear_algebra() {
    Dims whole = dims(2, 4);
    const int64_t n = 1 + dice_.below(5);
    whole[whole.size() - 2] = n;
    const bool is_left = dice_.below(2);
    Dims square = whole;
    square.back() = square[square.size() - 2] = is_left ? n : whole.back();
    if (dice_.below(3) == 0) {
      square.back() = square[square.size() - 2] = n;
      const std::string array = parameter("f64", square);
      body_ += fmt::format("  ROOT r = {} cholesky({}), lower={}\n", shape_of("f64", square), array,
                           dice_.below(2) ? "true" : "false");
      return;
    }
    const std::string a = parameter("f64", square), b = parameter("f64", whole);
    static const std::vector<std::string> transposes = {"NO_TRANSPOSE", "TRANSPOSE"};
    body_ += fmt::format(
        "  ROOT r = {} triangular-solve({}, {}), left_side={}, lower={}, unit_diagonal=true, "
        "transpose_a={}\n",
        shape_of("f64", whole), a, b, is_left ? "true" : "false", dice_.below(2) ? "true" : "false",
        dice_.pick(transposes));
  }

  // Rows of groups, each with a matrix of its own.
  void ragged_dot() {
    const int64_t rows = 1 + dice_.below(9), inner = 1 + dice_.below(9),
                  columns = 1 + dice_.below(9), groups = 1 + dice_.below(4);
    const std::string a = parameter("f64", {rows, inner}),
                      b = parameter("f64", {groups, inner, columns});
    const std::string sizes = parameter(
        "s32", {groups}, [&](ElementType) { return static_cast<double>(dice_.below(rows + 1)); });
    body_ += fmt::format(
        "  ROOT r = {} ragged-dot({}, {}, {}), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}}, rhs_group_dims={{0}}\n",
        shape_of("f64", {rows, columns}), a, b, sizes);
  }

  Dice dice_;
  DiceEngine engine_{&dice_};
  std::string callees_, body_;
  std::vector<Literal> arguments_;
};

}  // namespace hilo::test
