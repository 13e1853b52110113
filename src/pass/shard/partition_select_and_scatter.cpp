// select-and-scatter: a device works on all windows that touch its tile of the operand, with the
// rows and the source's elements of these, and keeps its own rows of what comes out.
#include <algorithm>

#include "ir/ir.h"
#include "pass/shard/identity_element.h"
#include "pass/shard/window_tiles.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;
using Local = Result<std::vector<InstructionId>>;

int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b < 0); }
int64_t ceil_of(int64_t a, int64_t b) { return -floor_of(-a, b); }

// Windows that touch tiles of one dimension.
struct TouchingWindows {
  RowWindows rows, windows;
  Dims own;  // by tile: its first row among `rows`
};

TouchingWindows touching(int64_t size, int64_t tiles, const WindowDim& window) {
  const int64_t tile = ceil_of(size, tiles);
  TouchingWindows out;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t begin = i * tile, end = std::min(size, begin + tile);
    const int64_t touched = ceil_of(begin + window.padding_low - window.size + 1, window.stride);
    const int64_t first = std::min(touched, floor_of(begin + window.padding_low, window.stride));
    const int64_t last = floor_of(end - 1 + window.padding_low, window.stride);
    const int64_t covering =
        ceil_of(begin + tile + window.padding_low - window.size, window.stride);
    out.windows.length = std::max(out.windows.length, std::max(last, covering) - first + 1);
    const int64_t start = first * window.stride - window.padding_low;
    const int64_t stop = last * window.stride - window.padding_low + window.size;
    const bool touches = begin < end && touched <= last;
    const int64_t rows_begin = touched * window.stride - window.padding_low;
    out.windows.tiles.push_back({first, touched, touches ? last + 1 : touched});
    out.rows.tiles.push_back({start, rows_begin, touches ? stop : rows_begin});
    out.own.push_back(begin - start);
  }
  out.rows.length = (out.windows.length - 1) * window.stride + window.size;
  return out;
}

class ScatterPartition {
 public:
  explicit ScatterPartition(OpPartition& op)
      : op_(op), window_(op.attributes<SelectAndScatterAttributes>().window) {
    const auto& attributes = op.attributes<SelectAndScatterAttributes>();
    window_.dims.resize(op.shape().dims.size());
    const ElementType type = op.shape().type;
    if (const auto combiner = find_combiner(op.module(), attributes.scatter))
      neutral_ = exact_identity(op.module()[combiner->instruction].op, type);
    share_factors();
  }

  LocalForm form() {
    LocalForm out;
    out.may_shard = [this](size_t factor) { return may_shard(factor); };
    out.sent_bytes = [this](const Roles& roles) { return sent_bytes(roles); };
    out.emit = [this](const LocalOperands& local) -> Local { return emit(local); };
    return out;
  }

 private:
  bool is_windowed(size_t dim) const { return window_.dims[dim] != WindowDim{}; }

  // All arrays are cut alike: the source's tiles of windows go with those of the rows.
  void share_factors() {
    ShardingFactors factors = op_.factors();
    for (size_t dim = 0; dim < window_.dims.size(); ++dim) {
      const size_t factor = factors.factors.size();
      factors.factors.push_back(
          {op_.shape().dims[dim], is_windowed(dim) ? Kind::Permutation : Kind::Pass});
      for (size_t array : {0, 1}) factors.operands[array][dim] = {factor};
      factors.results[0][dim] = {factor};
    }
    op_.set_factors(std::move(factors));
  }

  // Padding takes no part, and no number that stands for it loses against all elements: the least
  // one may be an element too, and NaN is neither greater nor less.
  bool may_shard(size_t factor) {
    const ShardingFactors& factors = op_.factors();
    for (size_t dim = 0; dim < window_.dims.size(); ++dim) {
      if (std::ranges::count(factors.operands[0][dim], factor) == 0 || !is_windowed(dim)) continue;
      const WindowDim& one = window_.dims[dim];
      const bool has_padding = one.padding_low > 0 || one.padding_high > 0;
      if (!neutral_ || has_padding || one.window_dilation != 1 || one.base_dilation != 1)
        return false;
    }
    const Kind kind = factors.factors[factor].kind;
    return kind == Kind::Pass || kind == Kind::Permutation;
  }

  struct Dimension {
    size_t dim;
    Halo rows, windows;
    Dims own;
  };
  std::vector<Dimension> exchanged(const AxisSharding& sharding) {
    std::vector<Dimension> out;
    for (size_t dim = 0; dim < window_.dims.size(); ++dim) {
      const int64_t tiles = tile_count(sharding, dim);
      if (tiles == 1 || !is_windowed(dim)) continue;
      const int64_t size = op_.shape().dims[dim], count = op_.operand_shape(1).dims[dim];
      TouchingWindows all = touching(size, tiles, window_.dims[dim]);
      out.push_back({dim, Halo({size}, std::move(all.rows)), Halo({count}, std::move(all.windows)),
                     std::move(all.own)});
    }
    return out;
  }

  double sent_bytes(const Roles& roles) {
    const AxisSharding sharding = sharding_under(op_, op_.shape(), op_.factors().results[0], roles);
    Dims dims;
    std::vector<Halo> rows, windows;
    for (Dimension& one : exchanged(sharding)) {
      dims.push_back(static_cast<int64_t>(one.dim));
      rows.push_back(std::move(one.rows));
      windows.push_back(std::move(one.windows));
    }
    return bytes_to_exchange(local_shape(op_.shape(), sharding), dims, rows) +
           bytes_to_exchange(local_shape(op_.operand_shape(1), sharding), dims, windows);
  }

  Local emit(const LocalOperands& local) {
    LocalCode code = op_.code();
    Shard operand = local.operands[0], source = local.operands[1];
    const std::vector<Dimension> dims = exchanged(operand.sharding);
    Window here = window_;
    for (const Dimension& one : dims) {
      operand.id = one.rows.exchange(op_, std::span(&operand, 1), one.dim,
                                     code.zeros(operand.shape->type, {}));
      source.id =
          one.windows.exchange(op_, std::span(&source, 1), one.dim, code.constant(*neutral_));
      here.dims[one.dim].padding_low = here.dims[one.dim].padding_high = 0;
    }
    const InstructionId all =
        op_.clone_value(std::array{operand.id, source.id, local.operands[2].id}, local.results);
    op_.module().mutable_attributes<SelectAndScatterAttributes>(all).window = here;
    const Shape own = op_.module().shape(all);
    op_.editor().set_shape(all, Shape::array(own.type, code.dims(operand.id)));
    InstructionId out = all;
    for (const Dimension& one : dims)
      out = code.rows_from(out, one.dim, number_by_tile(code, operand.sharding, one.dim, one.own),
                           own.dims[one.dim]);
    return std::vector{out};
  }

  OpPartition& op_;
  Window window_;
  std::optional<Literal> neutral_;
};

}  // namespace

Result<Shards> partition_SelectAndScatter(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  ScatterPartition scatter(op);
  return op.by_factors(scatter.form());
}

}  // namespace hilo
