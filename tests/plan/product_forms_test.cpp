// Which form a product gets, each for a reason that holds on any chip of its kind.
#include "plan/kernel_forms.h"

#include <gtest/gtest.h>

#include <array>

namespace hilo::test {
namespace {

const KernelChip avx2 = {registers_of_avx2, true, &find_cpu("haswell")},
                 zen = {registers_of_avx2, true, &find_cpu("znver3")},
                 avx512 = {registers_of_avx512, true, &find_cpu("skylake-avx512")};
const std::array all_chips = {avx2, zen, avx512};

// Rows of terms times columns that stand side by side, or each in one piece.
struct Given {
  int64_t rows, columns, depth;
  bool is_transposed = false;
  ElementType type = ElementType::F32;
};
ProductForm form_of(const Given& given, const KernelChip& chip) {
  const auto [m, n, k, is_transposed, type] = given;
  const DotSide lhs = {type, true, {}, {m, k}, {k, 1}};
  const DotSide rhs = {type, true, {}, {n, is_transposed ? k : 1}, {k, is_transposed ? 1 : n}};
  return product_form(lhs, rhs, type, chip);
}

// A line of columns that fills registers is read where it stands.
TEST(ProductForms, LinesThatFillVectorsAreLanes) {
  for (const KernelChip& chip : all_chips)
    for (const Given& given : {Given{1, 1024, 300}, {4, 512, 64}, {64, 64, 64}, {512, 16, 8}}) {
      const ProductForm form = form_of(given, chip);
      EXPECT_TRUE(form.in_columns && !form.transposes && !form.transposes_strips) << given.rows;
    }
}

// Down the lines of a large matrix each is waited for: it is read in the order of memory.
TEST(ProductForms, LinesBeyondTheCachesAreReadOneAfterTheOther) {
  for (const KernelChip& chip : all_chips)
    for (const auto type : {ElementType::F32, ElementType::BF16})
      for (int64_t rows : {1, 2, 4}) {
        EXPECT_GT(form_of({rows, 4096, 4096, false, type}, chip).lines_at_once, 0) << rows;
        EXPECT_EQ(form_of({rows, 64, 64, false, type}, chip).lines_at_once, 0) << rows;
      }
}

// One use does not pay for a transposed strip; of long sums the lanes are added up once.
TEST(ProductForms, SumsOfAFewRowsGoAlongTerms) {
  for (const KernelChip& chip : all_chips)
    for (const Given& given : {Given{1, 100, 256, true}, {2, 64, 512, true}, {3, 40, 1000, true}})
      EXPECT_FALSE(form_of(given, chip).in_columns) << given.rows;
}

// Many rows share a strip, and short sums would be added up for few terms each.
TEST(ProductForms, StripsForManyRowsOfShortSumsAreTransposed) {
  for (const KernelChip& chip : all_chips)
    for (const Given& given : {Given{200, 64, 8, true}, {1000, 32, 16, true}, {64, 128, 12, true}})
      EXPECT_TRUE(form_of(given, chip).transposes_strips) << given.rows;
}

// Two columns leave most lanes empty; transposed once, they fill vectors for all rows.
TEST(ProductForms, FewColumnsOfLongSumsAreTransposed) {
  for (const KernelChip& chip : all_chips)
    for (const Given& given : {Given{500, 2, 512}, {1000, 2, 256}, {2000, 3, 1000}})
      EXPECT_TRUE(form_of(given, chip).transposes) << given.rows;
}

// Of half as many lanes in a vector, fewer columns fill it.
TEST(ProductForms, WiderElementsNeedFewerColumns) {
  for (const KernelChip& chip : all_chips) {
    const auto most_transposed = [&](ElementType type) {
      int64_t out = 1;
      for (int64_t n = 2; n <= 16; ++n)
        if (form_of({1000, n, 512, false, type}, chip).transposes) out = n;
      return out;
    };
    EXPECT_LE(most_transposed(ElementType::F64), most_transposed(ElementType::F32));
  }
}

}  // namespace
}  // namespace hilo::test
