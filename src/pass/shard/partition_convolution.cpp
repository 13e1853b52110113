// Convolutions. Batches, features and groups are cut as in products. Where positions of windows
// are cut, each device has the rows that its windows cover; where the elements of windows are, it
// has those of its part of the kernel, and gives summands.
#include <algorithm>

#include "pass/shard/window_tiles.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;
using Local = Result<std::vector<InstructionId>>;

class ConvolutionPartition {
 public:
  explicit ConvolutionPartition(OpPartition& op)
      : op_(op),
        labels_(op.attributes<ConvolutionAttributes>().dim_labels),
        window_(op.attributes<ConvolutionAttributes>().window) {
    window_.dims.resize(labels_.input_spatial.size());
    find_spatial_factors();
  }

  LocalForm form() {
    LocalForm out;
    out.reduction = "sum";
    out.may_shard = [this](size_t factor) { return may_shard(factor); };
    out.may_be_uneven = [this](size_t factor) {
      return std::ranges::count(positions_, factor) + std::ranges::count(elements_, factor) > 0;
    };
    out.sent_bytes = [this](const Roles& roles) { return sent_bytes(roles); };
    out.emit = [this](const LocalOperands& local) -> Local { return emit(local); };
    return out;
  }

 private:
  size_t spatial() const { return window_.dims.size(); }

  // A dimension's positions and its window's elements, where tiles of them are tiles of the input.
  void find_spatial_factors() {
    const ShardingFactors& factors = op_.factors();
    for (size_t i = 0; i < spatial(); ++i) {
      const std::vector<size_t>& input = factors.operands[0][labels_.input_spatial[i]];
      const std::vector<size_t>& kernel = factors.operands[1][labels_.kernel_spatial[i]];
      const std::vector<size_t>& output = factors.results[0][labels_.output_spatial[i]];
      for (const auto* dim : {&output, &kernel, &input})
        spatial_.insert(spatial_.end(), dim->begin(), dim->end());
      if (input.empty()) continue;
      const Kind kind = factors.factors[input[0]].kind;
      if (output.size() == 1 && output[0] == input[0] && kind != Kind::Reduction)
        positions_.push_back(input[0]);
      if (kernel.size() == 1 && kernel[0] == input[0] && kind == Kind::Reduction)
        elements_.push_back(input[0]);
    }
  }

  bool may_shard(size_t factor) const {
    if (std::ranges::count(spatial_, factor) > 0)
      return std::ranges::count(positions_, factor) + std::ranges::count(elements_, factor) > 0;
    const Kind kind = op_.factors().factors[factor].kind;
    return kind == Kind::Pass || kind == Kind::Reduction;
  }

  // By dimension of the input.
  WindowsByDim windows(const AxisSharding& input, const AxisSharding& kernel) {
    const Shape &in = op_.operand_shape(0), &out = op_.shape();
    WindowsByDim all(in.dims.size());
    for (size_t i = 0; i < spatial(); ++i) {
      const int64_t dim = labels_.input_spatial[i];
      const int64_t tiles = tile_count(input, dim);
      const bool of_elements = tile_count(kernel, labels_.kernel_spatial[i]) > 1;
      const bool is_plain =
          window_.dims[i] == WindowDim{} && in.dims[dim] == out.dims[labels_.output_spatial[i]];
      if (tiles == 1 || (is_plain && !of_elements)) continue;
      all[dim] = SlidingWindows{in.dims[dim], out.dims[labels_.output_spatial[i]], tiles,
                                window_.dims[i], of_elements};
    }
    return all;
  }

  AxisSharding operand_under(size_t i, const Roles& roles) {
    return sharding_under(op_, op_.operand_shape(i), op_.factors().operands[i], roles);
  }

  double sent_bytes(const Roles& roles) {
    const AxisSharding input = operand_under(0, roles);
    return bytes_to_slide(local_shape(op_.operand_shape(0), input),
                          windows(input, operand_under(1, roles)));
  }

  Local emit(const LocalOperands& local) {
    LocalCode code = op_.code();
    const InstructionId zero = code.zeros(op_.operand_shape(0).type, {});
    Shard input = local.operands[0], kernel = local.operands[1];
    const WindowsByDim all = windows(input.sharding, kernel.sharding);
    input.id = masked(input, 0, labels_.input_spatial, zero);
    kernel.id = masked(kernel, 1, {}, code.zeros(op_.operand_shape(1).type, {}));
    Window by_dim;
    by_dim.dims.resize(all.size());
    Window here = window_;
    const InstructionId rows = slide_all(op_, input, all, by_dim, zero);
    for (size_t i = 0; i < spatial(); ++i)
      if (const int64_t dim = labels_.input_spatial[i]; all[dim]) here.dims[i] = by_dim.dims[dim];
    const InstructionId out = op_.clone_value(std::array{rows, kernel.id}, local.results);
    auto& attributes = op_.module().mutable_attributes<ConvolutionAttributes>(out);
    attributes.window = here;
    attributes.feature_group_count =
        code.dims(rows)[labels_.input_feature] / code.dims(kernel.id)[labels_.kernel_input_feature];
    attributes.batch_group_count =
        code.dims(rows)[labels_.input_batch] / op_.module().shape(out).dims[labels_.output_batch];
    return std::vector{out};
  }

  // Zeros behind what is summed over, but in dimensions that windows slide over.
  InstructionId masked(const Shard& operand, size_t i, const Dims& except, InstructionId zero) {
    std::vector<size_t> dims = op_.dims_of(i, Kind::Reduction);
    std::erase_if(dims, [&](size_t dim) {
      return std::ranges::count(except, static_cast<int64_t>(dim)) > 0;
    });
    return op_.masked(operand, dims, zero);
  }

  OpPartition& op_;
  const ConvolutionLabels labels_;
  Window window_;
  std::vector<size_t> spatial_, positions_, elements_;  // factors
};

}  // namespace

Result<Shards> partition_Convolution(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  ConvolutionPartition convolution(op);
  return op.by_factors(convolution.form());
}

}  // namespace hilo
