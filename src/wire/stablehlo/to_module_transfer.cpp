// Tuples, tokens, and values that enter and leave the program.
#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {

Result<void> convert_tuple(Step& step) {
  HILO_TRY(const InstructionId value, step.add(Op::Tuple, step.operands));
  return step.give(value);
}

Result<void> convert_get_tuple_element(Step& step) {
  GetTupleElementAttributes attributes;
  HILO_TRY(attributes.index, step.integer("index"));
  HILO_TRY(const InstructionId value, step.add(Op::GetTupleElement, step.operands, attributes));
  return step.give(value);
}

Result<void> convert_after_all(Step& step) {
  HILO_TRY(const InstructionId value, step.add(Op::AfterAll, step.operands));
  return step.give(value);
}

Result<void> convert_optimization_barrier(Step& step) {
  HILO_TRY(const InstructionId whole, step.converter.tuple(step.scope, step.operands, step.origin));
  HILO_TRY(const InstructionId value, step.add(Op::OptimizationBarrier, {whole}));
  return step.give(value);
}

namespace {

Result<TransferAttributes> transfer_attributes(const Step& step) {
  TransferAttributes out;
  HILO_TRY(const int64_t channel, step.integer("channel_id", 0));
  if (channel > 0) out.channel_id = channel;
  HILO_TRY(out.is_host_transfer, step.flag("is_host_transfer"));
  constexpr int64_t device_to_device = 1, device_to_host = 2, host_to_device = 3;
  const int64_t host = step.row.op == Op::Send ? device_to_host : host_to_device;
  const int64_t expected = out.is_host_transfer ? host : device_to_device;
  HILO_TRY(const int64_t type, step.integer("channel_type", expected));
  if (type != 0 && type != expected)
    return step.misfit("expected channel type {} as is_host_transfer is {}, found {}", expected,
                       out.is_host_transfer, type);
  return out;
}

// All results but the token: the one, or a tuple.
Result<Shape> received_shape(Step& step) {
  std::vector<Shape> values;
  for (size_t i = 0; i + 1 < step.result_count(); ++i) {
    HILO_TRY(values.emplace_back(), step.concrete(i));
    if (!values[i].is_array())
      return step.misfit("expected an array as result {}, found {}", i,
                         to_string_without_layout(values[i]));
  }
  return values.size() == 1 ? values[0] : Shape::tuple(std::move(values));
}

// Values and token of what gave (values, token).
Result<void> give_received(Step& step, InstructionId pair) {
  HILO_TRY(const auto parts, step.converter.untuple(step.scope, pair, 2, step.origin));
  const size_t n = step.result_count() - 1;
  HILO_TRY(const auto values, step.converter.untuple(step.scope, parts[0], n, step.origin));
  for (size_t i = 0; i < n; ++i) HILO_DO(step.give(i, values[i]));
  return step.give(n, parts[1]);
}

// A list of integers for each array.
Result<void> need_layouts(const Step& step, size_t arrays) {
  const Attribute* layouts = step.find("layout");
  if (!layouts || (layouts->kind == AttributeKind::Array && layouts->items.empty())) return {};
  if (layouts->kind != AttributeKind::Array || layouts->items.size() != arrays)
    return step.misfit("expected {} layouts, found {}", arrays, layouts->items.size());
  for (AttributeId layout : layouts->items)
    if (const Attribute& one = step.program()[layout];
        one.kind != AttributeKind::Array || !integers_of(step.program(), one))
      return step.misfit("expected a layout as a list of integers");
  return {};
}

// All operands but the token, as one value.
Result<InstructionId> sent_value(Step& step) {
  HILO_DO(step.need_operands(1));
  return step.converter.tuple(step.scope, std::span(step.operands).first(step.count() - 1),
                              step.origin);
}

}  // namespace

Result<void> convert_send(Step& step) {
  HILO_TRY(const InstructionId value, sent_value(step));
  HILO_TRY(const TransferAttributes attributes, transfer_attributes(step));
  HILO_TRY(const InstructionId start,
           step.add(Op::Send, {value, step.operands.back()}, attributes));
  HILO_DO(step.annotate(start));
  HILO_TRY(const InstructionId end, step.add(Op::SendDone, {start}, attributes));
  return step.give(end);
}

Result<void> convert_recv(Step& step) {
  if (step.result_count() == 0) return step.misfit("expected a token as result");
  HILO_TRY(const TransferAttributes attributes, transfer_attributes(step));
  HILO_TRY(Shape value, received_shape(step));
  const Shape shape =
      Shape::tuple({std::move(value), Shape::scalar(ElementType::U32), Shape::token()});
  HILO_TRY(const InstructionId start, step.add(Op::Recv, step.operands, attributes, &shape));
  HILO_DO(step.annotate(start));
  HILO_TRY(const InstructionId end, step.add(Op::RecvDone, {start}, attributes));
  HILO_DO(step.annotate(end));
  return give_received(step, end);
}

Result<void> convert_infeed(Step& step) {
  if (step.result_count() == 0) return step.misfit("expected a token as result");
  HILO_DO(need_layouts(step, step.result_count() - 1));
  InfeedAttributes attributes;
  HILO_TRY(attributes.infeed_config, step.text("infeed_config", ""));
  HILO_TRY(Shape value, received_shape(step));
  const Shape shape = Shape::tuple({std::move(value), Shape::token()});
  HILO_TRY(const InstructionId received,
           step.add(Op::Infeed, step.operands, std::move(attributes), &shape));
  HILO_DO(step.annotate(received));
  return give_received(step, received);
}

Result<void> convert_outfeed(Step& step) {
  OutfeedAttributes attributes;
  HILO_TRY(const InstructionId value, sent_value(step));
  HILO_TRY(attributes.outfeed_config, step.text("outfeed_config", ""));
  attributes.outfeed_shape = step.module().shape(value);
  HILO_TRY(const InstructionId token,
           step.add(Op::Outfeed, {value, step.operands.back()}, std::move(attributes)));
  return step.give(token);
}

}  // namespace hilo::mlir
