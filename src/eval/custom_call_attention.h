// TransformerEngine's fused attention: its sizes, masks and layouts. Private to `eval`. Reference:
// transformer_engine/fused_attn.h (NVTE_QKV_Layout, NVTE_Mask_Type, NVTE_Bias_Type).
#pragma once

#include "eval/custom_call.h"

namespace hilo {

// A [batch, sequence, head, feature] array inside a literal; features lie side by side.
struct HeadsView {
  size_t literal = 0;                                     // index of the operand or result
  int64_t offset = 0, batch = 0, sequence = 0, head = 0;  // strides in elements
};

struct Attention {
  int64_t batches = 0, heads = 0, groups = 0;  // query heads, key and value heads
  int64_t queries = 0, keys = 0, features = 0, value_features = 0;
  double scale = 1;
  bool causal = false, bottom_right = false, padding = false;
  int64_t window_left = -1, window_right = -1;
  int64_t bias_type = 0, bias_batches = 0, bias_heads = 0;  // 1: before scaling, 2: after
  HeadsView query, key, value;  // in the operands, and so in the results of the backward call
  Dims query_lengths, key_lengths;

  static Result<Attention> make(const Call& call, const Literal& query_offsets,
                                const Literal& key_offsets);
  HeadsView output() const;  // the attention's value, of the query's batch and sequence order
  bool sequence_first = false;

  // Keys [first, last) that a query sees.
  std::pair<int64_t, int64_t> range(int64_t batch, int64_t query) const;
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
  // Scaled and biased scores of a block.
  StepValue scores(const Attention& attention, const AttentionBlock& block, const Literal& bias);

  Steps steps;

 private:
  Call& call_;
};

inline constexpr int64_t attention_block = 256;  // queries at a time

// Queries [first, first + count) of a head, with all keys and values of the head's group.
struct AttentionBlock {
  int64_t batch, head, group, first, count;
  const StepValue &query, &key, &value;
};
// Stops at the first step that fails.
void for_each_block(AttentionSteps& steps, const Attention& attention,
                    std::span<const Literal> operands,
                    const std::function<void(const AttentionBlock&)>& body);

double get(const StepValue& matrix, int64_t i);
void set(StepValue& matrix, int64_t i, double value);
int64_t bias_position(const Attention& attention, int64_t batch, int64_t head, int64_t query);

}  // namespace hilo
