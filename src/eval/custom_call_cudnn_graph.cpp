// __cudnn$convForwardGraph: a convolution and what follows it element by element, as a text
// `UID:[TYPE]NAME(UIDS);...` where arguments that are no ops of the graph are the custom call's
// further operands, in order. References: CudnnConvBackendConfig::serialized_graph in
// xla/service/gpu/backend_configs.proto, xla/service/gpu/transforms/cudnn_fused_conv_rewriter.h.
#include <algorithm>
#include <charconv>

#include "eval/custom_call_cudnn.h"
#include "eval/custom_call_epilogue.h"

namespace hilo {
namespace {

struct GraphOp {
  int64_t id = 0;
  ElementType type = ElementType::Invalid;
  std::string name;
  Dims arguments;                // ids
  std::vector<size_t> operands;  // of the custom call, behind the arguments
};

constexpr int64_t max_ops = 256;

// Arguments that an op takes; -1: there is no such op.
int argument_count(std::string_view name) {
  if (name == "conv") return 0;
  for (std::string_view unary : {"relu", "elu", "amax"})
    if (name == unary) return 1;
  for (std::string_view binary : {"add", "scale", "invscale", "min", "max"})
    if (name == binary) return 2;
  return -1;
}

std::optional<int64_t> number_of(std::string_view text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// The part before `mark`, which is taken off the text with it.
std::string_view take_until(std::string_view& text, char mark) {
  const size_t at = std::min(text.find(mark), text.size());
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + 1));
  return out;
}

std::optional<GraphOp> read_op(std::string_view text) {
  GraphOp out;
  const auto id = number_of(take_until(text, ':'));
  if (!id || !text.starts_with('[')) return std::nullopt;
  text.remove_prefix(1);
  const auto type = element_type_of(take_until(text, ']'));
  if (!type || !is_floating(*type)) return std::nullopt;
  out.id = *id, out.type = *type, out.name = take_until(text, '(');
  std::string_view arguments = take_until(text, ')');
  while (!arguments.empty()) {
    const auto argument = number_of(take_until(arguments, ','));
    if (!argument) return std::nullopt;
    out.arguments.push_back(*argument);
  }
  return out;
}

Result<std::vector<GraphOp>> read_graph(const Call& call, std::string_view text) {
  std::vector<GraphOp> out;
  size_t operand = 2;
  const std::string whole(text);
  while (!text.empty()) {
    auto op = read_op(take_until(text, ';'));
    const int count = op ? argument_count(op->name) : -1;
    if (count < 0 || std::ssize(op->arguments) > count)
      return call.error(ErrorKind::Unsupported, fmt::format("the graph '{}'", whole));
    while (std::ssize(op->arguments) + std::ssize(op->operands) < count)
      op->operands.push_back(operand++);
    out.push_back(std::move(*op));
    if (std::ssize(out) > max_ops)
      return call.error(ErrorKind::Limit, fmt::format("more than {} ops in a graph", max_ops));
  }
  if (out.empty()) out.push_back({0, ElementType::F32, "conv", {}, {}});
  if (operand != call.operands.size())
    return call.error(ErrorKind::Shape, fmt::format("{} operands; the graph '{}' wants {}",
                                                    call.operands.size(), whole, operand));
  return out;
}

class Graph {
 public:
  Graph(Steps& steps, std::vector<GraphOp> ops, StepValue convolution)
      : steps_(steps),
        ops_(std::move(ops)),
        values_(ops_.size()),
        open_(ops_.size()),
        convolution_(std::move(convolution)) {}

  // The result: what no other op but a reduction reads. Then reductions in their order.
  std::vector<StepValue> results() {
    std::vector<StepValue> out(1);
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].name == "amax") out.push_back(value(i));
      else if (!is_read(ops_[i].id)) out[0] = value(i);
    }
    return out;
  }

 private:
  bool is_read(int64_t id) const {
    return std::ranges::any_of(ops_, [&](const GraphOp& op) {
      return op.name != "amax" && std::ranges::count(op.arguments, id) > 0;
    });
  }

  StepValue nothing(std::string message) {
    steps_.fail(ErrorKind::Shape, std::move(message));
    return convolution_;
  }

  // Ops may stand before their arguments.
  StepValue value(size_t i) {
    if (values_[i]) return *values_[i];
    if (open_[i]) return nothing("an op of the graph needs its own value");
    open_[i] = true;
    std::vector<StepValue> arguments;
    for (int64_t id : ops_[i].arguments) {
      const auto at = std::ranges::find(ops_, id, &GraphOp::id);
      arguments.push_back(at == ops_.end() ? nothing(fmt::format("no op {} in the graph", id))
                                           : value(at - ops_.begin()));
    }
    for (size_t operand : ops_[i].operands) {
      StepValue other = steps_.convert(steps_.operand(operand), convolution_.shape.type);
      arguments.push_back(broadcast_right(steps_, std::move(other), convolution_.shape));
    }
    values_[i] = rounded(compute(ops_[i].name, std::move(arguments)), ops_[i].type);
    return *values_[i];
  }

  StepValue compute(std::string_view name, std::vector<StepValue> a) {
    if (name == "conv") return convolution_;
    if (name == "relu") return relu(steps_, std::move(a[0]));
    if (name == "elu") return elu(steps_, a[0]);
    if (name == "amax")
      return steps_.scalar(largest_magnitude(a[0]), with_dims(convolution_.shape, {}));
    const Op op = name == "add"        ? Op::Add
                  : name == "invscale" ? Op::Divide
                  : name == "min"      ? Op::Minimum
                  : name == "max"      ? Op::Maximum
                                       : Op::Multiply;
    return steps_.binary(op, std::move(a[0]), std::move(a[1]));
  }

  // To the op's type and back: what is narrower rounds.
  StepValue rounded(StepValue value, ElementType type) {
    const ElementType held = value.shape.type;
    if (bits_of(type) >= bits_of(held)) return value;
    value = bits_of(type) == 8 ? saturate(steps_, std::move(value), type)
                               : steps_.convert(std::move(value), type);
    return steps_.convert(std::move(value), held);
  }

  Steps& steps_;
  std::vector<GraphOp> ops_;
  std::vector<std::optional<StepValue>> values_;
  std::vector<bool> open_;
  StepValue convolution_;
};

}  // namespace

// Operands: input, kernel, those of the graph. Results: its value, largest magnitudes, workspace.
Result<Literal> call_convolution_graph(Call& call) {
  HILO_TRY(const ConvolutionAttributes attributes, forward_attributes(call));
  HILO_TRY(const BackendConfig config, BackendConfig::parse(call));
  const BackendConfig inner = config.inside("cudnn_conv_backend_config");
  HILO_TRY(std::vector<GraphOp> ops, read_graph(call, inner.text("serialized_graph", "")));
  const Shape& output = output_shape(call);
  Steps steps(call);
  const Shape shape = with_type(
      compute_shape(output), output.type == ElementType::F64 ? ElementType::F64 : ElementType::F32);
  StepValue convolution =
      steps.op(Op::Convolution, shape, {steps.operand(0), steps.operand(1)}, attributes);
  convolution = times(steps, std::move(convolution), inner.number("conv_result_scale", 1));
  std::vector<StepValue> results = Graph(steps, std::move(ops), std::move(convolution)).results();
  if (steps.failed()) return steps.finish({});
  if (!results[0].literal.has_value())
    return call.error(ErrorKind::Shape, "every op of the graph is read by another");
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& stated = call.shape().is_tuple() ? call.shape().elements[i] : call.shape();
    results[i] = steps.convert(std::move(results[i]), stated.type);
    if (!call.shape().is_tuple() || i + 1 == call.shape().elements.size()) results.resize(i + 1);
  }
  return steps.finish(std::move(results));
}

}  // namespace hilo
