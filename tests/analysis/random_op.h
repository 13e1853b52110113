// A module of one op with random attributes, as text, of the kinds that RandomModule has not or not
// with all of their attributes. The same seed makes the same module.
#pragma once

#include <algorithm>

#include "../pass/judge.h"

namespace hilo::test {

class RandomOp {
 public:
  explicit RandomOp(uint64_t seed) : dice_(seed) {}

  std::string text() {
    static constexpr std::string (RandomOp::* kinds[])() = {
        &RandomOp::reshape, &RandomOp::bitcast,        &RandomOp::bitcast_convert,
        &RandomOp::pad,     &RandomOp::dynamic_slice,  &RandomOp::dynamic_update,
        &RandomOp::gather,  &RandomOp::scatter,        &RandomOp::reduce,
        &RandomOp::window,  &RandomOp::select_scatter, &RandomOp::convolution,
        &RandomOp::dot,     &RandomOp::scaled_dot,     &RandomOp::ragged_dot,
        &RandomOp::fft,     &RandomOp::square,         &RandomOp::batch_norm,
        &RandomOp::top_k,   &RandomOp::scan,           &RandomOp::map,
        &RandomOp::tuple,   &RandomOp::random_bits,    &RandomOp::sort};
    const std::string body = (this->*kinds[dice_.below(std::size(kinds))])();
    return std::string("HloModule m\n") + computations + "ENTRY e {\n" + parameters_ +
           "  ROOT r = " + body + "\n}\n";
  }

 private:
  static constexpr const char* computations = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE }
ge2 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  x = f32[] parameter(2)
  y = f32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=GE }
two { a = f32[] parameter(0)
  i = f32[] parameter(1)
  b = f32[] parameter(2)
  j = f32[] parameter(3)
  x = f32[] add(a, b)
  y = f32[] multiply(i, j)
  z = f32[] add(y, a)
  ROOT c = (f32[], f32[]) tuple(x, z) }
)";

  int64_t size(int64_t most = 6) { return 1 + dice_.below(most); }
  bool coin() { return dice_.below(2); }
  Dims dims(int64_t rank) {
    Dims out;
    for (int64_t i = 0; i < rank; ++i) out.push_back(size());
    return out;
  }
  static std::string join(const Dims& dims) {
    std::string out;
    for (int64_t dim : dims) out += (out.empty() ? "" : ",") + std::to_string(dim);
    return out;
  }
  static std::string shape(const Dims& dims, std::string_view type = "f32") {
    return fmt::format("{}[{}]", type, join(dims));
  }
  // The name of a new parameter.
  std::string parameter(const std::string& shape) {
    parameters_ += fmt::format("  p{} = {} parameter({})\n", count_, shape, count_);
    return fmt::format("p{}", count_++);
  }
  Dims shuffled(int64_t n) {
    Dims out;
    for (int64_t i = 0; i < n; ++i) out.insert(out.begin() + dice_.below(i + 1), i);
    return out;
  }
  // Some numbers below n, ascending.
  Dims some(int64_t n) {
    Dims out;
    for (int64_t i = 0; i < n; ++i)
      if (coin()) out.push_back(i);
    return out;
  }
  static bool holds(const Dims& dims, int64_t dim) { return std::ranges::count(dims, dim) > 0; }

  // Factors of one number, in two ways.
  std::pair<Dims, Dims> factored() {
    static const std::vector<int64_t> numbers = {1, 6, 8, 12, 24, 30, 36, 60};
    const int64_t whole = dice_.pick(numbers);
    const auto factors = [&] {
      Dims out;
      for (int64_t rest = whole; rest > 1 || coin();) {
        int64_t next = size(rest > 1 ? rest : 1);
        while (rest % next != 0) ++next;
        out.push_back(next);
        rest /= next;
        if (out.size() > 5) {
          out.push_back(rest);
          break;
        }
      }
      return out;
    };
    const Dims a = factors();
    return {a, factors()};
  }
  std::string reshape() {
    const auto [from, to] = factored();
    return fmt::format("{} reshape({})", shape(to), parameter(shape(from)));
  }
  std::string laid_out(const Dims& dims, std::string_view type) {
    return shape(dims, type) + "{" + join(shuffled(std::ssize(dims))) + "}";
  }
  std::string bitcast() {
    const auto [from, to] = factored();
    return fmt::format("{} bitcast({})", laid_out(to, coin() ? "f32" : "s32"),
                       parameter(laid_out(from, "f32")));
  }
  std::string bitcast_convert() {
    Dims from = dims(size(3)), to = from;
    if (coin()) {
      to.push_back(2);
      return fmt::format("{} bitcast-convert({})", shape(to, "u16"), parameter(shape(from, "u32")));
    }
    from.push_back(4);
    return fmt::format("{} bitcast-convert({})", shape(to, "u32"), parameter(shape(from, "u8")));
  }
  std::string pad() {
    const Dims from = dims(size(3));
    Dims to;
    std::string padding;
    for (int64_t dim : from) {
      const int64_t interior = dice_.below(3), whole = dim + (dim - 1) * interior;
      const int64_t low = dice_.below(5) - 2, high = std::max(-(whole + low), dice_.below(5) - 2);
      to.push_back(whole + low + high);
      padding += fmt::format("{}{}_{}_{}", padding.empty() ? "" : "x", low, high, interior);
    }
    const std::string x = parameter(shape(from)), value = parameter("f32[]");
    return fmt::format("{} pad({}, {}), padding={}", shape(to), x, value, padding);
  }

  std::string starts(int64_t rank) {
    if (coin()) return ", " + parameter(fmt::format("s32[{}]", rank));
    std::string out;
    for (int64_t i = 0; i < rank; ++i) out += ", " + parameter("s32[]");
    return out;
  }
  Dims part_of(const Dims& whole) {
    Dims out;
    for (int64_t dim : whole) out.push_back(size(dim));
    return out;
  }
  std::string dynamic_slice() {
    const Dims from = dims(size(3)), to = part_of(from);
    const std::string x = parameter(shape(from));
    return fmt::format("{} dynamic-slice({}{}), dynamic_slice_sizes={{{}}}", shape(to), x,
                       starts(std::ssize(from)), join(to));
  }
  std::string dynamic_update() {
    const Dims into = dims(size(3)), update = part_of(into);
    const std::string x = parameter(shape(into)), u = parameter(shape(update));
    return fmt::format("{} dynamic-update-slice({}, {}{})", shape(into), x, u,
                       starts(std::ssize(into)));
  }

  // Roles of the dimensions of an array and of indices into it.
  struct Indexed {
    Dims array, slice, indices, window, hidden, batching, indices_batching, starts;
    int64_t vector_dim;
    Dims batch;  // sizes of the indices without the vector
  };
  Indexed indexed() {
    Indexed out;
    out.array = dims(1 + dice_.below(3));
    out.batch = dims(dice_.below(3));
    const auto rank = std::ssize(out.array);
    Dims free_batch;  // of the indices
    for (int64_t i = 0; i < std::ssize(out.batch); ++i) free_batch.push_back(i);
    Dims batching_numbers;
    for (int64_t d = 0; d < rank; ++d) {
      out.slice.push_back(size(out.array[d]));
      if (!free_batch.empty() && dice_.below(4) == 0) {
        out.slice[d] = 1;
        out.batching.push_back(d);
        batching_numbers.push_back(free_batch.back());
        out.batch[free_batch.back()] = out.array[d];
        free_batch.pop_back();
      } else if (coin()) {
        out.slice[d] = 1;
        out.hidden.push_back(d);
      } else {
        out.window.push_back(d);
      }
    }
    for (int64_t d : shuffled(rank))
      if (!holds(out.batching, d) && coin()) out.starts.push_back(d);
    out.indices = out.batch;
    const bool implicit = out.starts.size() == 1 && coin();
    out.vector_dim = implicit ? std::ssize(out.batch) : dice_.below(std::ssize(out.batch) + 1);
    if (!implicit) out.indices.insert(out.indices.begin() + out.vector_dim, std::ssize(out.starts));
    for (int64_t number : batching_numbers)
      out.indices_batching.push_back(number + (!implicit && number >= out.vector_dim ? 1 : 0));
    return out;
  }
  // Sizes of batch and window in any order, and where the window's are.
  std::pair<Dims, Dims> mixed(const Indexed& a) {
    const auto rank = std::ssize(a.batch) + std::ssize(a.window);
    Dims chosen = shuffled(rank);
    chosen.resize(a.window.size());
    std::ranges::sort(chosen);
    Dims sizes;
    size_t window = 0, batch = 0;
    for (int64_t i = 0; i < rank; ++i)
      sizes.push_back(holds(chosen, i) ? a.slice[a.window[window++]] : a.batch[batch++]);
    return {sizes, chosen};
  }
  std::string gather() {
    const Indexed a = indexed();
    const auto [result, offsets] = mixed(a);
    const std::string x = parameter(shape(a.array)), k = parameter(shape(a.indices, "s32"));
    return fmt::format(
        "{} gather({}, {}), offset_dims={{{}}}, collapsed_slice_dims={{{}}}, "
        "start_index_map={{{}}}, operand_batching_dims={{{}}}, start_indices_batching_dims={{{}}}, "
        "index_vector_dim={}, slice_sizes={{{}}}",
        shape(result), x, k, join(offsets), join(a.hidden), join(a.starts), join(a.batching),
        join(a.indices_batching), a.vector_dim, join(a.slice));
  }
  std::string scatter() {
    const Indexed a = indexed();
    const auto [updates, window] = mixed(a);
    const std::string x = parameter(shape(a.array)), k = parameter(shape(a.indices, "s32"));
    return fmt::format(
        "{} scatter({}, {}, {}), update_window_dims={{{}}}, inserted_window_dims={{{}}}, "
        "scatter_dims_to_operand_dims={{{}}}, input_batching_dims={{{}}}, "
        "scatter_indices_batching_dims={{{}}}, index_vector_dim={}, to_apply=add",
        shape(a.array), x, k, parameter(shape(updates)), join(window), join(a.hidden),
        join(a.starts), join(a.batching), join(a.indices_batching), a.vector_dim);
  }

  std::string reduce() {
    const Dims from = dims(size(4)), reduced = some(std::ssize(from));
    Dims kept;
    for (int64_t d = 0; d < std::ssize(from); ++d)
      if (!holds(reduced, d)) kept.push_back(from[d]);
    const std::string x = parameter(shape(from));
    if (coin())
      return fmt::format("{} reduce({}, {}), dimensions={{{}}}, to_apply=add", shape(kept), x,
                         parameter("f32[]"), join(reduced));
    const std::string y = parameter(shape(from)), a = parameter("f32[]"), b = parameter("f32[]");
    return fmt::format("({}, {}) reduce({}, {}, {}, {}), dimensions={{{}}}, to_apply=two",
                       shape(kept), shape(kept), x, y, a, b, join(reduced));
  }

  // A window over each dimension and how often it fits; `text` in HLO's form.
  struct Windows {
    Dims sizes, counts;
    std::string text;
  };
  Windows windows(const Dims& over, bool with_holes, bool with_reversal = false) {
    Windows out;
    std::string texts[6];
    for (int64_t dim : over) {
      const int64_t n = size(3), stride = size(3), low = dice_.below(4) - 1,
                    dilation = with_holes ? size(3) : 1, holes = with_holes ? size(3) : 1;
      const int64_t whole = (dim - 1) * holes + 1, extent = (n - 1) * dilation + 1;
      const int64_t high = std::max(extent - whole - low, dice_.below(4) - 1);
      out.sizes.push_back(n);
      out.counts.push_back((whole + low + high - extent) / stride + 1);
      const std::string x = out.sizes.size() > 1 ? "x" : "";
      texts[0] += x + std::to_string(n);
      texts[1] += x + std::to_string(stride);
      texts[2] += fmt::format("{}{}_{}", x, low, high);
      texts[3] += x + std::to_string(holes);
      texts[4] += x + std::to_string(dilation);
      texts[5] += x + (with_reversal && coin() ? "1" : "0");
    }
    out.text = fmt::format("window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}{}}}",
                           texts[0], texts[1], texts[2], texts[3], texts[4],
                           with_reversal ? " rhs_reversal=" + texts[5] : "");
    return out;
  }
  std::string window() {
    const Dims from = dims(size(3));
    const Windows w = windows(from, true);
    const std::string x = parameter(shape(from)), z = parameter("f32[]");
    return fmt::format("{} reduce-window({}, {}), {}, to_apply=add", shape(w.counts), x, z, w.text);
  }
  std::string select_scatter() {
    const Dims from = dims(size(3));
    const Windows w = windows(from, coin());
    const std::string x = parameter(shape(from)), s = parameter(shape(w.counts)),
                      z = parameter("f32[]");
    return fmt::format("{} select-and-scatter({}, {}, {}), {}, select=ge, scatter=add", shape(from),
                       x, s, z, w.text);
  }
  std::string convolution() {
    const int64_t spatial = dice_.below(3), groups = size(3), batches = coin() ? 1 : size(3);
    const int64_t features = batches > 1 ? 1 : groups, each = size(3),
                  outputs = size(2) * features * batches, batch = size(2);
    const Dims over = dims(spatial);
    const Windows w = windows(over, true, true);
    // Labels in any order: number k of each is what dimension order[k] is.
    const auto arranged = [&](const Dims& sizes, const std::string& letters) {
      std::pair<Dims, std::string> out;
      for (int64_t k : shuffled(std::ssize(sizes))) {
        out.first.push_back(sizes[k]);
        out.second += k < 2 ? letters[k] : static_cast<char>('0' + k - 2);
      }
      return out;
    };
    const auto with = [](int64_t a, int64_t b, const Dims& rest) {
      Dims out = {a, b};
      out.insert(out.end(), rest.begin(), rest.end());
      return out;
    };
    const auto [input, il] = arranged(with(batch * batches, each * features, over), "bf");
    const auto [kernel, kl] = arranged(with(each, outputs, w.sizes), "io");
    const auto [result, rl] = arranged(with(batch, outputs, w.counts), "bf");
    const std::string x = parameter(shape(input)), k = parameter(shape(kernel));
    return fmt::format(
        "{} convolution({}, {}), {}dim_labels={}_{}->{}, feature_group_count={}, "
        "batch_group_count={}",
        shape(result), x, k, spatial > 0 ? w.text + ", " : "", il, kl, rl, features, batches);
  }

  // Two arrays with batch, contracting and free dimensions in any order, and the attributes.
  struct Product {
    Dims left, right, result;
    std::string attributes;
  };
  Product product() {
    const Dims batch = dims(dice_.below(3)), summed = dims(dice_.below(3));
    Product out;
    Dims all[2], batch_at[2], summed_at[2];
    out.result = batch;
    for (int side = 0; side < 2; ++side) {
      const Dims free = dims(dice_.below(3));
      Dims sizes = batch;
      sizes.insert(sizes.end(), summed.begin(), summed.end());
      sizes.insert(sizes.end(), free.begin(), free.end());
      const Dims order = shuffled(std::ssize(sizes));
      all[side].resize(sizes.size());
      for (size_t k = 0; k < sizes.size(); ++k) {
        all[side][order[k]] = sizes[k];
        if (k < batch.size()) batch_at[side].push_back(order[k]);
        else if (k < batch.size() + summed.size()) summed_at[side].push_back(order[k]);
      }
      for (int64_t d = 0; d < std::ssize(sizes); ++d)
        if (!holds(batch_at[side], d) && !holds(summed_at[side], d))
          out.result.push_back(all[side][d]);
    }
    out.left = all[0], out.right = all[1];
    out.attributes = fmt::format(
        "lhs_batch_dims={{{}}}, rhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, "
        "rhs_contracting_dims={{{}}}",
        join(batch_at[0]), join(batch_at[1]), join(summed_at[0]), join(summed_at[1]));
    return out;
  }
  std::string dot() {
    const Product p = product();
    const std::string x = parameter(shape(p.left)), y = parameter(shape(p.right));
    return fmt::format("{} dot({}, {}), {}", shape(p.result), x, y, p.attributes);
  }
  std::string scaled_dot() {
    const Product p = product();
    const auto scale = [&](const Dims& of) {
      if (coin()) return Dims();
      Dims out;
      for (int64_t dim : of) out.push_back(coin() ? dim : dim % 2 == 0 ? dim / 2 : 1);
      return out;
    };
    const std::string x = parameter(shape(p.left)), y = parameter(shape(p.right));
    const std::string a = parameter(shape(scale(p.left))), b = parameter(shape(scale(p.right)));
    return fmt::format("{} scaled-dot({}, {}, {}, {}), {}", shape(p.result), x, y, a, b,
                       p.attributes);
  }
  std::string ragged_dot() {
    const int64_t b = size(3), m = size(), k = size(), n = size(4), g = size(3);
    const std::string sizes = fmt::format("s32[{}]", g);
    const std::string x = parameter(shape({b, m, k}));
    switch (dice_.below(3)) {
      case 0: {
        const std::string y = parameter(shape({g, b, k, n})), s = parameter(sizes);
        return fmt::format(
            "{} ragged-dot({}, {}, {}), lhs_batch_dims={{0}}, rhs_batch_dims={{1}}, "
            "lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}, lhs_ragged_dims={{1}}, "
            "rhs_group_dims={{0}}",
            shape({b, m, n}), x, y, s);
      }
      case 1: {
        const std::string y = parameter(shape({b, k, n})), s = parameter(sizes);
        return fmt::format(
            "{} ragged-dot({}, {}, {}), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, "
            "lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{2}}",
            shape({g, b, m, n}), x, y, s);
      }
      default: {
        const std::string y = parameter(shape({b, k, n})), s = parameter(sizes);
        return fmt::format(
            "{} ragged-dot({}, {}, {}), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, "
            "lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}}",
            shape({b, m, n}), x, y, s);
      }
    }
  }

  std::string fft() {
    const int64_t transformed = size(2);
    Dims real = dims(dice_.below(2) + transformed), complex = real;
    complex.back() = real.back() / 2 + 1;
    const Dims length(real.end() - transformed, real.end());
    const std::string lengths = "fft_length={" + join(length) + "}";
    switch (dice_.below(3)) {
      case 0:
        return fmt::format("{} fft({}), fft_type=RFFT, {}", shape(complex, "c64"),
                           parameter(shape(real)), lengths);
      case 1:
        return fmt::format("{} fft({}), fft_type=IRFFT, {}", shape(real),
                           parameter(shape(complex, "c64")), lengths);
      default:
        return fmt::format("{} fft({}), fft_type={}, {}", shape(real, "c64"),
                           parameter(shape(real, "c64")), coin() ? "FFT" : "IFFT", lengths);
    }
  }
  std::string square() {
    Dims a = dims(dice_.below(2));
    const int64_t n = size(4), k = size(4);
    Dims b = a;
    a.insert(a.end(), {n, n});
    if (coin())
      return fmt::format("{} cholesky({}), lower={}", shape(a), parameter(shape(a)), coin());
    const bool left = coin();
    b.insert(b.end(), {left ? n : k, left ? k : n});
    const std::string x = parameter(shape(a)), y = parameter(shape(b));
    return fmt::format(
        "{} triangular-solve({}, {}), left_side={}, lower={}, unit_diagonal={}, transpose_a={}",
        shape(b), x, y, left, coin(), coin(), coin() ? "TRANSPOSE" : "NO_TRANSPOSE");
  }
  std::string batch_norm() {
    const Dims from = dims(size(3));
    const int64_t feature = dice_.below(std::ssize(from));
    const std::string vector = shape({from[feature]}), array = shape(from);
    const std::string x = parameter(array), s = parameter(vector), o = parameter(vector);
    const std::string end = fmt::format("epsilon=0.25, feature_index={}", feature);
    if (coin())
      return fmt::format("({}, {}, {}) batch-norm-training({}, {}, {}), {}", array, vector, vector,
                         x, s, o, end);
    const std::string v = parameter(vector);
    if (coin())
      return fmt::format("({}, {}, {}) batch-norm-grad({}, {}, {}, {}, {}), {}", array, vector,
                         vector, x, s, o, v, parameter(array), end);
    return fmt::format("{} batch-norm-inference({}, {}, {}, {}, {}), {}", array, x, s, o, v,
                       parameter(vector), end);
  }
  std::string top_k() {
    Dims from = dims(size(3)), to = from;
    to.back() = size(from.back());
    return fmt::format("({}, {}) topk({}), k={}, largest={}", shape(to), shape(to, "s32"),
                       parameter(shape(from)), to.back(), coin());
  }
  std::string scan() {
    const Dims from = dims(2);
    const int64_t along = dice_.below(2);
    const std::string row = shape({from[1 - along]});
    parameters_ = "";
    const std::string x = parameter(shape(from)), c = parameter(row);
    body_ = fmt::format(
        "step {{ x = {0} parameter(0)\n  c = {0} parameter(1)\n  s = {0} add(x, c)\n"
        "  ROOT t = ({0}, {0}) tuple(s, s) }}\n",
        row);
    return fmt::format(
        "({}, {}) scan({}, {}), dimensions={{{}}}, num_carries=1, is_reverse={}, to_apply=step",
        shape(from), row, x, c, along, coin());
  }
  std::string map() {
    const Dims of = dims(size(3));
    Dims all;
    for (int64_t d = 0; d < std::ssize(of); ++d) all.push_back(d);
    const std::string x = parameter(shape(of)), y = parameter(shape(of));
    return fmt::format("{} map({}, {}), dimensions={{{}}}, to_apply=add", shape(of), x, y,
                       join(all));
  }
  std::string tuple() {
    const std::string a = shape(dims(2)), b = shape(dims(1)), whole = fmt::format("({}, {})", a, b);
    switch (dice_.below(3)) {
      case 0: return fmt::format("{} opt-barrier({})", whole, parameter(whole));
      case 1: return fmt::format("{} get-tuple-element({}), index=1", b, parameter(whole));
      default: {
        const std::string x = parameter(whole), y = parameter(b);
        return fmt::format("({}, {}) tuple({}, {})", whole, b, x, y);
      }
    }
  }
  std::string random_bits() {
    return fmt::format("(u64[2], {}) rng-bit-generator({}), algorithm=rng_{}",
                       shape(dims(2), "u32"), parameter("u64[2]"),
                       coin() ? "default" : "three_fry");
  }
  std::string sort() {
    const Dims of = dims(size(3));
    const int64_t along = dice_.below(std::ssize(of));
    const std::string x = parameter(shape(of));
    if (coin())
      return fmt::format("{} sort({}), dimensions={{{}}}, to_apply=ge", shape(of), x, along);
    return fmt::format("({}, {}) sort({}, {}), dimensions={{{}}}, to_apply=ge2", shape(of),
                       shape(of), x, parameter(shape(of)), along);
  }

 public:
  std::string module_text() {
    const std::string with_entry = text();
    const auto at = with_entry.find("ENTRY");
    return with_entry.substr(0, at) + body_ + with_entry.substr(at);
  }

 private:
  Dice dice_;
  std::string parameters_, body_;
  int64_t count_ = 0;
};

}  // namespace hilo::test
