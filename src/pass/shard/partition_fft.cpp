// fft. Batch dimensions are local. A sharded dimension of several that are transformed changes
// places with another: that one is transformed while it is whole, the tiles move to it, and the
// first is transformed. One alone is transformed in four steps: of n = g m elements on g devices,
//   X[r g + c] = sum over q of w_m^(q r) (w_n^(q c) (sum over p of w_g^(p c) x[p m + q]))
// (Bailey, FFTs in external or hierarchical memory, 1989).
#include <numeric>

#include "pass/shard/factor_list.h"
#include "pass/shard/op_partition.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

class FftPartition {
 public:
  explicit FftPartition(OpPartition& op)
      : op_(op),
        a_(op.attributes<FftAttributes>()),
        from_(op.operand_shape(0)),
        to_(op.shape()),
        count_(a_.fft_length.size()),
        first_(from_.dims.size() - count_) {}

  Result<Shards> run() {
    FactorList list(op_.module(), op_.id());
    for (size_t dim = 0; dim < first_; ++dim)
      list.share(Kind::Pass, {operand_dim(0, number(dim)), result_dim(0, number(dim))});
    for (size_t k = 0; k < count_; ++k) {
      const auto from = number(first_ + k), to = number(first_ + partner(k));
      if (can_change(k))
        factors_.push_back(list.share(Kind::Pass, {operand_dim(0, from), result_dim(0, to)}));
      else factors_.push_back(list.share(Kind::NeedReplication, {operand_dim(0, from)}));
    }
    op_.set_factors(list.finish());
    LocalForm form;
    form.may_shard = [this](size_t factor) {
      return op_.factors().factors[factor].kind == Kind::Pass;
    };
    form.even_alone = [this](size_t factor) { return count_ == 1 && factor == factors_[0]; };
    form.operations = operations();
    form.sent_bytes = [this](const Roles& roles) { return sent_bytes(roles); };
    form.emit = [this](const LocalOperands& local) { return emit(local); };
    return op_.by_factors(form);
  }

 private:
  static int64_t number(size_t dim) { return static_cast<int64_t>(dim); }
  // Where the tiles of the k-th transformed dimension go.
  size_t partner(size_t k) const { return (k + 1) % count_; }

  // What is real, or half of it, is at one end of all steps.
  bool can_change(size_t k) const {
    if (element_count(from_) == 0 || element_count(to_) == 0) return false;
    switch (a_.fft_type) {
      case FftType::Fft:
      case FftType::Ifft: return true;
      case FftType::Rfft: return count_ > 1 && k + 1 < count_;
      case FftType::Irfft: return count_ > 1 && k + 1 == count_;
    }
    return false;
  }

  // Of Cooley and Tukey's algorithm.
  double operations() const {
    double steps = 0;
    for (int64_t length : a_.fft_length) steps += std::log2(static_cast<double>(length));
    return 5 * steps * static_cast<double>(element_count(from_));
  }

  // The one transformed dimension that the roles shard.
  std::optional<size_t> sharded(const Roles& roles) const {
    for (size_t k = 0; k < count_; ++k)
      if (!roles.axes[factors_[k]].empty()) return k;
    return std::nullopt;
  }

  double sent_bytes(const Roles& roles) {
    const auto k = sharded(roles);
    if (!k) return 0;
    for (size_t other = *k + 1; other < count_; ++other)
      if (!roles.axes[factors_[other]].empty()) return INFINITY;
    const auto devices = static_cast<double>(axes_size(roles.axes[factors_[*k]]));
    double elements = 1;
    for (size_t dim = 0; dim < from_.dims.size(); ++dim)
      elements *= static_cast<double>(std::max(from_.dims[dim], to_.dims[dim]));
    for (const SubAxes& axes : roles.axes) elements /= static_cast<double>(axes_size(axes));
    const double bytes = elements * std::max(bits_of(from_.type), bits_of(to_.type)) / 8;
    const bool is_alone = count_ == 1;
    if (is_alone && from_.dims.back() % static_cast<int64_t>(devices * devices) != 0)
      return INFINITY;
    return (is_alone ? 3 : 1) * bytes * (devices - 1) / devices;
  }

  Result<std::vector<InstructionId>> emit(const LocalOperands& local) {
    const auto k = sharded(local.roles);
    if (!k) return op_.clone(local.ids(), local.results);
    if (count_ == 1) return in_four_steps(local);
    return by_change(local, *k);
  }

  // One transform along a dimension, whole in the tile.
  InstructionId along(InstructionId tile, size_t dim) {
    LocalCode code = op_.code();
    Dims order(code.dims(tile).size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[dim], order.back());
    const auto k = static_cast<int64_t>(dim - first_);
    const bool is_last = dim + 1 == order.size();
    FftAttributes one{a_.fft_type, {a_.fft_length[static_cast<size_t>(k)]}};
    if (!is_last && a_.fft_type == FftType::Rfft) one.fft_type = FftType::Fft;
    if (!is_last && a_.fft_type == FftType::Irfft) one.fft_type = FftType::Ifft;
    tile = op_.editor().add_inferred(code.like(), Op::Fft, std::array{code.transpose(tile, order)},
                                     std::move(one));
    return code.transpose(tile, order);
  }

  // The real end comes first (rfft) or last (irfft): where it is the sharded dimension's turn, it
  // is alone.
  Result<std::vector<InstructionId>> by_change(const LocalOperands& local, size_t k) {
    const size_t dim = first_ + k;
    InstructionId tile = local.operands[0].id;
    const bool is_real_last = a_.fft_type == FftType::Irfft;
    for (size_t other = from_.dims.size(); other-- > first_;)
      if (other != dim && !(is_real_last && other + 1 == from_.dims.size()))
        tile = along(tile, other);
    Shape meanwhile = Shape::array(op_.module().shape(tile).type, from_.dims);
    for (size_t other = first_; other < from_.dims.size(); ++other)
      if (other != dim) meanwhile.dims[other] = to_.dims[other];
    HILO_TRY(tile, op_.partitioner().resharded({tile, local.operands[0].sharding, meanwhile},
                                               local.results[0]));
    return std::vector{along(tile, dim)};
  }

  // Axes between the dimensions behind the batch, each device at the same numbers in others.
  Result<InstructionId> moved(InstructionId tile, const LocalOperands& local, Dims dims,
                              size_t from, size_t to) {
    AxisSharding before = local.results[0];
    before.dims.resize(dims.size());
    std::swap(before.dims[first_], before.dims[from]);
    AxisSharding after = before;
    std::swap(after.dims[from], after.dims[to]);
    const Shape global = Shape::array(to_.type, std::move(dims));
    return op_.partitioner().resharded({tile, std::move(before), global}, after);
  }

  Dims with_batch(const Dims& of, Dims behind) const {
    behind.insert(behind.begin(), of.begin(), of.begin() + number(first_));
    return behind;
  }

  Result<std::vector<InstructionId>> in_four_steps(const LocalOperands& local) {
    LocalCode code = op_.code();
    const SubAxes& axes = local.roles.axes[factors_[0]];
    const int64_t g = axes_size(axes), n = from_.dims.back(), m = n / g;
    const size_t p = first_, q = first_ + 1;  // x as [batch, p, q]
    const Dims tile = code.dims(local.operands[0].id);
    Dims swap(tile.size() + 1);
    std::iota(swap.begin(), swap.end(), 0);
    std::swap(swap[p], swap[q]);
    const auto transform = [&](InstructionId value, int64_t size) {
      return op_.editor().add_inferred(code.like(), Op::Fft, std::array{value},
                                       FftAttributes{a_.fft_type, {size}});
    };
    InstructionId x = code.reshape(local.operands[0].id, with_batch(tile, {1, m}));
    HILO_TRY(x, moved(x, local, with_batch(from_.dims, {g, m}), p, q));
    x = code.transpose(transform(code.transpose(x, swap), g), swap);  // [batch, c, q]
    x = code.binary(Op::Multiply, x, turns(code, code.dims(x), local, axes, n));
    HILO_TRY(x, moved(x, local, with_batch(from_.dims, {g, m}), q, p));
    x = transform(x, m);  // [batch, c, r]
    HILO_TRY(x, moved(x, local, with_batch(from_.dims, {g, m}), p, q));
    return std::vector{code.reshape(code.transpose(x, swap), tile)};
  }

  // w_n^(q c) of a tile [batch, c, q] that begins at this device's q.
  InstructionId turns(LocalCode& code, const Dims& dims, const LocalOperands& local,
                      const SubAxes& axes, int64_t n) {
    const ElementType real = to_.type == ElementType::C128 ? ElementType::F64 : ElementType::F32;
    const auto rank = std::ssize(dims);
    const InstructionId offset =
        code.scaled(code.coordinate(*local.results[0]->mesh, axes), dims.back());
    const InstructionId q = code.binary(Op::Add, code.iota(ElementType::S32, dims, rank - 1),
                                        code.broadcast(offset, dims, {}));
    const InstructionId product =
        code.binary(Op::Multiply, q, code.iota(ElementType::S32, dims, rank - 2));
    const double sign = a_.fft_type == FftType::Ifft ? 1 : -1;
    const auto constant = [&](double value) { return code.constant(scalar_of(real, value)); };
    // pi as exact as the arithmetic is.
    const InstructionId pi = code.binary(Op::Atan2, constant(0), constant(-1));
    const InstructionId turn =
        code.binary(Op::Divide, code.binary(Op::Multiply, pi, constant(2 * sign)),
                    constant(static_cast<double>(n)));
    const InstructionId angle =
        code.binary(Op::Multiply, code.convert(product, real), code.broadcast(turn, dims, {}));
    const auto part = [&](Op op) {
      return op_.editor().add_inferred(code.like(), op, std::array{angle});
    };
    return op_.editor().add_inferred(code.like(), Op::Complex,
                                     std::array{part(Op::Cosine), part(Op::Sine)});
  }

  OpPartition& op_;
  const FftAttributes a_;
  const Shape from_, to_;
  const size_t count_, first_;   // of transformed dimensions; the first one
  std::vector<size_t> factors_;  // of each transformed dimension of the operand
};

}  // namespace

Result<Shards> partition_Fft(OpPartition& op) { return FftPartition(op).run(); }

}  // namespace hilo
