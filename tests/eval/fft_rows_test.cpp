// fft of real numbers: what stands in one row reaches no other one, though rows are transformed
// together.
#include <cmath>
#include <limits>

#include "wave.h"

namespace hilo::test {
namespace {

// Real to half, or half to real from its two parts.
std::string program(bool to_half, const std::string& type, int64_t rows, int64_t n) {
  const std::string complex = type == "f32" ? "c64" : "c128";
  const int64_t half = n / 2 + 1;
  return module_of(
      to_half ? fmt::format("  x = {0}[{2},{3}] parameter(0)\n"
                            "  h = {1}[{2},{4}] fft(x), fft_type=RFFT, fft_length={{{3}}}\n"
                            "  a = {0}[{2},{4}] real(h)\n  b = {0}[{2},{4}] imag(h)\n"
                            "  ROOT t = {0}[{2},{5}] concatenate(a, b), dimensions={{1}}\n",
                            type, complex, rows, n, half, 2 * half)
              : fmt::format("  x = {0}[{2},{5}] parameter(0)\n"
                            "  a = {0}[{2},{4}] slice(x), slice={{[0:{2}], [0:{4}]}}\n"
                            "  b = {0}[{2},{4}] slice(x), slice={{[0:{2}], [{4}:{5}]}}\n"
                            "  h = {1}[{2},{4}] complex(a, b)\n"
                            "  ROOT r = {0}[{2},{3}] fft(h), fft_type=IRFFT, fft_length={{{3}}}\n",
                            type, complex, rows, n, half, 2 * half));
}

struct Rows {
  bool to_half;
  std::string type;
  int64_t count, n;
  std::vector<double> values;

  int64_t width() const { return to_half ? n : 2 * (n / 2 + 1); }
  int64_t result_width() const { return to_half ? 2 * (n / 2 + 1) : n; }
  std::span<double> row(int64_t i) { return std::span(values).subspan(i * width(), width()); }
  Numbers transformed(const EvalOptions& options = {}) const {
    const std::string text = program(to_half, type, count, n);
    if (type == "f64")
      return run_one(text, {Literal::from<double>({count, width()}, values)}, options);
    const std::vector<float> narrow(values.begin(), values.end());
    return run_one(text, {Literal::from<float>({count, width()}, narrow)}, options);
  }
  Rows alone(int64_t i) const {
    Rows out{to_half, type, 1, n, {}};
    out.values.assign(values.begin() + i * width(), values.begin() + (i + 1) * width());
    return out;
  }
  double unit() const { return type == "f64" ? 0x1p-53 : 0x1p-24; }
  double largest() const {
    return type == "f64" ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  }
};

Rows random_rows(bool to_half, const std::string& type, int64_t count, int64_t n) {
  Rows out{to_half, type, count, n, {}};
  for (int64_t i = 0; i < count * out.width(); ++i)
    out.values.push_back(static_cast<double>((i * 7919 + i * i * 31) % 1009 - 504) / 1024);
  return out;
}

// The results of all rows, each transformed alone.
Numbers results_alone(const Rows& rows) {
  Numbers out;
  for (int64_t i = 0; i < rows.count; ++i) {
    const Numbers row = rows.alone(i).transformed({.threads = 1});
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

// Finite where they are alone, and no further off than rounding of the row makes them.
void expect_as_alone(const Rows& rows, const Numbers& got, const Numbers& alone,
                     const std::string& what) {
  const int64_t width = rows.result_width();
  ASSERT_EQ(std::ssize(got), rows.count * width);
  ASSERT_EQ(std::ssize(alone), rows.count * width);
  for (int64_t i = 0; i < rows.count; ++i) {
    const auto want = std::span(alone).subspan(i * width, width);
    double size = 0;
    for (double value : want) size = std::max(size, std::abs(value));
    for (int64_t k = 0; k < width; ++k) {
      const double value = got[i * width + k];
      const auto place = [&] {
        return fmt::format("{} {}[{},{}] {}, element [{},{}]: {} and not {}",
                           rows.to_half ? "RFFT" : "IRFFT", rows.type, rows.count, rows.n, what, i,
                           k, value, want[k]);
      };
      if (std::isfinite(want[k]))
        ASSERT_LE(std::abs(value - want[k]), 24 * rows.unit() * size) << place();
      else
        ASSERT_TRUE(std::isnan(value) == std::isnan(want[k]) && !std::isfinite(value)) << place();
    }
  }
}

// Rows with all results finite are those of the evaluator's own loops; and any threads give `got`.
void expect_finite_rows_of_reference(const Rows& rows, const Numbers& got,
                                     const std::string& what) {
  const Numbers judge = rows.transformed({.reference = true});
  const int64_t width = rows.result_width();
  for (int64_t i = 0; i < rows.count; ++i) {
    const auto is_finite = [&](const Numbers& all) {
      return std::all_of(all.begin() + i * width, all.begin() + (i + 1) * width,
                         [](double value) { return std::isfinite(value); });
    };
    EXPECT_EQ(is_finite(got), is_finite(judge)) << what << ", row " << i;
  }
  const Numbers shared = rows.transformed({.threads = 3});
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(got[i] == shared[i] || (std::isnan(got[i]) && std::isnan(shared[i]))) << what;
}

template <class Body>
void for_all_kinds(const Body& body) {
  for (const bool to_half : {true, false})
    for (const std::string type : {"f32", "f64"}) body(to_half, type);
}

TEST(FftRows, SpecialValuesStayInTheirRow) {
  for_all_kinds([](bool to_half, const std::string& type) {
    for (const auto& [count, n] :
         {std::pair{2, 9}, {17, 9}, {40, 9}, {33, 12}, {35, 1}, {34, 131}}) {
      const Rows plain = random_rows(to_half, type, count, n);
      const Numbers alone = results_alone(plain);
      for (int64_t row = 0; row < count; row += n == 9 ? 1 : 11)
        for (const double value : {double{NAN}, double{INFINITY}, -double{INFINITY}}) {
          const std::string what = fmt::format("with {} in row {}", value, row);
          Rows rows = plain;
          rows.row(row)[rows.width() / 3] = value;
          Numbers want = alone;
          std::ranges::copy(rows.alone(row).transformed({.threads = 1}),
                            want.begin() + row * rows.result_width());
          const Numbers got = rows.transformed({.threads = 1});
          expect_as_alone(rows, got, want, what);
          if (row == 0) expect_finite_rows_of_reference(rows, got, what);
          if (testing::Test::HasFatalFailure()) return;
        }
    }
  });
}

// All sums of a row overflow, one of them, or only that of two such rows.
TEST(FftRows, OverflowStaysInItsRow) {
  for_all_kinds([](bool to_half, const std::string& type) {
    for (const auto& [count, n] : {std::pair{2, 9}, {40, 9}, {40, 45}, {33, 12}, {34, 131}}) {
      const Rows plain = random_rows(to_half, type, count, n);
      const Numbers alone = results_alone(plain);
      for (int64_t row = 0; row < count; row += 13)
        for (const double part : {1.0, 0.75 / n, 0.375 / n}) {
          Rows rows = plain;
          Numbers want = alone;
          const double value = rows.largest() * part;
          for (const int64_t at : {row, (row + count / 2) % count}) {
            std::ranges::fill(rows.row(at), value);
            std::ranges::copy(rows.alone(at).transformed({.threads = 1}),
                              want.begin() + at * rows.result_width());
          }
          expect_as_alone(rows, rows.transformed({.threads = 1}), want,
                          fmt::format("with {} in row {}", value, row));
          if (testing::Test::HasFatalFailure()) return;
        }
    }
  });
}

TEST(FftRows, SmallRowsBesideLargeOnes) {
  for_all_kinds([](bool to_half, const std::string& type) {
    for (const auto& [count, n] : {std::pair{2, 9}, {40, 9}, {40, 45}, {33, 12}, {34, 131}}) {
      Rows rows = random_rows(to_half, type, count, n);
      const int most = type == "f32" ? 100 : 900;
      for (int64_t i = 0; i < count; ++i)
        for (double& at : rows.row(i))
          at = i % 7 == 3 ? 0 : std::ldexp(at, static_cast<int>(i * i * 37 % (2 * most)) - most);
      const Numbers got = rows.transformed({.threads = 1});
      expect_as_alone(rows, got, results_alone(rows), "of many sizes");
      expect_finite_rows_of_reference(rows, got, "of many sizes");
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

}  // namespace
}  // namespace hilo::test
