// Windowed reductions. Each device reduces the windows of its tile of the result over the rows that
// they cover; sums of all rows so far are sums of tiles, scanned over the devices.
#include <algorithm>

#include "ir/ir.h"
#include "pass/shard/identity_element.h"
#include "pass/shard/running_reduction.h"
#include "pass/shard/window_tiles.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;
using Local = Result<std::vector<InstructionId>>;

bool reads_padding(const WindowDim& window) {
  return window.padding_low > 0 || window.padding_high > 0 || window.base_dilation > 1;
}

class WindowedReduction {
 public:
  explicit WindowedReduction(OpPartition& op)
      : op_(op),
        arrays_(op.operand_count() / 2),
        window_(op.attributes<ReduceWindowAttributes>().window) {
    window_.dims.resize(op.operand_shape(0).dims.size());
    const auto combiner =
        find_combiner(op.module(), op.attributes<ReduceWindowAttributes>().to_apply);
    if (!combiner || arrays_ != 1) return;
    combiner_ = op.module()[combiner->instruction].op;
    neutral_ = neutral_beside(constant_of(op.module(), op.operand(arrays_)), combiner_,
                              op.operand_shape(0).type);
    if (neutral_) running_ = find_running(window_, op.operand_shape(0), leaf());
  }

  LocalForm form() {
    LocalForm out;
    out.may_shard = [this](size_t factor) { return may_shard(factor); };
    out.sent_bytes = [this](const Roles& roles) { return sent_bytes(roles); };
    out.emit = [this](const LocalOperands& local) -> Local { return emit(local); };
    return out;
  }

 private:
  const Shape& leaf() { return op_.shape().is_tuple() ? op_.shape().elements[0] : op_.shape(); }

  // Without a neutral element nothing can stand for padding. A factor of the result alone says that
  // its tiles are not those of rows.
  bool may_shard(size_t factor) {
    const ShardingFactors& factors = op_.factors();
    if (std::ranges::none_of(factors.operands[0], [&](const std::vector<size_t>& of_dim) {
          return std::ranges::count(of_dim, factor) > 0;
        }))
      return false;
    for (size_t dim = 0; dim < window_.dims.size(); ++dim)
      if (std::ranges::count(factors.operands[0][dim], factor) > 0 &&
          reads_padding(window_.dims[dim]) && !neutral_)
        return false;
    const Kind kind = factors.factors[factor].kind;
    return kind == Kind::Pass || kind == Kind::Permutation;
  }

  double sent_bytes(const Roles& roles) {
    double out = 0;
    for (size_t array = 0; array < arrays_; ++array) {
      const Shape& operand = op_.operand_shape(array);
      const AxisSharding sharding =
          sharding_under(op_, operand, op_.factors().operands[array], roles);
      const Shape tile = local_shape(operand, sharding);
      out += is_running(sharding)
                 ? bytes_to_run(tile, running_->dim, tile_count(sharding, running_->dim))
                 : bytes_to_slide(tile, windows_over(operand, sharding, leaf(), window_));
    }
    return out;
  }

  bool is_running(const AxisSharding& sharding) const {
    return running_ && tile_count(sharding, running_->dim) > 1;
  }

  Local emit(const LocalOperands& local) {
    LocalCode code = op_.code();
    std::optional<InstructionId> padding;
    if (neutral_) padding = code.constant(*neutral_);
    std::vector<InstructionId> operands = local.ids();
    if (is_running(local.operands[0].sharding)) return running(local, *padding);
    Window here;
    for (size_t array = 0; array < arrays_; ++array) {
      const Shard& operand = local.operands[array];
      here = window_;
      operands[array] =
          slide_all(op_, operand, windows_over(operand.shape, operand.sharding, leaf(), window_),
                    here, padding);
    }
    return op_.partitioner().split(windowed(operands, local.results, here));
  }

  InstructionId windowed(std::span<const InstructionId> operands,
                         std::span<const SharedSharding> results, const Window& window) {
    const InstructionId out = op_.clone_value(operands, results);
    op_.module().mutable_attributes<ReduceWindowAttributes>(out).window = window;
    return out;
  }

  // The tile's own rows run up from the neutral element; what stands before them goes in front.
  Local running(const LocalOperands& local, InstructionId neutral) {
    const Shard& operand = local.operands[0];
    const size_t dim = running_->dim;
    const InstructionId tile = op_.masked(operand, std::array{dim}, neutral);
    const int64_t rows = op_.code().dims(tile)[dim];
    Window here = window_;
    here.dims[dim] = {.size = rows};
    (running_->from_end ? here.dims[dim].padding_high : here.dims[dim].padding_low) = rows - 1;
    const InstructionId own = windowed(std::array{tile, neutral}, local.results, here);
    return std::vector{run_over_tiles(op_, *running_, {own, operand.sharding, operand.shape},
                                      combiner_, local.operands[1].id, neutral)};
  }

  OpPartition& op_;
  const size_t arrays_;
  Window window_;
  Op combiner_ = Op::Tuple;
  std::optional<Literal> neutral_;
  std::optional<RunningDim> running_;
};

}  // namespace

Result<Shards> partition_ReduceWindow(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  WindowedReduction reduction(op);
  return op.by_factors(reduction.form());
}

// The body works on slices of the whole size.
Result<Shards> partition_Scan(OpPartition& op) { return op.replicated(); }

}  // namespace hilo
