// Modules that are written as StableHLO and read again: they compute the same.
#include <gtest/gtest.h>

#include "eval/eval.h"
#include "text/text.h"
#include "wire/wire.h"

namespace hilo {
namespace {

// The values of an entry without parameters, one leaf after the other.
std::vector<double> values(const Module& module) {
  const auto outputs = evaluate(module, Inputs{{{}}});
  EXPECT_TRUE(outputs) << to_string(outputs.error());
  std::vector<double> out;
  if (!outputs) return out;
  const Literal& whole = outputs->devices[0];
  const std::vector<Literal> leaves =
      whole.shape().is_tuple()
          ? std::vector<Literal>(whole.elements().begin(), whole.elements().end())
          : std::vector<Literal>{whole};
  for (const Literal& leaf : leaves)
    for (int64_t i = 0; i < leaf.count(); ++i)
      out.push_back(is_floating(leaf.type()) ? leaf.number_at(i)
                                             : static_cast<double>(leaf.integer_at(i)));
  return out;
}

void expect_same(std::string_view text, const std::vector<double>& wanted,
                 const std::string& version = "") {
  const auto module = parse(text);
  ASSERT_TRUE(module) << to_string(module.error());
  EXPECT_EQ(values(*module), wanted);
  for (const Format format : {Format::StableHloText, Format::StableHloBytecode}) {
    if (format == Format::StableHloText && !version.empty()) continue;
    const auto written = convert(*module, format, {.stablehlo_version = version});
    ASSERT_TRUE(written) << to_string(written.error());
    const auto again = read_module(std::as_bytes(std::span(*written)), format, {.file = "m"});
    ASSERT_TRUE(again) << to_string(again.error()) << "\n" << *written;
    EXPECT_EQ(values(*again), wanted) << *written;
  }
}

TEST(FromModule, AScanIsALoop) {
  for (const bool is_reverse : {false, true})
    expect_same(fmt::format(R"(HloModule m
      step {{
        x = s32[2] parameter(0)
        carry = s32[2] parameter(1)
        sum = s32[2] add(x, carry)
        ROOT both = (s32[2], s32[2]) tuple(sum, sum)
      }}
      ENTRY e {{
        x = s32[2,3] constant({{{{1, 2, 3}}, {{4, 5, 6}}}})
        zero = s32[2] constant({{10, 20}})
        ROOT r = (s32[2,3], s32[2]) scan(x, zero), dimensions={{1}}, num_carries=1,
          is_reverse={}, to_apply=step
      }})",
                            is_reverse),
                is_reverse ? std::vector<double>{16, 15, 13, 35, 31, 26, 16, 35}
                           : std::vector<double>{11, 13, 16, 24, 29, 35, 16, 35});
}

TEST(FromModule, BatchingDimensionsBecomeIndices) {
  for (const char* version : {"1.0.0", "1.1.0"}) {
    expect_same(R"(HloModule m
      ENTRY e {
        x = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})
        i = s32[2,2] constant({{2, 0}, {1, 1}})
        ROOT r = f32[2,2] gather(x, i), offset_dims={}, collapsed_slice_dims={1},
          start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0},
          index_vector_dim=2, slice_sizes={1,1}
      })",
                {3, 1, 5, 5}, version);
    expect_same(R"(HloModule m
      add {
        a = f32[] parameter(0)
        b = f32[] parameter(1)
        ROOT s = f32[] add(a, b)
      }
      ENTRY e {
        x = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})
        i = s32[2,1] constant({{2}, {0}})
        u = f32[2] constant({10, 20})
        ROOT r = f32[2,3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1},
          scatter_dims_to_operand_dims={1}, input_batching_dims={0},
          scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=add
      })",
                {1, 2, 13, 24, 5, 6}, version);
  }
}

TEST(FromModule, UpperHalvesOfProducts) {
  expect_same(R"(HloModule m
    ENTRY e {
      a = s64[4] constant({9223372036854775807, -9223372036854775808, -1, 4294967296})
      b = s64[4] constant({9223372036854775807, 9223372036854775807, 1, 4294967296})
      ROOT r = s64[4] mulhi(a, b)
    })",
              {4611686018427387904.0, -4611686018427387904.0, -1, 1});
  expect_same(R"(HloModule m
    ENTRY e {
      a = u64[2] constant({18446744073709551615, 4294967297})
      b = u64[2] constant({2, 4294967297})
      ROOT r = u64[2] mulhi(a, b)
    })",
              {1, 1});
  expect_same(R"(HloModule m
    ENTRY e {
      a = s8[2] constant({-128, 100})
      b = s8[2] constant({127, 100})
      ROOT r = s8[2] mulhi(a, b)
    })",
              {-64, 39});
}

// Those that StableHLO lacks are calls of CHLO's by name, and become the op again.
TEST(FromModule, ScalarFunctionsKeepTheirOp) {
  for (int n = 0; n < op_count; ++n) {
    const Op op = static_cast<Op>(n);
    if (!has_trait(op, TraitTranscendental) || info(op).operands != 1) continue;
    const auto module = parse(fmt::format(
        "HloModule m\nENTRY e {{ x = f32[2] parameter(0) ROOT r = f32[2] {}(x) }}", text_of(op)));
    ASSERT_TRUE(module) << to_string(module.error());
    const auto written = convert(*module, Format::StableHloBytecode, {});
    ASSERT_TRUE(written) << to_string(written.error());
    const auto again = read_module(std::as_bytes(std::span(*written)), Format::Detect, {});
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ((*again)[(*again)[again->entry].root].op, op) << text_of(op);
  }
}

// Groups of rows with matrices of their own (rows of no group are 0), of contracted indices, and of
// batches, which make no difference. Sizes may differ by batch.
TEST(FromModule, RaggedProductsAreMasked) {
  expect_same(R"(HloModule m
    ENTRY e {
      x = f32[4,2] constant({{1, 2}, {3, 4}, {5, 6}, {7, 8}})
      y = f32[2,2,1] constant({{{1}, {10}}, {{100}, {inf}}})
      g = s32[2] constant({3, 0})
      ROOT r = f32[4,1] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1},
        lhs_ragged_dims={0}, rhs_group_dims={0}
    })",
              {21, 43, 65, 0});
  expect_same(R"(HloModule m
    ENTRY e {
      x = f32[2,3,1] constant({{{1}, {2}, {3}}, {{4}, {5}, {6}}})
      y = f32[2,2,1,1] constant({{{{1}}, {{2}}}, {{{10}}, {{20}}}})
      g = s64[2,2] constant({{1, 2}, {2, 1}})
      ROOT r = f32[2,3,1] ragged-dot(x, y, g), lhs_batch_dims={0}, rhs_batch_dims={1},
        lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1},
        rhs_group_dims={0}
    })",
              {1, 20, 30, 8, 10, 120});
  expect_same(R"(HloModule m
    ENTRY e {
      x = f32[3,1] constant({{1}, {2}, {3}})
      y = f32[3,1] constant({{1}, {10}, {100}})
      g = s32[2] constant({1, 2})
      ROOT r = f32[2,1,1] ragged-dot(x, y, g), lhs_contracting_dims={0},
        rhs_contracting_dims={0}, lhs_ragged_dims={0}
    })",
              {1, 320});
  expect_same(R"(HloModule m
    ENTRY e {
      x = f32[2,1,2] constant({{{1, 2}}, {{3, 4}}})
      y = f32[2,2,1] constant({{{1}, {10}}, {{100}, {1000}}})
      g = s32[2] constant({1, 1})
      ROOT r = f32[2,1,1] ragged-dot(x, y, g), lhs_batch_dims={0}, rhs_batch_dims={0},
        lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={0}
    })",
              {21, 4300});
}

}  // namespace
}  // namespace hilo
