// What stands in one row, column or matrix that an op computes alone reaches no other: a NaN, an
// infinity or the largest number there leaves all others' results as they were, bit for bit, when
// evaluated and when compiled. HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: seeds for a longer run.
#include <fmt/ranges.h>

#include "../base/environment.h"
#include "../pass/judge.h"
#include "both.h"

namespace hilo::test {
namespace {

// Operand `operand` and each result have as many rows, along these dimensions. Results may differ
// by `tolerance` of the largest.
struct RowProgram {
  std::string text;
  int64_t operand = 0, operand_dim = 0;
  Dims result_dims;
  double tolerance = 0;
};

class RandomRowProgram {
 public:
  explicit RandomRowProgram(uint64_t seed) : dice_(seed) {}
  RowProgram make(uint64_t number) {
    static constexpr RowProgram (RandomRowProgram::* kinds[])() = {
        &RandomRowProgram::dot,        &RandomRowProgram::convolution,
        &RandomRowProgram::fft,        &RandomRowProgram::sort,
        &RandomRowProgram::topk,       &RandomRowProgram::cholesky,
        &RandomRowProgram::triangle,   &RandomRowProgram::reduce,
        &RandomRowProgram::window,     &RandomRowProgram::scan,
        &RandomRowProgram::lapack,     &RandomRowProgram::softmax,
        &RandomRowProgram::pool,       &RandomRowProgram::argmax,
        &RandomRowProgram::ragged_dot, &RandomRowProgram::select_and_scatter};
    return (this->*kinds[number % std::size(kinds)])();
  }

 private:
  static std::string shape(std::string_view type, const Dims& dims) {
    return fmt::format("{}[{}]", type, fmt::join(dims, ","));
  }
  static std::string module(const std::string& body, const std::string& before = "") {
    return "HloModule m\n" + before + "ENTRY e {\n" + body + "}\n";
  }
  std::string_view type(std::vector<std::string_view> from) { return dice_.pick(from); }
  int64_t size(int64_t most) { return 1 + dice_.below(dice_.below(3) ? most : 9); }

  // Rows of the left matrices, columns of the right ones, or both of one of a batch.
  RowProgram dot() {
    const std::string_view of = type({"f32", "f32", "f64", "bf16", "f16", "c64"});
    const int64_t batch = dice_.below(2) ? 0 : 1 + dice_.below(5), inner = size(300),
                  most = batch > 0 ? 70 : 300, rows = size(most), columns = size(most);
    const bool rows_last = dice_.below(2), columns_first = dice_.below(2);
    Dims a = rows_last ? Dims{inner, rows} : Dims{rows, inner};
    Dims b = columns_first ? Dims{columns, inner} : Dims{inner, columns};
    Dims result = {rows, columns};
    const int64_t first = batch > 0;
    if (batch > 0)
      for (Dims* dims : {&a, &b, &result}) dims->insert(dims->begin(), batch);
    const std::string batches = first ? "lhs_batch_dims={0}, rhs_batch_dims={0}, " : "";
    RowProgram out{module(
        fmt::format("  a = {} parameter(0)\n  b = {} parameter(1)\n  ROOT r = {} dot(a, b), {}"
                    "lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}\n",
                    shape(of, a), shape(of, b), shape(of, result), batches, first + !rows_last,
                    first + columns_first))};
    out.operand = dice_.below(2);
    if (first && dice_.below(2)) return out.result_dims = {0}, out;
    out.operand_dim = first + (out.operand ? !columns_first : rows_last);
    out.result_dims = {first + out.operand};
    return out;
  }

  // Images of a batch, or filters.
  RowProgram convolution() {
    const std::string_view of = type({"f32", "f32", "f64", "bf16", "c64"});
    const int64_t batch = 1 + dice_.below(5), features = size(20), outputs = size(40),
                  image = 3 + dice_.below(10), window = 1 + dice_.below(3),
                  pad = dice_.below(window);
    const int64_t left = image + 2 * pad - window + 1;
    RowProgram out{module(fmt::format(
        "  a = {0}[{1},{4},{4},{2}] parameter(0)\n  b = {0}[{5},{5},{2},{3}] parameter(1)\n"
        "  ROOT r = {0}[{1},{6},{6},{3}] convolution(a, b), window={{size={5}x{5} "
        "pad={7}_{7}x{7}_{7}}}, dim_labels=b01f_01io->b01f\n",
        of, batch, features, outputs, image, window, left, pad))};
    out.operand = dice_.below(2);
    out.operand_dim = out.operand ? 3 : 0;
    out.result_dims = {out.operand ? 3 : 0};
    return out;
  }

  // Real rows of odd length are transformed two at a time, which has other bits.
  RowProgram fft() {
    const bool is_double = dice_.below(2);
    const std::string_view real = is_double ? "f64" : "f32", complex = is_double ? "c128" : "c64";
    const std::string_view kind = type({"FFT", "IFFT", "RFFT", "IRFFT"});
    const int64_t rows = size(70), n = size(140), half = n / 2 + 1;
    const std::string whole = shape(complex, {rows, n}), halves = shape(complex, {rows, half});
    RowProgram out{module(
        fmt::format("  a = {} parameter(0)\n  ROOT r = {} fft(a), fft_type={}, fft_length={{{}}}\n",
                    kind == "RFFT"    ? shape(real, {rows, n})
                    : kind == "IRFFT" ? halves
                                      : whole,
                    kind == "RFFT"    ? halves
                    : kind == "IRFFT" ? shape(real, {rows, n})
                                      : whole,
                    kind, n))};
    out.result_dims = {0};
    if (kind.ends_with("RFFT") && n % 2) out.tolerance = is_double ? 0x1p-48 : 0x1p-19;
    return out;
  }

  RowProgram sort() {
    const std::string_view of = type({"f32", "f64", "bf16", "f16"});
    const int64_t dim = dice_.below(2);
    const std::string all = shape(of, {size(100), size(100)});
    RowProgram out{module(
        fmt::format("  a = {0} parameter(0)\n  ROOT r = {0} sort(a), dimensions={{{1}}}, "
                    "is_stable=true, to_apply=before\n",
                    all, dim),
        fmt::format("before {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  ROOT r = "
                    "pred[] compare(a, b), direction={1}\n}}\n",
                    of, type({"LT", "GT"})))};
    out.operand_dim = 1 - dim;
    out.result_dims = {1 - dim};
    return out;
  }

  RowProgram topk() {
    const std::string_view of = type({"f32", "f64", "bf16"});
    const int64_t rows = size(40), n = size(200), k = 1 + dice_.below(n);
    RowProgram out{
        module(fmt::format("  a = {} parameter(0)\n  ROOT r = ({}, {}) topk(a), k={}, largest={}\n",
                           shape(of, {rows, n}), shape(of, {rows, k}), shape("s32", {rows, k}), k,
                           dice_.below(2) ? "true" : "false"))};
    out.result_dims = {0, 0};
    return out;
  }

  // q = a + n * the unit matrix.
  std::string regular(std::string_view of, int64_t batch, int64_t n) const {
    return fmt::format(
        "  a = {0}[{1},{2},{2}] parameter(0)\n  i = s32[{2},{2}] iota(), iota_dimension=0\n"
        "  j = s32[{2},{2}] iota(), iota_dimension=1\n  same = pred[{2},{2}] compare(i, j), "
        "direction=EQ\n  one = {0}[{2},{2}] convert(same)\n  c = {0}[] constant({3})\n"
        "  cs = {0}[{2},{2}] broadcast(c), dimensions={{}}\n  m = {0}[{2},{2}] multiply(one, cs)\n"
        "  all = {0}[{1},{2},{2}] broadcast(m), dimensions={{1,2}}\n"
        "  q = {0}[{1},{2},{2}] add(a, all)\n",
        of, batch, n, of[0] == 'c' ? fmt::format("({}, 0)", 4 * n) : fmt::format("{}", 4 * n));
  }
  RowProgram cholesky() {
    const std::string_view of = type({"f32", "f64", "c64"});
    const int64_t batch = 1 + dice_.below(9), n = size(70);
    RowProgram out{module(regular(of, batch, n) +
                          fmt::format("  ROOT r = {}[{},{},{}] cholesky(q), lower={}\n", of, batch,
                                      n, n, dice_.below(2) == 1))};
    out.result_dims = {0};
    return out;
  }
  // Systems of a batch, or right-hand sides.
  RowProgram triangle() {
    const std::string_view of = type({"f32", "f64", "c64"});
    const int64_t batch = 1 + dice_.below(5), n = size(70), sides = size(40);
    const bool on_left = dice_.below(2);
    const Dims given = {batch, on_left ? n : sides, on_left ? sides : n};
    RowProgram out{
        module(regular(of, batch, n) +
               fmt::format("  b = {0} parameter(1)\n  ROOT r = {0} triangular-solve(q, b), "
                           "left_side={1}, lower={2}, unit_diagonal={3}, transpose_a={4}\n",
                           shape(of, given), on_left, dice_.below(2) == 1, dice_.below(2) == 1,
                           type({"NO_TRANSPOSE", "TRANSPOSE"})))};
    out.operand = dice_.below(2);
    if (out.operand && dice_.below(3)) out.operand_dim = on_left ? 2 : 1;
    out.result_dims = {out.operand_dim};
    return out;
  }

  std::string combiner(std::string_view of) {
    return fmt::format(
        "combine {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  ROOT c = {0}[] {1}(a, "
        "b)\n}}\n",
        of, type({"add", "maximum", "minimum", "multiply"}));
  }
  RowProgram reduce() {
    const std::string_view of = type({"f32", "f64", "bf16", "f16"});
    const int64_t dim = dice_.below(3);
    const Dims dims = {size(20), size(20), size(40)};
    Dims others;
    for (int64_t d = 0; d < 3; ++d)
      if (d != dim) others.push_back(d);
    RowProgram out{
        module(fmt::format("  a = {0} parameter(0)\n  z = {1}[] constant(1)\n  ROOT r = {1}[{2}] "
                           "reduce(a, z), dimensions={{{3}}}, to_apply=combine\n",
                           shape(of, dims), of, dims[dim], fmt::join(others, ",")),
               combiner(of))};
    out.operand_dim = dim;
    out.result_dims = {0};
    return out;
  }
  // Running results, or those of small windows.
  RowProgram window() {
    const std::string_view of = type({"f32", "f64", "bf16"});
    const int64_t rows = size(40), n = size(90), dim = dice_.below(2);
    const int64_t width = dice_.below(2) ? n : 1 + dice_.below(std::min<int64_t>(n, 4));
    const std::string all = shape(of, dim ? Dims{rows, n} : Dims{n, rows});
    const std::string in = dim ? fmt::format("1x{}", width) : fmt::format("{}x1", width);
    const std::string pad =
        dim ? fmt::format("0_0x{}_0", width - 1) : fmt::format("{}_0x0_0", width - 1);
    RowProgram out{
        module(fmt::format("  a = {0} parameter(0)\n  z = {1}[] constant(1)\n  ROOT r = {0} "
                           "reduce-window(a, z), window={{size={2} pad={3}}}, to_apply=combine\n",
                           all, of, in, pad),
               combiner(of))};
    out.operand_dim = 1 - dim;
    out.result_dims = {1 - dim};
    return out;
  }
  RowProgram scan() {
    const int64_t rows = size(40), n = size(60);
    RowProgram out{module(
        fmt::format("  a = f32[{0},{1}] parameter(0)\n  c = f32[] constant(1)\n"
                    "  i = f32[{0}] broadcast(c), dimensions={{}}\n  ROOT s = (f32[{0},{1}],"
                    " f32[{0}]) scan(a, i), dimensions={{1}}, num_carries=1, to_apply=step\n",
                    rows, n),
        fmt::format("step {{ a = f32[{0}] parameter(0)\n c = f32[{0}] parameter(1)\n"
                    " s = f32[{0}] add(a, c)\n ROOT t = (f32[{0}], f32[{0}]) tuple(c, s)\n"
                    "}}\n",
                    rows))};
    out.result_dims = {0, 0};
    return out;
  }

  RowProgram lapack() {
    struct Target {
      std::string_view name, result, config;
      Dims dims;
    };
    static const std::vector<Target> targets = {
        {"getrf", "({0}[{1},{2},{2}], s32[{1},{2}], s32[{1}])", "", {0, 0, 0}},
        {"geqrf", "({0}[{1},{2},{2}], {0}[{1},{2}])", "", {0, 0}},
        {"potrf", "({0}[{1},{2},{2}], s32[{1}])", "uplo = 76 : ui8", {0, 0}},
        {"gehrd",
         "({0}[{1},{2},{2}], {0}[{1},{3}], s32[{1}])",
         "low = 1 : i32, high = {2} : i32",
         {0, 0, 0}},
        {"sytrd",
         "({0}[{1},{2},{2}], {0}[{1},{2}], {0}[{1},{3}], {0}[{1},{3}], s32[{1}])",
         "uplo = 76 : ui8",
         {0, 0, 0, 0, 0}}};
    const Target& target = dice_.pick(targets);
    const std::string_view of = type({"f32", "f64"});
    const int64_t batch = 1 + dice_.below(9), n = 2 + dice_.below(12), less = n - 1;
    const std::string result = fmt::format(fmt::runtime(target.result), of, batch, n, less);
    RowProgram out{
        module(regular(of, batch, n) +
               fmt::format("  ROOT r = {} custom-call(q), custom_call_target=\"lapack_{}{}_ffi\", "
                           "api_version=API_VERSION_TYPED_FFI, backend_config={{{}}}\n",
                           result, of == "f32" ? 's' : 'd', target.name,
                           fmt::format(fmt::runtime(target.config), of, batch, n)))};
    out.result_dims = target.dims;
    return out;
  }

  // Over any dimension of three; rows are those of another.
  RowProgram softmax() {
    const std::string_view of = type({"f32", "f64", "bf16"});
    const int64_t dim = dice_.below(3), other = (dim + 1 + dice_.below(2)) % 3;
    const Dims dims = {size(12), size(20), size(40)};
    Dims kept, sizes;
    for (int64_t d = 0; d < 3; ++d)
      if (d != dim) kept.push_back(d), sizes.push_back(dims[d]);
    RowProgram out{
        module(fmt::format("  a = {0} parameter(0)\n  z = {1}[] constant(0)\n"
                           "  l = {1}[] constant(-inf)\n"
                           "  m = {2} reduce(a, l), dimensions={{{3}}}, to_apply=greatest\n"
                           "  w = {0} broadcast(m), dimensions={{{4}}}\n"
                           "  d = {0} subtract(a, w)\n  e = {0} exponential(d)\n"
                           "  s = {2} reduce(e, z), dimensions={{{3}}}, to_apply=sum\n"
                           "  v = {0} broadcast(s), dimensions={{{4}}}\n"
                           "  ROOT r = {0} divide(e, v)\n",
                           shape(of, dims), of, shape(of, sizes), dim, fmt::join(kept, ",")),
               fmt::format("greatest {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n"
                           "  ROOT c = {0}[] maximum(a, b)\n}}\n"
                           "sum {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n"
                           "  ROOT c = {0}[] add(a, b)\n}}\n",
                           of))};
    out.operand_dim = other;
    out.result_dims = {other};
    return out;
  }

  // Images of a batch, or features.
  RowProgram pool() {
    const std::string_view of = type({"f32", "f64", "bf16"});
    const int64_t batch = 1 + dice_.below(4), features = size(40), image = 3 + dice_.below(10),
                  window = 1 + dice_.below(3), pad = dice_.below(window),
                  left = image + 2 * pad - window + 1;
    RowProgram out{module(
        fmt::format("  a = {0}[{1},{2},{2},{3}] parameter(0)\n  z = {0}[] constant(1)\n"
                    "  ROOT r = {0}[{1},{4},{4},{3}] reduce-window(a, z), "
                    "window={{size=1x{5}x{5}x1 pad=0_0x{6}_{6}x{6}_{6}x0_0}}, to_apply=combine\n",
                    of, batch, image, features, left, window, pad),
        combiner(of))};
    out.operand_dim = dice_.below(2) ? 0 : 3;
    out.result_dims = {out.operand_dim};
    return out;
  }

  RowProgram argmax() {
    const std::string_view of = type({"f32", "f64", "bf16"});
    const int64_t dim = dice_.below(2);
    const Dims dims = {size(60), size(60)};
    RowProgram out{module(
        fmt::format("  a = {0} parameter(0)\n  i = {1} iota(), iota_dimension={2}\n"
                    "  l = {3}[] constant(-inf)\n  z = s32[] constant(0)\n"
                    "  ROOT r = ({3}[{4}], s32[{4}]) reduce(a, i, l, z), dimensions={{{2}}}, "
                    "to_apply=first\n",
                    shape(of, dims), shape("s32", dims), dim, of, dims[1 - dim]),
        fmt::format("first {{\n  a = {0}[] parameter(0)\n  i = s32[] parameter(1)\n"
                    "  b = {0}[] parameter(2)\n  j = s32[] parameter(3)\n"
                    "  g = pred[] compare(a, b), direction=GT\n"
                    "  n = pred[] compare(a, a), direction=NE\n  o = pred[] or(g, n)\n"
                    "  e = pred[] compare(a, b), direction=EQ\n"
                    "  l = pred[] compare(i, j), direction=LT\n  k = pred[] and(e, l)\n"
                    "  p = pred[] or(o, k)\n  v = {0}[] select(o, a, b)\n"
                    "  w = s32[] select(p, i, j)\n  ROOT t = ({0}[], s32[]) tuple(v, w)\n}}\n",
                    of))};
    out.operand_dim = 1 - dim;
    out.result_dims = {0, 0};
    return out;
  }

  // Rows, or columns of all groups.
  RowProgram ragged_dot() {
    const std::string_view of = type({"f32", "f64", "bf16"});
    const int64_t rows = size(70), inner = size(100), columns = size(70),
                  first = dice_.below(rows + 1);
    RowProgram out{module(fmt::format(
        "  a = {0}[{1},{2}] parameter(0)\n  b = {0}[2,{2},{3}] parameter(1)\n"
        "  s = s32[2] constant({{{4}, {5}}})\n  ROOT r = {0}[{1},{3}] ragged-dot(a, b, s), "
        "lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}}, "
        "rhs_group_dims={{0}}\n",
        of, rows, inner, columns, first, rows - first))};
    out.operand = dice_.below(2);
    out.operand_dim = out.operand ? 2 : 0;
    out.result_dims = {out.operand ? 1 : 0};
    return out;
  }

  // Images of a batch, or features, of which the windows choose or that they scatter.
  RowProgram select_and_scatter() {
    const std::string_view of = type({"f32", "f64"});
    const int64_t batch = 1 + dice_.below(4), features = size(40), windows = 1 + dice_.below(6);
    RowProgram out{module(
        fmt::format("  a = {0}[{1},{2},{3}] parameter(0)\n  b = {0}[{1},{4},{3}] parameter(1)\n"
                    "  z = {0}[] constant(0)\n  ROOT r = {0}[{1},{2},{3}] select-and-scatter(a, b,"
                    " z), window={{size=1x3x1 stride=1x2x1}}, select=before, scatter=combine\n",
                    of, batch, 2 * windows + 1, features, windows),
        fmt::format("before {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n"
                    "  ROOT c = pred[] compare(a, b), direction=GE\n}}\n",
                    of) +
            combiner(of))};
    out.operand = dice_.below(2);
    out.operand_dim = dice_.below(2) ? 0 : 2;
    out.result_dims = {out.operand_dim};
    return out;
  }

  Dice dice_;
};

// Some elements of a row become `number`, at least one.
void put_in_row(Literal& array, int64_t dim, int64_t row, double number, Dice& dice) {
  const Dims dims = array.shape().dims, strides = row_major_strides(dims);
  const Literal value = scalar_of(array.type(), number);
  const int64_t bytes = storage_bytes(array.type()), kept = dice.below(3);
  bool is_first = true;
  for (int64_t i = 0; i < array.count(); ++i) {
    if (i / strides[dim] % dims[dim] != row) continue;
    if (is_first || (kept > 0 && dice.below(kept) == 0))
      std::ranges::copy(value.raw(), array.mutable_raw().begin() + i * bytes);
    is_first = false;
  }
}

// Whether element i is the same, or within the tolerance in both parts.
bool is_same(const Literal& a, const Literal& b, int64_t i, double tolerance) {
  const int64_t bytes = storage_bytes(a.type());
  if (std::equal(a.raw().begin() + i * bytes, a.raw().begin() + (i + 1) * bytes,
                 b.raw().begin() + i * bytes))
    return true;
  if (tolerance == 0) return false;
  const auto is_near = [&]<class T>(std::type_identity<T>) {
    const T x = a.data<T>()[i], y = b.data<T>()[i];
    return std::abs(x.real() - y.real()) <= tolerance && std::abs(x.imag() - y.imag()) <= tolerance;
  };
  if (a.type() == ElementType::C64) return is_near(std::type_identity<std::complex<float>>());
  if (a.type() == ElementType::C128) return is_near(std::type_identity<std::complex<double>>());
  return std::abs(a.number_at(i) - b.number_at(i)) <= tolerance;
}

// "" where the results of all other rows are the same.
std::string difference_of_others(const Literal& a, const Literal& b, const RowProgram& program,
                                 int64_t row) {
  std::vector<Literal> before, after;
  for_each_leaf(a, [&](const Literal& leaf) { before.push_back(leaf); });
  for_each_leaf(b, [&](const Literal& leaf) { after.push_back(leaf); });
  check(before.size() == program.result_dims.size(), program.text);
  for (size_t k = 0; k < before.size(); ++k) {
    const int64_t dim = program.result_dims[k];
    const Dims &dims = before[k].shape().dims, strides = row_major_strides(dims);
    double largest = 0;
    for (int64_t i = 0; i < before[k].count(); ++i)
      largest = std::max(largest, std::abs(before[k].number_at(i)));
    const double tolerance = program.tolerance > 0 ? program.tolerance * largest : 0;
    for (int64_t i = 0; i < before[k].count(); ++i) {
      const int64_t at = i / strides[dim] % dims[dim];
      if (at != row && !is_same(before[k], after[k], i, tolerance))
        return fmt::format("result {}, row {}, element {}: {} became {} by what is in row {}", k,
                           at, i, before[k].number_at(i), after[k].number_at(i), row);
    }
  }
  return "";
}

using Run = std::function<Result<Literal>(const std::vector<Literal>&)>;

void expect_rows_apart(const RowProgram& program, const std::vector<Literal>& arguments,
                       const Run& run, const std::string& where, Dice& dice) {
  const auto plain = run(arguments);
  ASSERT_TRUE(plain) << to_string(plain.error()) << program.text;
  const Literal& array = arguments[program.operand];
  const int64_t rows = array.shape().dims[program.operand_dim];
  const double largest = bits_of(real_type_of(array.type())) == 64 ? 1.7e308 : 3e38;
  for (const double number : {double{NAN}, double{INFINITY}, -double{INFINITY}, largest}) {
    const int64_t row = dice.below(rows);
    std::vector<Literal> odd = arguments;
    put_in_row(odd[program.operand], program.operand_dim, row, number, dice);
    const auto found = run(odd);
    ASSERT_TRUE(found) << to_string(found.error()) << program.text;
    EXPECT_EQ(difference_of_others(*plain, *found, program, row), "")
        << where << ", " << number << " in operand " << program.operand << '\n'
        << program.text;
  }
}

TEST(IndependentRows, KeepTheirResults) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 1);
  const uint64_t count = number_from("HILO_RANDOM_COUNT", 320);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const RowProgram program = RandomRowProgram(seed).make(seed);
    const auto module = parse(program.text);
    ASSERT_TRUE(module && verify(*module).empty())
        << program.text << (module ? to_string(verify(*module)[0]) : to_string(module.error()));
    Dice dice(seed);
    std::vector<Literal> arguments;
    for (InstructionId parameter : (*module)[module->entry].parameters)
      arguments.push_back(random_literal(dice, module->shape(parameter), true));
    CompileOptions options;
    options.threads = 1;
    options.emit.cpu = processor_of(seed);
    const auto executable = compile(*module, cpu_target(), options);
    ASSERT_TRUE(executable) << to_string(executable.error()) << program.text;
    expect_rows_apart(
        program, arguments, [&](const auto& given) { return executable->run(given); },
        "compiled for " + options.emit.cpu, dice);
    expect_rows_apart(
        program, arguments, [&](const auto& given) { return evaluate_once(*module, given); },
        "evaluated", dice);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hilo::test
