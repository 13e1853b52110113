#include "eval/custom_call_attention.h"

#include <algorithm>
#include <cmath>

#include "eval/storage.h"

namespace hilo {
namespace {

// Whether every row of the view lies in an array of so many elements.
bool inside(const HeadsView& view, const Attention& a, const Dims& lengths, int64_t heads,
            int64_t features, int64_t count) {
  for (int64_t b = 0; b < a.batches; ++b) {
    if (lengths[b] == 0) continue;
    const int64_t last = view.position(b, heads - 1) + (lengths[b] - 1) * view.sequence + features;
    if (view.position(b, 0) < 0 || last > count) return false;
  }
  return true;
}

// Of a bias with elements for each batch and head, or one for all.
bool bias_fits(const Attention& a) {
  return (a.bias_batches <= 1 || a.bias_batches == a.batches) &&
         (a.bias_heads <= 1 || a.bias_heads == a.heads);
}

bool starts_fit(const Dims& starts, int64_t batches) {
  constexpr int64_t limit = int64_t{1} << 31;
  return starts.empty() ||
         (std::ssize(starts) == batches &&
          std::ranges::all_of(starts, [](int64_t start) { return start >= 0 && start < limit; }));
}

// "Train Short, Test Long", Press et al., 2022: a geometric sequence from 2^(-8/n) on; heads beyond
// a power of two take every other one of the next power's.
double alibi_slope(int64_t heads, int64_t head) {
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  if (head < power) return std::exp2(-8.0 * static_cast<double>(head + 1) / power);
  return std::exp2(-4.0 * static_cast<double>(2 * (head - power) + 1) / power);
}

template <class Body>
void visit_compute(ElementType type, Body&& body) {
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (requires(T x) { static_cast<double>(static_cast<float>(x)); }) body(T());
  });
}

}  // namespace

bool Attention::has_sizes() const {
  __int128 product = 3;
  for (int64_t size : {batches, heads, std::max(queries, keys), std::max(features, value_features)})
    product = std::min<__int128>(product * std::max<int64_t>(1, size), __int128{1} << 62);
  return std::min({batches, heads, groups, queries, keys, features, value_features}) >= 1 &&
         groups <= heads && heads % groups == 0 && product < __int128{1} << 62 &&
         bias_batches >= 0 && bias_heads >= 0;
}

Result<void> Attention::check(const Call& call, std::span<const size_t> output_counts) const {
  const auto wrong = [&](const char* text) { return call.error(ErrorKind::Shape, text); };
  if (!has_sizes()) return wrong("backend_config does not give the sizes of attention");
  if (std::ssize(query_lengths) != batches || std::ssize(key_lengths) != batches)
    return wrong("a length for each sequence is needed");
  for (const HeadsView* view : {&query, &key, &value, &output})
    if (!starts_fit(view->starts, batches)) return wrong("offsets of sequences do not fit");
  const auto fits = [&](const HeadsView& view, const Dims& lengths, int64_t view_heads,
                        int64_t view_features) {
    return view.literal < call.operands.size() &&
           inside(view, *this, lengths, view_heads, view_features,
                  call.operands[view.literal].count());
  };
  if (!fits(query, query_lengths, heads, features) || !fits(key, key_lengths, groups, features) ||
      !fits(value, key_lengths, groups, value_features))
    return wrong("the operands are smaller than backend_config says");
  for (size_t count : output_counts)
    if (!inside(output, *this, query_lengths, heads, value_features, static_cast<int64_t>(count)))
      return wrong("the attention's value is smaller than backend_config says");
  return {};
}

Result<void> Attention::check_bias(const Call& call, const Literal& array) const {
  if (!has_bias_array()) return {};
  if (!bias_fits(*this))
    return call.error(ErrorKind::Shape, "the bias is for other batches or heads");
  if (array.count() < bias_position(*this, batches - 1, heads - 1, queries))
    return call.error(ErrorKind::Shape, "the bias is smaller than backend_config says");
  return {};
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

int64_t Attention::sum_position(int64_t batch, int64_t head, int64_t query) const {
  if (!sums_by_row) return (batch * heads + head) * queries + query;
  return (output.starts[batch] + query) * heads + head;
}

int64_t Attention::sum_count() const {
  int64_t out = 0;
  for (int64_t b = 0; b < batches; ++b)
    if (query_lengths[b] > 0)
      out = std::max(out, sum_position(b, heads - 1, query_lengths[b] - 1) + 1);
  return out;
}

void for_each_block(AttentionSteps& steps, const Attention& a, std::span<const Literal> operands,
                    const std::function<void(const AttentionBlock&)>& body) {
  for (int64_t b = 0; b < a.batches; ++b)
    for (int64_t h = 0; h < a.heads; ++h) {
      const int64_t queries = a.query_lengths[b], keys = a.key_lengths[b];
      if (queries == 0 || keys == 0) continue;
      const int64_t group = h / (a.heads / a.groups);
      const StepValue key =
          steps.rows(operands[a.key.literal], a.key, b, group, 0, keys, a.features);
      const StepValue value =
          steps.rows(operands[a.value.literal], a.value, b, group, 0, keys, a.value_features);
      for (int64_t first = 0; first < queries; first += attention_block) {
        if (steps.steps.failed()) return;
        const int64_t count = std::min(attention_block, queries - first);
        const StepValue query =
            steps.rows(operands[a.query.literal], a.query, b, h, first, count, a.features);
        body({b, h, group, first, count, keys, query, key, value});
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
  return {make_zeros(call_, call_.held(shape)), shape};
}

StepValue AttentionSteps::rows(const Literal& from, const HeadsView& view, int64_t batch,
                               int64_t head, int64_t first, int64_t count, int64_t features) const {
  StepValue out = matrix(count, features);
  visit_compute(from.type(), [&]<class T>(T) {
    const T* source = from.data<T>().data() + view.position(batch, head);
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
    T* target = to.mutable_data<T>().data() + view.position(batch, head);
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
  const double slope = a.bias == AttentionBias::Alibi ? alibi_slope(a.heads, block.head) : 0;
  for (int64_t r = 0; r < block.count; ++r) {
    const int64_t query = block.first + r;
    const int64_t at = bias_position(a, block.batch, block.head, query);
    for (int64_t k = 0; k < block.keys; ++k) {
      const int64_t i = r * block.keys + k;
      const double added =
          a.has_bias_array() ? bias.number_at(at + k) : slope * static_cast<double>(k - query);
      const bool before = a.bias == AttentionBias::BeforeScaling;
      set(out, i, before ? (get(out, i) + added) * a.scale : get(out, i) * a.scale + added);
    }
  }
  return out;
}

}  // namespace hilo
