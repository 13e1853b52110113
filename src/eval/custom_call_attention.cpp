#include "eval/custom_call_attention.h"

#include <algorithm>

#include "eval/backend_config.h"

namespace hilo {
namespace {

Dims lengths_of(const Literal& offsets, int64_t batches, int64_t whole, bool padding) {
  Dims out(batches, whole);
  if (padding && offsets.count() > batches)
    for (int64_t b = 0; b < batches; ++b)
      out[b] = std::clamp<int64_t>(offsets.integer_at(b + 1) - offsets.integer_at(b), 0, whole);
  return out;
}

// Strides of [b, s, ...] or [s, b, ...] whose rows take `row` elements.
HeadsView view_of(size_t literal, const Attention& a, int64_t length, int64_t row, int64_t head,
                  int64_t offset) {
  return {literal, offset, a.sequence_first ? row : length * row,
          a.sequence_first ? a.batches * row : row, head};
}

// NVTE_QKV_Layout: 0 to 4 sequence first, 5 to 9 batch first; of each five: 3HD, H3D, HD with 2HD,
// HD with H2D, and three arrays.
void set_views(Attention& a, int64_t layout) {
  const int64_t d = a.features, q = a.heads * d, k = a.groups * d;
  switch (layout % 5) {
    case 0:
      a.query = view_of(0, a, a.queries, 3 * q, d, 0);
      a.key = view_of(0, a, a.queries, 3 * q, d, q);
      a.value = view_of(0, a, a.queries, 3 * q, d, 2 * q);
      return;
    case 1:
      a.query = view_of(0, a, a.queries, 3 * q, 3 * d, 0);
      a.key = view_of(0, a, a.queries, 3 * q, 3 * d, d);
      a.value = view_of(0, a, a.queries, 3 * q, 3 * d, 2 * d);
      return;
    case 2:
      a.key = view_of(1, a, a.keys, 2 * k, d, 0);
      a.value = view_of(1, a, a.keys, 2 * k, d, k);
      break;
    case 3:
      a.key = view_of(1, a, a.keys, 2 * k, 2 * d, 0);
      a.value = view_of(1, a, a.keys, 2 * k, 2 * d, d);
      break;
    default:
      a.key = view_of(1, a, a.keys, k, d, 0);
      a.value = view_of(2, a, a.keys, a.groups * a.value_features, a.value_features, 0);
  }
  a.query = view_of(0, a, a.queries, q, d, 0);
}

bool inside(const HeadsView& view, const Attention& a, int64_t length, int64_t heads,
            int64_t features, std::span<const Literal> literals) {
  const int64_t last = view.offset + (a.batches - 1) * view.batch + (length - 1) * view.sequence +
                       (heads - 1) * view.head + features;
  return view.literal < literals.size() && last <= literals[view.literal].count();
}

// All positive, and so small that no position overflows.
bool has_sizes(const Attention& a) {
  __int128 product = 3;
  for (int64_t size :
       {a.batches, a.heads, std::max(a.queries, a.keys), std::max(a.features, a.value_features)})
    product = std::min<__int128>(product * std::max<int64_t>(1, size), __int128{1} << 62);
  return std::min({a.batches, a.heads, a.groups, a.queries, a.keys, a.features,
                   a.value_features}) >= 1 &&
         a.groups <= a.heads && product < __int128{1} << 62 && a.bias_batches >= 0 &&
         a.bias_heads >= 0;
}

// Of a bias with elements for each batch and head, or one for all.
bool bias_fits(const Attention& a) {
  return (a.bias_batches <= 1 || a.bias_batches == a.batches) &&
         (a.bias_heads <= 1 || a.bias_heads == a.heads);
}

template <class Body>
void visit_compute(ElementType type, Body&& body) {
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (requires(T x) { static_cast<double>(static_cast<float>(x)); }) body(T());
  });
}

}  // namespace

HeadsView Attention::output() const {
  return view_of(0, *this, queries, heads * value_features, value_features, 0);
}

Result<Attention> Attention::make(const Call& call, const Literal& query_offsets,
                                  const Literal& key_offsets) {
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  const auto whole = [&](const char* key, int64_t otherwise) {
    return config.whole(key, otherwise);
  };
  Attention a;
  a.batches = whole("input_batch", 0);
  a.heads = whole("attn_heads", 0);
  a.groups = whole("num_gqa_groups", a.heads);
  a.queries = whole("q_max_seqlen", 0);
  a.keys = whole("kv_max_seqlen", 0);
  a.features = whole("qk_head_dim", whole("head_dim", 0));
  a.value_features = whole("v_head_dim", a.features);
  a.scale = config.number("scaling_factor", 1);
  const int64_t mask = whole("mask_type", 0), layout = whole("qkv_layout", 9);
  a.padding = mask == 1 || mask == 3 || mask == 5;
  a.causal = mask >= 2;
  a.bottom_right = mask == 4 || mask == 5;
  a.window_left = whole("window_size_left", -1);
  a.window_right = whole("window_size_right", -1);
  a.bias_type = whole("bias_type", 0);
  a.bias_batches = whole("bias_batch", 0);
  a.bias_heads = whole("bias_heads", 0);
  a.sequence_first = layout < 5;
  if (layout < 0 || layout > 9 || mask < 0 || mask > 5 || a.bias_type > 2 ||
      config.number("dropout_probability", 0) != 0)
    return call.error(
        ErrorKind::Unsupported,
        fmt::format("attention with qkv_layout {}, mask_type {}, bias_type {}, "
                    "dropout_probability {}",
                    layout, mask, a.bias_type, config.number("dropout_probability", 0)));
  if (!has_sizes(a) || a.heads % a.groups != 0)
    return call.error(ErrorKind::Shape, "backend_config does not give the sizes of attention");
  set_views(a, layout);
  if (a.bias_type != 0 && !bias_fits(a))
    return call.error(ErrorKind::Shape, "the bias is for other batches or heads");
  if (!inside(a.query, a, a.queries, a.heads, a.features, call.operands) ||
      !inside(a.key, a, a.keys, a.groups, a.features, call.operands) ||
      !inside(a.value, a, a.keys, a.groups, a.value_features, call.operands))
    return call.error(ErrorKind::Shape, "the operands are smaller than backend_config says");
  a.query_lengths = lengths_of(query_offsets, a.batches, a.queries, a.padding);
  a.key_lengths = lengths_of(key_offsets, a.batches, a.keys, a.padding);
  return a;
}

std::pair<int64_t, int64_t> Attention::range(int64_t batch, int64_t query) const {
  if (query >= query_lengths[batch]) return {0, 0};
  const int64_t keys_here = key_lengths[batch];
  const int64_t diagonal = query + (bottom_right ? keys_here - query_lengths[batch] : 0);
  int64_t first = 0, last = keys_here;
  if (causal) last = std::min(last, diagonal + 1);
  if (window_left >= 0) first = std::max<int64_t>(first, diagonal - window_left);
  if (window_right >= 0) last = std::min(last, diagonal + window_right + 1);
  return {first, std::max(first, last)};
}

void for_each_block(AttentionSteps& steps, const Attention& a, std::span<const Literal> operands,
                    const std::function<void(const AttentionBlock&)>& body) {
  for (int64_t b = 0; b < a.batches; ++b)
    for (int64_t h = 0; h < a.heads; ++h) {
      const int64_t group = h / (a.heads / a.groups);
      const StepValue key =
          steps.rows(operands[a.key.literal], a.key, b, group, 0, a.keys, a.features);
      const StepValue value =
          steps.rows(operands[a.value.literal], a.value, b, group, 0, a.keys, a.value_features);
      for (int64_t first = 0; first < a.queries; first += attention_block) {
        if (steps.steps.failed()) return;
        const int64_t count = std::min(attention_block, a.queries - first);
        const StepValue query =
            steps.rows(operands[a.query.literal], a.query, b, h, first, count, a.features);
        body({b, h, group, first, count, query, key, value});
      }
    }
}

double get(const StepValue& matrix, int64_t i) { return matrix.literal.number_at(i); }

void set(StepValue& matrix, int64_t i, double value) {
  if (matrix.literal.type() == ElementType::F64) matrix.literal.mutable_data<double>()[i] = value;
  else matrix.literal.mutable_data<float>()[i] = static_cast<float>(value);
}

int64_t bias_position(const Attention& a, int64_t batch, int64_t head, int64_t query) {
  const int64_t b = a.bias_batches > 1 ? batch : 0, h = a.bias_heads > 1 ? head : 0;
  return ((b * std::max<int64_t>(1, a.bias_heads) + h) * a.queries + query) * a.keys;
}

StepValue AttentionSteps::matrix(int64_t rows, int64_t columns) const {
  const Shape shape = Shape::array(ElementType::F32, {rows, columns});
  return {Literal::zeros(call_.held(shape)), shape};
}

StepValue AttentionSteps::rows(const Literal& from, const HeadsView& view, int64_t batch,
                               int64_t head, int64_t first, int64_t count, int64_t features) const {
  StepValue out = matrix(count, features);
  visit_compute(from.type(), [&]<class T>(T) {
    const T* source = from.data<T>().data() + view.offset + batch * view.batch + head * view.head;
    const auto fill = [&]<class C>(std::span<C> to) {
      for (int64_t r = 0; r < count; ++r)
        for (int64_t f = 0; f < features; ++f)
          to[r * features + f] = static_cast<C>(source[(first + r) * view.sequence + f]);
    };
    if (out.literal.type() == ElementType::F64) fill(out.literal.mutable_data<double>());
    else fill(out.literal.mutable_data<float>());
  });
  return out;
}

void AttentionSteps::add_rows(const StepValue& rows, Literal& to, const HeadsView& view,
                              int64_t batch, int64_t head, int64_t first) const {
  const int64_t count = rows.shape.dims[0], features = rows.shape.dims[1];
  visit_compute(to.type(), [&]<class T>(T) {
    T* target = to.mutable_data<T>().data() + view.offset + batch * view.batch + head * view.head;
    for (int64_t r = 0; r < count; ++r)
      for (int64_t f = 0; f < features; ++f) {
        T& slot = target[(first + r) * view.sequence + f];
        slot = static_cast<T>(static_cast<double>(slot) + get(rows, r * features + f));
      }
  });
}

StepValue AttentionSteps::dot(const StepValue& a, int64_t a_dim, const StepValue& b,
                              int64_t b_dim) {
  const Shape shape =
      Shape::array(ElementType::F32, {a.shape.dims[1 - a_dim], b.shape.dims[1 - b_dim]});
  DotAttributes attributes;
  attributes.lhs_contracting_dims = {a_dim};
  attributes.rhs_contracting_dims = {b_dim};
  return steps.op(Op::Dot, shape, {a, b}, attributes);
}

StepValue AttentionSteps::scores(const Attention& a, const AttentionBlock& block,
                                 const Literal& bias) {
  StepValue out = dot(block.query, 1, block.key, 1);
  if (steps.failed()) return out;
  for (int64_t r = 0; r < block.count; ++r)
    for (int64_t k = 0; k < a.keys; ++k) {
      double score = get(out, r * a.keys + k);
      const int64_t at = bias_position(a, block.batch, block.head, block.first + r) + k;
      const double added = a.bias_type != 0 ? bias.number_at(at) : 0;
      score = a.bias_type == 1 ? (score + added) * a.scale : score * a.scale + added;
      set(out, r * a.keys + k, score);
    }
  return out;
}

}  // namespace hilo
