// One op of many forms a program, with random dimension numbers, sizes (also none) and types:
// compiled as evaluated.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "../base/environment.h"
#include "../pass/judge.h"
#include "both.h"

namespace hilo::test {
namespace {

using Strings = std::vector<std::string>;

class Form {
 public:
  explicit Form(uint64_t seed) : dice_(seed) {
    static const Strings types = {"f32", "f32", "f64", "bf16", "f16", "s32",    "u8",      "s8",
                                  "s64", "u32", "u16", "pred", "c64", "c128",   "s4",      "u4",
                                  "f32", "s32", "f64", "bf16", "c64", "f8e5m2", "f8e4m3fn"};
    type_ = dice_.pick(types);
    using Make = std::string (Form::*)();
    static constexpr Make makes[] = {
        &Form::gather,      &Form::scatter, &Form::sort,        &Form::window,  &Form::selected,
        &Form::convolution, &Form::dot,     &Form::sliced,      &Form::updated, &Form::pad,
        &Form::reduce,      &Form::choice,  &Form::concatenate, &Form::loop};
    const std::string result = (this->*makes[dice_.below(std::ssize(makes))])();
    // What reads it, so that there may be a fusion behind as well.
    text_ = "HloModule m\n" + computations_ + "ENTRY e {\n" + body_;
    if (shape_of_[result].front() == '(' || flip())
      text_ += fmt::format("  ROOT out = ({0}) tuple({1})\n}}\n", shape_of_[result], result);
    else text_ += fmt::format("  ROOT out = {0} copy({1})\n}}\n", shape_of_[result], result);
  }
  const std::string& text() const { return text_; }
  // Of what is compared.
  double tolerance() const {
    const auto bits = [&](const char* name) { return type_.starts_with(name); };
    if (bits("f8")) return 0.3;
    return bits("bf16") ? 0.02 : bits("f16") ? 3e-3 : bits("f64") || bits("c128") ? 1e-12 : 2e-5;
  }

 private:
  int64_t below(int64_t n) { return dice_.below(n); }
  bool flip(int64_t n = 2) { return below(n) == 0; }
  bool is_float() const { return type_[0] == 'f' || type_[0] == 'b'; }
  bool is_complex() const { return type_[0] == 'c'; }

  static std::string list(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }
  static std::string shape(const std::string& type, const Dims& dims) {
    return fmt::format("{}[{}]", type, fmt::join(dims, ","));
  }
  std::string add(const std::string& shape, const std::string& what) {
    const std::string name = fmt::format("v{}", names_++);
    body_ += fmt::format("  {} = {} {}\n", name, shape, what);
    shape_of_[name] = shape;
    return name;
  }
  // A parameter, or what a loop makes of one.
  std::string value(const std::string& type, const Dims& dims) {
    const std::string is = shape(type, dims);
    const std::string given = add(is, fmt::format("parameter({})", parameters_++));
    if (flip()) return given;
    if (type == "pred") return add(is, fmt::format("not({})", given));
    return add(is, fmt::format("add({0}, {0})", given));
  }
  std::string value(const Dims& dims) { return value(type_, dims); }
  Dims sizes(int64_t rank, int64_t most = 5) {
    Dims out;
    for (int64_t i = 0; i < rank; ++i) out.push_back(flip(24) ? 0 : 1 + below(most));
    return out;
  }
  Dims shuffled(int64_t n) {
    Dims out;
    for (int64_t i = 0; i < n; ++i) out.insert(out.begin() + below(i + 1), i);
    return out;
  }
  Dims some(int64_t n) {  // in order
    Dims out;
    for (int64_t i = 0; i < n; ++i)
      if (flip()) out.push_back(i);
    return out;
  }
  static bool has(const Dims& dims, int64_t d) { return std::ranges::count(dims, d) > 0; }
  std::string index_type() {
    static const Strings types = {"s32", "s64", "u8", "u32", "s8"};
    return dice_.pick(types);
  }

  // Products of many reals overflow or not by their order.
  std::string combiner(const std::string& type, bool of_many = false) {
    static const Strings bits = {"and", "or", "xor"};
    Strings numbers = {"add"};
    if (!is_complex()) numbers.insert(numbers.end(), {"maximum", "minimum"});
    if (!of_many || !(is_float() || is_complex())) numbers.push_back("multiply");
    const bool of_bits = type == "pred" || (type[0] == 's' && flip(4));
    const std::string op = dice_.pick(of_bits ? bits : numbers);
    const std::string name = fmt::format("c{}", names_++);
    computations_ += fmt::format(
        "{0} {{\n  a = {1}[] parameter(0)\n  b = {1}[] parameter(1)\n  ROOT r = {1}[] "
        "{2}({3})\n}}\n",
        name, type, op, flip() ? "a, b" : "b, a");
    return name;
  }
  // A combiner; or the update replaces the value, or is taken from it.
  std::string any_combiner() {
    const int64_t kind = below(4);
    if (kind >= 2 || (kind == 1 && type_ == "pred")) return combiner(type_);
    const std::string name = fmt::format("c{}", names_++);
    computations_ +=
        fmt::format("{0} {{\n  a = {1}[] parameter(0)\n  {2}b = {1}[] parameter(1)\n{3}}}\n", name,
                    type_, kind == 0 ? "ROOT " : "",
                    kind == 0 ? "" : fmt::format("  ROOT r = {}[] subtract(a, b)\n", type_));
    return name;
  }

  // Dimension numbers of gathers and scatters.
  struct Windows {
    Dims array, slice, batching, index_batching, hidden, map, indices, out, offset;
    int64_t vector = 0;
    std::string index;
  };
  Windows windows() {
    Windows w;
    w.array = sizes(1 + below(3));
    const int64_t rank = std::ssize(w.array);
    const Dims batch = sizes(below(3), 3);
    Dims rest;
    for (int64_t d = 0; d < rank; ++d) {
      const bool fits = !batch.empty() && w.batching.empty() && w.array[d] == batch[0];
      if (fits && flip()) w.batching.push_back(d), w.index_batching.push_back(0);
      else rest.push_back(d);
      w.slice.push_back(w.array[d] == 0 ? 0 : 1 + below(w.array[d]));
    }
    for (int64_t i : shuffled(std::ssize(rest)))
      if (flip()) w.map.push_back(rest[i]);
    if (w.map.empty()) w.map.push_back(rest.empty() ? 0 : rest[0]);
    for (int64_t d : rest)
      if (flip() && w.array[d] > 0) w.hidden.push_back(d), w.slice[d] = 1;
    for (int64_t d : w.batching) w.slice[d] = std::min<int64_t>(1, w.array[d]);
    w.indices = batch;
    w.vector = below(std::ssize(batch) + 1);
    if (std::ssize(w.map) == 1 && flip()) w.vector = std::ssize(batch);
    else w.indices.insert(w.indices.begin() + w.vector, std::ssize(w.map));
    if (!w.index_batching.empty()) w.index_batching[0] = w.vector == 0 ? 1 : 0;
    if (!w.index_batching.empty() && std::ssize(w.indices) == std::ssize(batch))
      w.index_batching[0] = 0;
    Dims kept;
    for (int64_t d : rest)
      if (!has(w.hidden, d)) kept.push_back(w.slice[d]);
    const int64_t whole = std::ssize(batch) + std::ssize(kept);
    for (int64_t i = 0, b = 0, k = 0; i < whole; ++i) {
      const bool is_offset = b == std::ssize(batch) || (k < std::ssize(kept) && flip());
      if (is_offset) w.offset.push_back(i);
      w.out.push_back(is_offset ? kept[k++] : batch[b++]);
    }
    w.index = value(index_type(), w.indices);
    return w;
  }
  std::string gather() {
    const Windows w = windows();
    std::string what = fmt::format(
        "gather({}, {}), offset_dims={}, collapsed_slice_dims={}, start_index_map={}, "
        "index_vector_dim={}, slice_sizes={}",
        value(w.array), w.index, list(w.offset), list(w.hidden), list(w.map), w.vector,
        list(w.slice));
    if (!w.batching.empty())
      what += fmt::format(", operand_batching_dims={}, start_indices_batching_dims={}",
                          list(w.batching), list(w.index_batching));
    return add(shape(type_, w.out), what);
  }
  std::string scatter() {
    const Windows w = windows();
    std::string what = fmt::format(
        "scatter({}, {}, {}), update_window_dims={}, inserted_window_dims={}, "
        "scatter_dims_to_operand_dims={}, index_vector_dim={}, to_apply={}",
        value(w.array), w.index, value(w.out), list(w.offset), list(w.hidden), list(w.map),
        w.vector, any_combiner());
    if (!w.batching.empty())
      what += fmt::format(", input_batching_dims={}, scatter_indices_batching_dims={}",
                          list(w.batching), list(w.index_batching));
    return add(shape(type_, w.array), what);
  }

  // One comparison of operand k's elements, of the side's own computations perhaps.
  std::string comparison(size_t k, const std::string& type, const char* direction,
                         std::string& out) {
    const bool has_sign = type[0] != 'u' && type != "pred" && type[0] != 'c';
    std::string a = fmt::format("a{}", k), b = fmt::format("b{}", k), order;
    if (type[0] == 'c') {
      const std::string real = type == "c64" ? "f32" : "f64", name = flip() ? "real" : "imag";
      out += fmt::format("  ra{0} = {1}[] {2}(a{0})\n  rb{0} = {1}[] {2}(b{0})\n", k, real, name);
      a = "r" + a, b = "r" + b;
    } else if (has_sign && flip(3)) {
      out += fmt::format("  n{0} = {2}[] abs({0})\n  n{1} = {2}[] abs({1})\n", a, b, type);
      a = "n" + a, b = "n" + b;
    }
    if (type[0] != 's' && type[0] != 'u' && type != "pred") order = ", type=TOTALORDER";
    if (flip(4)) std::swap(a, b);
    const std::string l = fmt::format("l{}", k), e = fmt::format("e{}", k);
    out +=
        fmt::format("  {} = pred[] compare({}, {}), direction={}{}\n", l, a, b, direction, order);
    out += fmt::format("  {} = pred[] compare({}, {}), direction=EQ{}\n", e, a, b, order);
    return l;
  }
  std::string sort() {
    const Dims dims = sizes(1 + below(3), flip(4) ? 40 : 6);
    Strings types = {type_};
    while (types.size() < 3 && flip()) types.push_back(flip() ? "s32" : "f32");
    std::string out, operands, shapes;
    for (size_t k = 0; k < types.size(); ++k)
      out += fmt::format("  a{0} = {1}[] parameter({2})\n  b{0} = {1}[] parameter({3})\n", k,
                         types[k], 2 * k, 2 * k + 1);
    std::string last = comparison(0, types[0], flip() ? "LT" : "GT", out);
    for (size_t k = 1; k < types.size() && flip(); ++k) {
      const std::string rest = comparison(k, types[k], flip() ? "LT" : "GT", out);
      // By the last key first: rest, and where its elements are equal the keys so far.
      if (flip())
        out += fmt::format("  n{0} = pred[] and(e{0}, {1})\n  x{0} = pred[] or(l{0}, n{0})\n", k,
                           last);
      else out += fmt::format("  x{0} = pred[] select(e{0}, {1}, l{0})\n", k, last);
      last = fmt::format("x{}", k);
    }
    const std::string name = fmt::format("c{}", names_++);
    computations_ +=
        fmt::format("{} {{\n{}  t = pred[] constant(true)\n  ROOT r = pred[] {}\n}}\n", name, out,
                    flip(3) ? "and(" + last + ", t)" : "copy(" + last + ")");
    if (flip()) {
      computations_.replace(computations_.rfind("  " + last + " ="), 2, "  ROOT ");
      const size_t end = computations_.rfind("  ROOT r =");
      computations_ = computations_.substr(0, end) + "}\n";
    }
    for (const std::string& type : types) {
      operands += (operands.empty() ? "" : ", ") + value(type, dims);
      shapes += (shapes.empty() ? "" : ", ") + shape(type, dims);
    }
    return add(types.size() == 1 ? shapes : "(" + shapes + ")",
               fmt::format("sort({}), dimensions={{{}}}, is_stable=true, to_apply={}", operands,
                           below(std::ssize(dims)), name));
  }

  struct Sliding {
    Dims in, out;
    std::string text;
    bool fits = true;
  };
  Sliding sliding(bool with_base) {
    Sliding s;
    s.in = sizes(1 + below(3), 7);
    std::string size, stride, pad, base, window;
    for (size_t d = 0; d < s.in.size(); ++d) {
      const char* x = d ? "x" : "";
      const int64_t n = flip(3) ? 1 : 1 + below(4), step = 1 + below(3), low = below(4) - 1,
                    high = below(4) - 1, holes = with_base && flip(3) ? 1 + below(3) : 1,
                    spread = flip(3) ? 1 + below(3) : 1;
      size += fmt::format("{}{}", x, n), stride += fmt::format("{}{}", x, step);
      pad += fmt::format("{}{}_{}", x, low, high), base += fmt::format("{}{}", x, holes);
      window += fmt::format("{}{}", x, spread);
      const int64_t whole = (s.in[d] == 0 ? 0 : (s.in[d] - 1) * holes + 1) + low + high;
      const int64_t extent = (n - 1) * spread + 1;
      s.out.push_back(whole < extent ? 0 : (whole - extent) / step + 1);
    }
    s.text = fmt::format("window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}}}", size,
                         stride, pad, base, window);
    return s;
  }
  std::string initial() {
    const char* one = type_ == "pred" ? "constant(false)"
                      : is_complex()  ? "constant((1, 0))"
                                      : "constant(1)";
    return add(type_ + "[]", one);
  }
  std::string window() {
    const Sliding s = sliding(true);
    return add(shape(type_, s.out), fmt::format("reduce-window({}, {}), {}, to_apply={}",
                                                value(s.in), initial(), s.text, combiner(type_)));
  }
  std::string selected() {
    if (is_complex()) type_ = "f32";
    const Sliding s = sliding(false);
    const std::string name = fmt::format("c{}", names_++);
    computations_ += fmt::format(
        "{0} {{\n  a = {1}[] parameter(0)\n  b = {1}[] parameter(1)\n  ROOT r = pred[] compare(a, "
        "b), "
        "direction={2}\n}}\n",
        name, type_,
        flip()   ? "GE"
        : flip() ? "GT"
                 : "LE");
    return add(shape(type_, s.in),
               fmt::format("select-and-scatter({}, {}, {}), {}, select={}, scatter={}", value(s.in),
                           value(s.out), initial(), s.text, name, combiner(type_)));
  }

  std::string convolution() {
    if (type_ == "pred" || type_.starts_with("f8")) type_ = "f32";
    const int64_t spatial = below(3), groups = flip(3) ? 1 + below(3) : 1;
    const int64_t batches = groups == 1 && flip(4) ? 2 : 1;
    const int64_t batch = batches * (1 + below(3)), in = groups * (1 + below(4)),
                  out = groups * batches * (1 + below(5));
    // Sizes in the order batch, feature, spatial; then put where the labels say.
    Dims input = {batch, in}, kernel = {in / groups, out}, result = {batch / batches, out};
    std::string size, stride, pad, base, spread, reversal;
    for (int64_t d = 0; d < spatial; ++d) {
      const char* x = d ? "x" : "";
      const int64_t n = 1 + below(3), many = 1 + below(9), step = 1 + below(2), low = below(3),
                    high = below(3), holes = flip(3) ? 2 : 1, wide = flip(3) ? 2 : 1;
      size += fmt::format("{}{}", x, n), stride += fmt::format("{}{}", x, step);
      pad += fmt::format("{}{}_{}", x, low, high), base += fmt::format("{}{}", x, holes);
      spread += fmt::format("{}{}", x, wide), reversal += fmt::format("{}{}", x, below(2));
      const int64_t whole = (many - 1) * holes + 1 + low + high, extent = (n - 1) * wide + 1;
      input.push_back(many), kernel.push_back(n);
      result.push_back(whole < extent ? 0 : (whole - extent) / step + 1);
    }
    std::string labels;
    const auto place = [&](Dims& sizes, const char* names) {
      Dims put;
      for (int64_t i : shuffled(spatial + 2)) {
        labels += i < 2 ? names[i] : static_cast<char>('0' + i - 2);
        put.push_back(sizes[i]);
      }
      sizes = put;
    };
    place(input, "bf"), labels += "_", place(kernel, "io"), labels += "->", place(result, "bf");
    const std::string window =
        spatial == 0 ? ""
                     : fmt::format(
                           "window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} "
                           "rhs_reversal={}}}, ",
                           size, stride, pad, base, spread, reversal);
    return add(shape(type_, result),
               fmt::format("convolution({}, {}), {}dim_labels={}, feature_group_count={}, "
                           "batch_group_count={}",
                           value(input), value(kernel), window, labels, groups, batches));
  }

  std::string dot() {
    if (type_ == "pred" || type_.starts_with("f8")) type_ = "f32";
    const Dims batch = sizes(below(3), 3), sums = sizes(below(3), 9);
    const auto side = [&](Dims& dims, Dims& batches, Dims& contracting) {
      const Dims free = sizes(below(3), 9);
      Dims all = batch;
      all.insert(all.end(), sums.begin(), sums.end());
      all.insert(all.end(), free.begin(), free.end());
      const Dims order = shuffled(std::ssize(all));
      batches.resize(batch.size()), contracting.resize(sums.size());
      Dims kept;
      for (size_t at = 0; at < order.size(); ++at) {
        const auto from = static_cast<size_t>(order[at]);
        dims.push_back(all[from]);
        if (from < batch.size()) batches[from] = static_cast<int64_t>(at);
        else if (from < batch.size() + sums.size())
          contracting[from - batch.size()] = static_cast<int64_t>(at);
        else kept.push_back(all[from]);
      }
      return kept;
    };
    Dims a, b, batch_a, batch_b, sums_a, sums_b, out = batch;
    for (int64_t d : side(a, batch_a, sums_a)) out.push_back(d);
    for (int64_t d : side(b, batch_b, sums_b)) out.push_back(d);
    const std::string result = (type_ == "bf16" || type_ == "f16") && flip() ? "f32" : type_;
    return add(shape(result, out), fmt::format("dot({}, {}), lhs_batch_dims={}, rhs_batch_dims={}, "
                                               "lhs_contracting_dims={}, rhs_contracting_dims={}",
                                               value(a), value(b), list(batch_a), list(batch_b),
                                               list(sums_a), list(sums_b)));
  }

  // Starts that may lie outside.
  std::string starts(size_t rank) {
    const std::string type = index_type();
    std::string out;
    for (size_t d = 0; d < rank; ++d)
      out += ", " +
             (flip() ? value(type, {}) : add(type + "[]", fmt::format("constant({})", below(9))));
    return out;
  }
  Dims parts(const Dims& dims) {
    Dims out;
    for (int64_t d : dims) out.push_back(flip(8) ? 0 : d == 0 ? 0 : 1 + below(d));
    return out;
  }
  std::string sliced() {
    const Dims dims = sizes(1 + below(3)), part = parts(dims);
    return add(shape(type_, part), fmt::format("dynamic-slice({}{}), dynamic_slice_sizes={}",
                                               value(dims), starts(dims.size()), list(part)));
  }
  std::string updated() {
    const Dims dims = sizes(1 + below(3));
    return add(shape(type_, dims), fmt::format("dynamic-update-slice({}, {}{})", value(dims),
                                               value(parts(dims)), starts(dims.size())));
  }
  std::string pad() {
    const Dims dims = sizes(1 + below(3));
    Dims out;
    std::string text;
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t low = below(5) - 2, high = below(5) - 2, holes = below(3);
      text += fmt::format("{}{}_{}_{}", d ? "x" : "", low, high, holes);
      out.push_back(
          std::max<int64_t>(0, dims[d] + low + high + std::max<int64_t>(0, dims[d] - 1) * holes));
    }
    return add(shape(type_, out),
               fmt::format("pad({}, {}), padding={}", value(dims), value({}), text));
  }
  std::string concatenate() {
    const Dims dims = sizes(1 + below(3));
    const auto d = static_cast<size_t>(below(std::ssize(dims)));
    std::string operands;
    Dims out = dims;
    out[d] = 0;
    for (int64_t n = 1 + below(5); n > 0; --n) {
      Dims part = dims;
      part[d] = below(9);
      out[d] += part[d];
      operands += (operands.empty() ? "" : ", ") + value(part);
    }
    return add(shape(type_, out), fmt::format("concatenate({}), dimensions={{{}}}", operands, d));
  }

  Dims kept(const Dims& dims, const Dims& reduced) {
    Dims out;
    for (int64_t d = 0; d < std::ssize(dims); ++d)
      if (!has(reduced, d)) out.push_back(dims[static_cast<size_t>(d)]);
    return out;
  }
  std::string reduce() {
    const Dims dims = sizes(1 + below(4), flip(3) ? 70 : 5);
    const Dims over = some(std::ssize(dims));
    return add(shape(type_, kept(dims, over)),
               fmt::format("reduce({}, {}), dimensions={}, to_apply={}", value(dims), initial(),
                           list(over), combiner(type_, true)));
  }
  // The largest element and its place.
  std::string choice() {
    if (is_complex()) type_ = "f64";
    const Dims dims = sizes(1 + below(3), flip(3) ? 90 : 5);
    const Dims over = some(std::ssize(dims));
    const std::string name = fmt::format("c{}", names_++);
    computations_ += fmt::format(
        "{0} {{\n  a = {1}[] parameter(0)\n  i = s32[] parameter(1)\n  b = {1}[] parameter(2)\n  j "
        "= "
        "s32[] parameter(3)\n  c = pred[] compare(a, b), direction={2}\n  v = {1}[] select(c, a, "
        "b)\n  k = s32[] select(c, i, j)\n  ROOT r = ({1}[], s32[]) tuple(v, k)\n}}\n",
        name, type_, flip() ? "GT" : "GE");
    const Dims out = kept(dims, over);
    const std::string zero = add("s32[]", "constant(0)");
    return add(fmt::format("({}, {})", shape(type_, out), shape("s32", out)),
               fmt::format("reduce({}, {}, {}, {}), dimensions={}, to_apply={}", value(dims),
                           value("s32", dims), initial(), zero, list(over), name));
  }

  // Three values of other types that are carried and change places with what is made of them.
  std::string loop() {
    const std::string state = fmt::format("(s32[], {0}, {0}, pred[3])", shape(type_, {3, 4}));
    const std::string name = fmt::format("c{}", names_++);
    const std::string made = type_ == "pred" ? "xor" : "add", one = shape(type_, {3, 4});
    computations_ += fmt::format(
        "{0}b {{\n  s = {1} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  x = {2} "
        "get-tuple-element(s), index=1\n  y = {2} get-tuple-element(s), index=2\n  p = pred[3] "
        "get-tuple-element(s), index=3\n  o = s32[] constant(1)\n  n = s32[] add(i, o)\n  m = {2} "
        "{3}(x, y)\n  w = pred[3,4] broadcast(p), dimensions={{0}}\n  z = {2} select(w, m, x)\n  q "
        "= "
        "pred[3] not(p)\n  ROOT r = {1} tuple(n, {4}, q)\n}}\n",
        name, state, one, made, flip() ? "y, z" : "z, x");
    computations_ += fmt::format(
        "{0}c {{\n  s = {1} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  l = s32[] "
        "constant({2})\n  ROOT r = pred[] compare(i, l), direction=LT\n}}\n",
        name, state, below(4));
    const std::string zero = add("s32[]", "constant(0)");
    const std::string first = add(state, fmt::format("tuple({}, {}, {}, {})", zero, value({3, 4}),
                                                     value({3, 4}), value("pred", {3})));
    return add(state, fmt::format("while({0}), condition={1}c, body={1}b", first, name));
  }

  Dice dice_;
  std::string type_, computations_, body_, text_;
  std::map<std::string, std::string> shape_of_;
  int names_ = 0, parameters_ = 0;
};

// HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: seeds for a longer run.
TEST(RandomForms, CompiledAsEvaluated) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 1);
  const uint64_t count = number_from("HILO_RANDOM_COUNT", 150);
  int64_t refused = 0;
  std::string reasons;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Form form(seed);
    const auto both =
        run_both(form.text(), seed, static_cast<int>(1 + seed % 3), processor_of(seed));
    if (!both &&
        (both.error().kind == ErrorKind::Shape || both.error().kind == ErrorKind::Unsupported)) {
      ++refused;
      reasons += to_string(both.error()) + "\n";
      continue;
    }
    EXPECT_TRUE(both) << seed << " " << to_string(both.error()) << "\n" << form.text();
    if (!both) continue;
    EXPECT_LE(largest_difference(both->compiled, both->evaluated), form.tolerance()) << seed << "\n"
                                                                                     << form.text();
  }
  EXPECT_LE(10 * refused, static_cast<int64_t>(count)) << reasons;
}

}  // namespace
}  // namespace hilo::test
