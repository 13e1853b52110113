#include "pass/shard/local_code.h"

#include <algorithm>
#include <numeric>
#include <ranges>

namespace hilo {
namespace {

// Of a collective between the devices that differ along the axes.
template <class Attributes>
Attributes along(const Mesh& mesh, std::span<const SubAxis> axes, int64_t channel) {
  Attributes out;
  out.channel_id = channel;
  out.replica_groups = replica_groups(mesh, axes);
  return out;
}

template <class T>
std::optional<Literal> table_of(const Dims& dims, std::span<const int64_t> numbers) {
  const auto fits = [](int64_t number) { return std::in_range<T>(number); };
  if (!std::ranges::all_of(numbers, fits)) return std::nullopt;
  const std::vector<T> narrow(numbers.begin(), numbers.end());
  return Literal::from<T>(dims, std::span(narrow));
}

// Each device holds all tables of the program all the time.
Literal narrowest_table(const Dims& dims, std::span<const int64_t> numbers) {
  if (auto bytes = table_of<uint8_t>(dims, numbers)) return *std::move(bytes);
  if (auto halves = table_of<uint16_t>(dims, numbers)) return *std::move(halves);
  auto words = table_of<int32_t>(dims, numbers);
  check(words.has_value(), "a table of numbers that 32 bits do not hold");
  return *std::move(words);
}

}  // namespace

InstructionId LocalCode::reshape(InstructionId value, Dims to) {
  if (dims(value) == to) return value;
  const Shape shape = Shape::array(type(value), std::move(to));
  return editor_.add(like_, Op::Reshape, shape, std::array{value});
}

InstructionId LocalCode::transpose(InstructionId value, Dims permutation) {
  if (std::ranges::is_sorted(permutation)) return value;
  return editor_.add_inferred(like_, Op::Transpose, std::array{value},
                              DimensionsAttributes{std::move(permutation)});
}

InstructionId LocalCode::resize(InstructionId value, std::span<const int64_t> to) {
  const Dims from = dims(value);
  const auto shrinks = [&](size_t dim) { return to[dim] <= from[dim]; };
  if (std::ranges::all_of(std::views::iota(size_t{0}, to.size()), shrinks))
    return slice(value, Dims(to.size(), 0), Dims(to.begin(), to.end()));
  PaddingConfig padding;  // negative: cut off
  for (size_t dim = 0; dim < to.size(); ++dim) padding.dims.push_back({0, to[dim] - from[dim], 0});
  const InstructionId zero = zeros(type(value), {});
  return editor_.add_inferred(like_, Op::Pad, std::array{value, zero},
                              PadAttributes{std::move(padding)});
}

InstructionId LocalCode::pad(InstructionId value, std::span<const int64_t> low,
                             std::span<const int64_t> high, InstructionId scalar) {
  PaddingConfig padding;
  for (size_t dim = 0; dim < low.size(); ++dim) padding.dims.push_back({low[dim], high[dim], 0});
  return editor_.add_inferred(like_, Op::Pad, std::array{value, scalar},
                              PadAttributes{std::move(padding)});
}

InstructionId LocalCode::slice(InstructionId value, std::span<const int64_t> starts, Dims sizes) {
  if (dims(value) == sizes) return value;
  SliceDims slice;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    slice.dims.push_back({starts[dim], starts[dim] + sizes[dim], 1});
  return editor_.add_inferred(like_, Op::Slice, std::array{value},
                              SliceAttributes{std::move(slice)});
}

InstructionId LocalCode::concatenate(std::span<const InstructionId> values, int64_t dimension) {
  if (values.size() == 1) return values[0];
  return editor_.add_inferred(like_, Op::Concatenate, values, DimensionsAttributes{{dimension}});
}

InstructionId LocalCode::broadcast(InstructionId value, Dims to, Dims mapping) {
  if (dims(value) == to) return value;
  const Shape shape = Shape::array(type(value), std::move(to));
  return editor_.add(like_, Op::Broadcast, shape, std::array{value},
                     DimensionsAttributes{std::move(mapping)});
}

InstructionId LocalCode::zeros(ElementType type, Dims to) {
  if (to.empty()) return editor_.add_constant(like_, scalar_of(type, 0));
  return editor_.add_splat(like_, Shape::array(type, std::move(to)), 0);
}

InstructionId LocalCode::splat(Dims to, const Literal& scalar) {
  return editor_.add_splat(like_, Shape::array(scalar.type(), std::move(to)), scalar);
}

InstructionId LocalCode::slice_rows(InstructionId value, size_t dim, int64_t start, int64_t limit,
                                    int64_t stride) {
  if (start == 0 && limit == dims(value)[dim] && stride == 1) return value;
  const Module& module = editor_.module();
  SliceAttributes attributes;
  if (module[value].op == Op::Slice && module.users(value).empty()) {
    attributes = module.attributes<SliceAttributes>(value);
    value = module.operand(value, 0);
  } else {
    for (int64_t size : dims(value)) attributes.slice.dims.push_back({0, size, 1});
  }
  // Of a slice, rows of rows: those of the array.
  SliceDim& one = attributes.slice.dims[dim];
  one.limit = one.start + (limit - 1) * one.stride + 1;
  one.start += start * one.stride;
  one.stride *= stride;
  return editor_.add_inferred(like_, Op::Slice, std::array{value}, std::move(attributes));
}

InstructionId LocalCode::pad_rows(InstructionId value, size_t dim, PaddingDim padding,
                                  InstructionId scalar) {
  if (padding == PaddingDim{}) return value;
  PadAttributes attributes;
  attributes.padding.dims.resize(dims(value).size());
  attributes.padding.dims[dim] = padding;
  return editor_.add_inferred(like_, Op::Pad, std::array{value, scalar}, std::move(attributes));
}

InstructionId LocalCode::rows_from(InstructionId value, size_t dim, InstructionId start,
                                   int64_t rows) {
  Dims sizes = dims(value);
  if (sizes[dim] == rows) return value;  // starts are clamped
  std::vector<InstructionId> starts(sizes.size(), number(0));
  starts[dim] = start;
  sizes[dim] = rows;
  return dynamic_slice(value, starts, std::move(sizes));
}

InstructionId LocalCode::dynamic_slice(InstructionId value, std::span<const InstructionId> starts,
                                       Dims sizes) {
  std::vector<InstructionId> operands = {value};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return editor_.add_inferred(like_, Op::DynamicSlice, operands,
                              DynamicSliceAttributes{std::move(sizes)});
}

InstructionId LocalCode::update(InstructionId value, InstructionId part,
                                std::span<const InstructionId> starts) {
  std::vector<InstructionId> operands = {value, part};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return editor_.add_inferred(like_, Op::DynamicUpdateSlice, operands);
}

InstructionId LocalCode::select(InstructionId scalar, InstructionId then, InstructionId otherwise) {
  return select_each(broadcast(scalar, dims(then), {}), then, otherwise);
}

InstructionId LocalCode::select_each(InstructionId mask, InstructionId then,
                                     InstructionId otherwise) {
  return editor_.add_inferred(like_, Op::Select, std::array{mask, then, otherwise});
}

InstructionId LocalCode::iota(ElementType type, Dims dims, int64_t dimension) {
  return editor_.add(like_, Op::Iota, Shape::array(type, std::move(dims)), {},
                     IotaAttributes{dimension});
}

InstructionId LocalCode::compare(InstructionId a, InstructionId b, ComparisonDirection direction) {
  const Shape shape = Shape::array(ElementType::Pred, dims(a));
  return editor_.add(like_, Op::Compare, shape, std::array{a, b},
                     CompareAttributes{.direction = direction});
}

InstructionId LocalCode::convert(InstructionId value, ElementType to) {
  if (type(value) == to) return value;
  return editor_.add(like_, Op::Convert, Shape::array(to, dims(value)), std::array{value});
}

InstructionId LocalCode::number(int64_t value) {
  return editor_.add_constant(like_, Literal::scalar<int32_t>(static_cast<int32_t>(value)));
}

InstructionId LocalCode::binary(Op op, InstructionId a, InstructionId b) {
  return editor_.add_inferred(like_, op, std::array{a, b});
}

InstructionId LocalCode::scaled(InstructionId value, int64_t factor) {
  return factor == 1 ? value : binary(Op::Multiply, value, number(factor));
}

InstructionId LocalCode::clamp(InstructionId value, int64_t least, int64_t greatest) {
  const Dims size = dims(value);
  const InstructionId low = broadcast(number(least), size, {});
  const InstructionId high = broadcast(number(greatest), size, {});
  return binary(Op::Minimum, binary(Op::Maximum, value, low), high);
}

InstructionId LocalCode::partition() {
  if (partition_) return partition_;
  const InstructionId id = editor_.add(like_, Op::PartitionId, Shape::scalar(ElementType::U32), {});
  partition_ = editor_.add(like_, Op::Convert, Shape::scalar(ElementType::S32), std::array{id});
  return partition_;
}

InstructionId LocalCode::position(const Mesh& mesh) {
  if (mesh.device_ids.empty() && !mesh.device_iota) return partition();
  const Dims devices = mesh.devices();
  std::vector<Dims> table(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) table[devices[i]] = {static_cast<int64_t>(i)};
  return row(table)[0];
}

// Digit by digit: position / stride % size, in a mixed radix.
InstructionId LocalCode::coordinate(const Mesh& mesh, std::span<const SubAxis> axes) {
  if (axes_size(axes) == 1) return number(0);
  const InstructionId at = position(mesh);
  InstructionId out;
  int64_t factor = axes_size(axes);
  for (const SubAxis& axis : axes) {
    const int64_t stride = stride_of(mesh, axis);
    InstructionId digit = stride == 1 ? at : binary(Op::Divide, at, number(stride));
    if (stride * axis.size < mesh_size(mesh))
      digit = binary(Op::Remainder, digit, number(axis.size));
    factor /= axis.size;
    digit = scaled(digit, factor);
    out = out ? binary(Op::Add, out, digit) : digit;
  }
  return out;
}

std::vector<InstructionId> LocalCode::row(const std::vector<Dims>& table) {
  std::vector<InstructionId> out(table[0].size());
  std::vector<size_t> columns;  // in which devices have different numbers
  for (size_t column = 0; column < out.size(); ++column) {
    const int64_t first = table[0][column];
    if (std::ranges::all_of(table, [&](const Dims& row) { return row[column] == first; }))
      out[column] = number(first);
    else columns.push_back(column);
  }
  if (columns.empty()) return out;
  Dims numbers;
  for (const Dims& row : table)
    for (size_t column : columns) numbers.push_back(row[column]);
  const InstructionId all =
      constant(narrowest_table({std::ssize(table), std::ssize(columns)}, numbers));
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto column = number(static_cast<int64_t>(i));
    const InstructionId one = dynamic_slice(all, std::array{partition(), column}, {1, 1});
    out[columns[i]] = convert(reshape(one, {}), ElementType::S32);
  }
  return out;
}

InstructionId LocalCode::is_first(const Mesh& mesh, std::span<const SubAxis> axes) {
  return compare(coordinate(mesh, axes), number(0), ComparisonDirection::Eq);
}

InstructionId LocalCode::is_listed(const std::vector<bool>& devices) {
  std::vector<Dims> table;
  for (bool listed : devices) table.push_back({listed});
  const InstructionId one = row(table)[0];
  return compare(one, number(0), ComparisonDirection::Ne);
}

InstructionId LocalCode::all_gather(InstructionId value, const Mesh& mesh,
                                    std::span<const SubAxis> axes, int64_t channel,
                                    size_t dimension) {
  auto attributes = along<AllGatherAttributes>(mesh, axes, channel);
  attributes.dimensions = {static_cast<int64_t>(dimension)};
  attributes.use_global_device_ids = true;
  Dims to = dims(value);
  to[dimension] *= axes_size(axes);
  const Shape shape = Shape::array(type(value), std::move(to));
  return editor_.add(like_, Op::AllGather, shape, std::array{value}, std::move(attributes));
}

InstructionId LocalCode::all_to_all(InstructionId value, const Mesh& mesh,
                                    std::span<const SubAxis> axes, int64_t channel) {
  auto attributes = along<AllToAllAttributes>(mesh, axes, channel);
  attributes.dimensions = Dims{0};
  const Shape shape = editor_.module().shape(value);
  return editor_.add(like_, Op::AllToAll, shape, std::array{value}, std::move(attributes));
}

InstructionId LocalCode::all_reduce(InstructionId value, const Mesh& mesh,
                                    std::span<const SubAxis> axes, ComputationId reducer,
                                    int64_t channel) {
  auto attributes = along<AllReduceAttributes>(mesh, axes, channel);
  attributes.use_global_device_ids = true;
  attributes.to_apply = reducer;
  const Shape shape = editor_.module().shape(value);
  return editor_.add(like_, Op::AllReduce, shape, std::array{value}, std::move(attributes));
}

InstructionId LocalCode::reduce_scatter(InstructionId value, const Mesh& mesh,
                                        std::span<const SubAxis> axes, ComputationId reducer,
                                        int64_t channel, size_t dimension) {
  auto attributes = along<ReduceScatterAttributes>(mesh, axes, channel);
  attributes.use_global_device_ids = true;
  attributes.dimensions = {static_cast<int64_t>(dimension)};
  attributes.to_apply = reducer;
  Dims to = dims(value);
  to[dimension] /= axes_size(axes);
  return editor_.add(like_, Op::ReduceScatter, Shape::array(type(value), std::move(to)),
                     std::array{value}, std::move(attributes));
}

InstructionId LocalCode::broadcast_from(int64_t device, InstructionId value, int64_t devices,
                                        int64_t channel) {
  CollectiveBroadcastAttributes attributes;
  attributes.channel_id = channel;
  Dims group = {device};
  for (int64_t other = 0; other < devices; ++other)
    if (other != device) group.push_back(other);
  attributes.replica_groups.groups = {std::move(group)};
  const Shape shape = editor_.module().shape(value);
  return editor_.add(like_, Op::CollectiveBroadcast, shape, std::array{value},
                     std::move(attributes));
}

InstructionId LocalCode::broadcast_from_first(InstructionId value, const Mesh& mesh,
                                              std::span<const SubAxis> axes, int64_t channel) {
  const Shape shape = editor_.module().shape(value);
  return editor_.add(like_, Op::CollectiveBroadcast, shape, std::array{value},
                     along<CollectiveBroadcastAttributes>(mesh, axes, channel));
}

ComputationId LocalCode::reducer(Op op, ElementType type) {
  Module& module = editor_.module();
  const ComputationId out = module.add_computation(fmt::format("{}.reducer", text_of(op)));
  const Shape scalar = Shape::scalar(type);
  const InstructionId a = editor_.add_parameter(out, like_, scalar);
  const InstructionId b = editor_.add_parameter(out, like_, scalar);
  module[out].root = editor_.add(a, op, scalar, std::array{a, b});
  return out;
}

InstructionId LocalCode::permute(InstructionId value,
                                 std::vector<std::pair<int64_t, int64_t>> pairs, int64_t channel) {
  CollectivePermuteAttributes attributes;
  attributes.channel_id = channel;
  attributes.source_target_pairs.pairs = std::move(pairs);
  const Shape shape = editor_.module().shape(value);
  return editor_.add(like_, Op::CollectivePermute, shape, std::array{value}, std::move(attributes));
}

}  // namespace hilo
