// Attention as libraries fuse it: softmax(scale Q K^T + bias) V and its gradients, for a block of
// queries of one head at a time. Private to `eval`: who calls it has its own layouts and settings.
#pragma once

#include "eval/custom_call.h"

namespace hilo {

// A [batch, sequence, head, feature] array inside a literal; features lie side by side.
struct HeadsView {
  size_t literal = 0;                                     // index of the operand or result
  int64_t offset = 0, batch = 0, sequence = 0, head = 0;  // strides in elements
  Dims starts = {};  // of packed sequences: the row where each begins, instead of `batch`

  int64_t position(int64_t b, int64_t h) const {
    return offset + h * head + (starts.empty() ? b * batch : starts[b] * sequence);
  }
};

enum class AttentionBias : uint8_t { None, BeforeScaling, AfterScaling, Alibi };

struct Attention {
  int64_t batches = 0, heads = 0, groups = 0;  // sequences; query heads, key and value heads
  int64_t queries = 0, keys = 0, features = 0, value_features = 0;  // the most of a sequence
  double scale = 1;
  bool causal = false, bottom_right = false;
  int64_t window_left = -1, window_right = -1;  // keys beside the diagonal that are seen; -1: all
  AttentionBias bias = AttentionBias::None;
  int64_t bias_batches = 0, bias_heads = 0;  // of [batches or 1, heads or 1, queries, keys]
  std::vector<double> sinks;  // by head: one more score, of a key without a value; or empty
  HeadsView query, key, value, output;  // of operands; of the attention's value
  HeadsView gradients[3];               // of query, key and value, among results
  Dims query_lengths, key_lengths;      // of each sequence
  bool sums_by_row =
      false;  // logs of softmax sums as [rows, heads], else [batches, heads, queries]

  bool has_bias_array() const {
    return bias == AttentionBias::BeforeScaling || bias == AttentionBias::AfterScaling;
  }
  // All positive, and so small that no position overflows.
  bool has_sizes() const;
  // An error where sizes are absurd, or a view leaves its operand.
  Result<void> check(const Call& call, std::span<const size_t> output_counts) const;
  Result<void> check_bias(const Call& call, const Literal& array) const;
  // Keys [first, last) that a query sees.
  std::pair<int64_t, int64_t> range(int64_t batch, int64_t query) const;
  int64_t sum_position(int64_t batch, int64_t head, int64_t query) const;
  int64_t sum_count() const;
};

struct AttentionBlock;

// Rows of matrices in compute type (f32, or f64 where all floats are), and products of them.
class AttentionSteps {
 public:
  explicit AttentionSteps(Call& call) : steps(call), call_(call) {}
  // [count, features] from `first` on.
  StepValue rows(const Literal& from, const HeadsView& view, int64_t batch, int64_t head,
                 int64_t first, int64_t count, int64_t features) const;
  // Adds to such rows.
  void add_rows(const StepValue& rows, Literal& to, const HeadsView& view, int64_t batch,
                int64_t head, int64_t first) const;
  StepValue matrix(int64_t rows, int64_t columns) const;  // zeros
  StepValue dot(const StepValue& a, int64_t a_dim, const StepValue& b, int64_t b_dim);
  // Scaled and biased scores [count, keys] of a block.
  StepValue scores(const Attention& attention, const AttentionBlock& block, const Literal& bias);

  Steps steps;

 private:
  Call& call_;
};

inline constexpr int64_t attention_block = 256;  // queries at a time

// Queries [first, first + count) of a head, with all keys and values of the head's group.
struct AttentionBlock {
  int64_t batch, head, group, first, count, keys;
  const StepValue &query, &key, &value;
};
// Stops at the first step that fails.
void for_each_block(AttentionSteps& steps, const Attention& attention,
                    std::span<const Literal> operands,
                    const std::function<void(const AttentionBlock&)>& body);

double get(const StepValue& matrix, int64_t i);
void set(StepValue& matrix, int64_t i, double value);
int64_t bias_position(const Attention& attention, int64_t batch, int64_t head, int64_t query);

// The attention's value goes to `out`, logs of the softmax sums to `sums` where there is room.
// Queries beyond a sequence's length give zeros.
void attend(AttentionSteps& steps, const Attention& attention, std::span<const Literal> operands,
            const Literal& bias, Literal& out, StepValue& sums);

// What the forward call gave, and the gradient of its value.
struct SavedAttention {
  const Literal &sums, &output, &gradient, &bias;
  HeadsView output_view, gradient_view;
};
struct AttentionGradients {
  std::vector<Literal> results;  // of query, key, value (or packed), bias; in compute type
  std::vector<double> sinks;
};
void attention_gradients(AttentionSteps& steps, const Attention& attention,
                         std::span<const Literal> operands, const SavedAttention& saved,
                         AttentionGradients& gradients);

}  // namespace hilo
