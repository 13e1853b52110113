// Ops that StableHLO has not, as those that it has.
#include <algorithm>

#include "wire/stablehlo/exporter.h"
#include "wire/stablehlo/vhlo_versions.h"

namespace hilo::mlir {
namespace {

using E = ElementType;

Result<ValueId> one(Result<Leaves> values) {
  if (!values) return std::unexpected(values.error());
  return values->at(0);
}

Result<ValueId> constant(Site& site, int64_t value, ElementType type, const Dims& dims) {
  const TypeId numbers = site.exporter.array_type(E::S64, {});
  HILO_TRY(const ValueId wide, one(site.emit("stablehlo.constant", {}, {numbers},
                                             {{"value", site.builder().splat(value, {})}})));
  HILO_TRY(const ValueId scalar, site.converted(wide, type));
  if (dims.empty()) return scalar;
  return one(site.emit("stablehlo.broadcast_in_dim", std::array{scalar},
                       {site.exporter.array_type(type, dims)},
                       {{"broadcast_dimensions", site.numbers({})}}));
}

Result<ValueId> binary(Site& site, std::string_view op, ValueId a, ValueId b) {
  return one(site.emit(op, std::array{a, b}, {site.builder().program[a].type}));
}

// A loop over the index of the scanned dimension: its state is the number of steps that are done,
// the stacks of what the steps put out, and the carries.
struct ScanLoop {
  Site& site;
  const ScanAttributes& a;
  size_t inputs, outputs;
  int64_t steps;
  std::vector<TypeId> state;

  // A block that has the state as arguments, and ops that go to its end.
  std::pair<Target, Leaves> begin() {
    Target target{site.exporter.new_block(), {}};
    Leaves arguments;
    for (const TypeId type : state) arguments.push_back(site.exporter.new_value(type, "state"));
    site.builder().program.blocks[target.block.value].arguments = arguments;
    return {std::move(target), std::move(arguments)};
  }
  RegionId end(Site& inside, Leaves results) {
    site.exporter.append(inside.target.block,
                         {.name = "stablehlo.return",
                          .operands = std::move(results),
                          .location = site.exporter.location_of(site.instruction())});
    return site.exporter.region_of(inside.target.block);
  }

  Result<RegionId> condition() {
    auto [target, arguments] = begin();
    Site inside{site.exporter, target, site.id, site.name};
    HILO_TRY(const ValueId all, constant(inside, steps, E::S64, {}));
    HILO_TRY(const ValueId goes_on,
             one(inside.emit("stablehlo.compare", std::array{arguments[0], all},
                             {site.exporter.array_type(E::Pred, {})},
                             {{"comparison_direction", site.builder().enumerator("LT")}})));
    return end(inside, {goes_on});
  }

  // [0, .., index, .., 0]
  Result<Leaves> start_indices(Site& inside, ValueId index, int64_t rank) {
    HILO_TRY(const ValueId zero, constant(inside, 0, E::S64, {}));
    Leaves out(static_cast<size_t>(rank), zero);
    out[static_cast<size_t>(a.dimensions[0])] = index;
    return out;
  }

  Result<ValueId> slice_of(Site& inside, size_t input, ValueId index) {
    const Shape& shape = site.operand_shape(input);
    Dims sizes = shape.dims;
    sizes[a.dimensions[0]] = 1;
    Leaves operands = site.leaves(input);
    HILO_TRY(const Leaves starts, start_indices(inside, index, shape.rank()));
    operands.insert(operands.end(), starts.begin(), starts.end());
    HILO_TRY(const ValueId slice, one(inside.emit("stablehlo.dynamic_slice", operands,
                                                  {site.exporter.array_type(shape.type, sizes)},
                                                  {{"slice_sizes", site.numbers(sizes)}})));
    sizes.erase(sizes.begin() + a.dimensions[0]);
    return inside.reshaped(slice, sizes);
  }

  Result<ValueId> put(Site& inside, ValueId stack, ValueId slice, ValueId index) {
    const Program& program = site.builder().program;
    const TypeId type = program[stack].type;
    Dims dims = program[type].dims;
    dims[a.dimensions[0]] = 1;
    HILO_TRY(const ValueId update, inside.reshaped(slice, dims));
    HILO_TRY(const Leaves starts, start_indices(inside, index, std::ssize(dims)));
    Leaves operands = {stack, update};
    operands.insert(operands.end(), starts.begin(), starts.end());
    return one(inside.emit("stablehlo.dynamic_update_slice", operands, {type}));
  }

  Result<RegionId> body() {
    auto [target, arguments] = begin();
    Site inside{site.exporter, target, site.id, site.name};
    HILO_TRY(const ValueId step, constant(inside, 1, E::S64, {}));
    HILO_TRY(const ValueId next, binary(inside, "stablehlo.add", arguments[0], step));
    ValueId index = arguments[0];
    if (a.is_reverse) {
      HILO_TRY(const ValueId all, constant(inside, steps, E::S64, {}));
      HILO_TRY(index, binary(inside, "stablehlo.subtract", all, next));
    }
    std::vector<Leaves> parameters;
    for (size_t i = 0; i < inputs; ++i) {
      HILO_TRY(const ValueId slice, slice_of(inside, i, index));
      parameters.push_back({slice});
    }
    for (size_t i = 1 + outputs; i < arguments.size(); ++i) parameters.push_back({arguments[i]});
    HILO_TRY(Leaves results, site.exporter.convert(a.to_apply, target.block, parameters));
    for (size_t i = 0; i < outputs; ++i) {
      HILO_TRY(results[i], put(inside, arguments[1 + i], results[i], index));
    }
    results.insert(results.begin(), next);
    return end(inside, std::move(results));
  }
};

}  // namespace

Result<void> write_scan(Site& site) {
  const auto& a = site.attributes<ScanAttributes>();
  const auto carries = static_cast<size_t>(a.num_carries);
  HILO_TRY(const std::vector<TypeId> results, site.exporter.leaf_types(site.shape()));
  ScanLoop loop{site,
                a,
                site.count() - carries,
                results.size() - carries,
                site.operand_shape(0).dims[a.dimensions[0]],
                {}};
  loop.state = results;
  loop.state.insert(loop.state.begin(), site.exporter.array_type(E::S64, {}));
  HILO_TRY(const ValueId none, constant(site, 0, E::S64, {}));
  Leaves operands = {none};
  for (size_t i = 0; i < loop.outputs; ++i) {
    const Type& type = site.builder().program[results[i]];
    const Dims dims = type.dims;
    const ElementType element = site.builder().program[type.element_type].element;
    HILO_TRY(operands.emplace_back(), constant(site, 0, element, dims));
  }
  for (size_t i = loop.inputs; i < site.count(); ++i) operands.push_back(site.leaves(i).at(0));
  for (size_t i = 0; i < operands.size(); ++i)
    if (site.builder().program[operands[i]].type != loop.state[i]) return fail_mixed_widths();
  HILO_TRY(const RegionId condition, loop.condition());
  HILO_TRY(const RegionId body, loop.body());
  HILO_TRY(Leaves values,
           site.emit("stablehlo.while", operands, loop.state, {}, {condition, body}));
  values.erase(values.begin());
  site.give(std::move(values));
  return {};
}

bool has_batching_dims(const Site& site) {
  constexpr int batched_gather = 2;  // the version of gather and of scatter
  return version_at(*find_vhlo_op("gather"), site.exporter.release) >= batched_gather;
}

Result<ValueId> add_batch_indices(Site& site, size_t operand, const Dims& batching,
                                  int64_t index_vector_dim) {
  const Shape& shape = site.operand_shape(operand);
  Dims dims = shape.dims;
  if (index_vector_dim == shape.rank()) dims.push_back(1);
  HILO_TRY(ValueId indices, site.reshaped(site.leaves(operand).at(0), dims));
  ElementType type = shape.type;
  for (const int64_t dim : batching)
    if (bits_of(type) < 64 && dims[dim] >> (bits_of(type) - 1) != 0) type = E::S64;
  HILO_TRY(indices, site.converted(indices, type));
  Dims single = dims, whole = dims;
  single[index_vector_dim] = 1;
  whole[index_vector_dim] += std::ssize(batching);
  Leaves parts;
  for (const int64_t dim : batching) {
    HILO_TRY(parts.emplace_back(),
             one(site.emit("stablehlo.iota", {}, {site.exporter.array_type(type, single)},
                           {{"iota_dimension", site.integer(dim)}})));
  }
  parts.push_back(indices);
  return one(site.emit("stablehlo.concatenate", parts, {site.exporter.array_type(type, whole)},
                       {{"dimension", site.integer(index_vector_dim)}}));
}

// The upper half of a product: of 32 bits and less in 64, of 64 bits from halves, whose products
// are added with what they carry. Upper halves keep the sign, lower ones have none.
Result<void> write_multiply_high(Site& site) {
  const Shape shape = site.shape();
  const int bits = bits_of(shape.type);
  const ValueId a = site.leaves(0).at(0), b = site.leaves(1).at(0);
  const bool has_sign = is_signed(shape.type);
  const std::string_view shift =
      has_sign ? "stablehlo.shift_right_arithmetic" : "stablehlo.shift_right_logical";
  const ElementType wide = has_sign ? E::S64 : E::U64;
  const auto shifted = [&](ValueId value, std::string_view op, int by,
                           ElementType type) -> Result<ValueId> {
    HILO_TRY(const ValueId count, constant(site, by, type, shape.dims));
    return binary(site, op, value, count);
  };
  if (bits <= 32) {
    HILO_TRY(const ValueId x, site.converted(a, wide));
    HILO_TRY(const ValueId y, site.converted(b, wide));
    HILO_TRY(const ValueId product, binary(site, "stablehlo.multiply", x, y));
    HILO_TRY(const ValueId high, shifted(product, shift, bits, wide));
    HILO_TRY(const ValueId value, site.converted(high, shape.type));
    site.give({value});
    return {};
  }
  HILO_TRY(const ValueId mask, constant(site, 0xffffffff, shape.type, shape.dims));
  const auto low = [&](ValueId value) { return binary(site, "stablehlo.and", value, mask); };
  const auto high = [&](ValueId value) { return shifted(value, shift, 32, shape.type); };
  const auto times = [&](ValueId x, ValueId y) { return binary(site, "stablehlo.multiply", x, y); };
  const auto plus = [&](ValueId x, ValueId y) { return binary(site, "stablehlo.add", x, y); };
  HILO_TRY(const ValueId a_low, low(a));
  HILO_TRY(const ValueId a_high, high(a));
  HILO_TRY(const ValueId b_low, low(b));
  HILO_TRY(const ValueId b_high, high(b));
  HILO_TRY(const ValueId lows, times(a_low, b_low));
  HILO_TRY(const ValueId carried, shifted(lows, "stablehlo.shift_right_logical", 32, shape.type));
  HILO_TRY(const ValueId first, times(a_high, b_low));
  HILO_TRY(const ValueId middle, plus(first, carried));
  HILO_TRY(const ValueId middle_low, low(middle));
  HILO_TRY(const ValueId second, times(a_low, b_high));
  HILO_TRY(const ValueId other, plus(second, middle_low));
  HILO_TRY(const ValueId highs, times(a_high, b_high));
  HILO_TRY(const ValueId middle_high, high(middle));
  HILO_TRY(const ValueId sum, plus(highs, middle_high));
  HILO_TRY(const ValueId other_high, high(other));
  HILO_TRY(const ValueId value, plus(sum, other_high));
  site.give({value});
  return {};
}

namespace {

// A product of which a dimension of the left side falls into groups, as one product for each group
// over all its indices, masked to those of the group.
struct RaggedDot {
  Site& site;
  const RaggedDotAttributes& a;
  const Shape &left = site.operand_shape(0), &right = site.operand_shape(1),
              &sizes = site.operand_shape(2);
  int64_t ragged = a.lhs_ragged_dims[0], groups = sizes.dims.back();
  ValueId mask = {};  // [before..., groups, ragged]

  Result<ValueId> emit(std::string_view op, std::span<const ValueId> operands, ElementType type,
                       Dims dims, Fields fields = {}, std::vector<RegionId> regions = {}) {
    return one(site.emit(op, operands, {site.exporter.array_type(type, std::move(dims))},
                         std::move(fields), std::move(regions)));
  }
  Result<ValueId> spread(ValueId value, ElementType type, const Dims& dims, const Dims& to) {
    return emit("stablehlo.broadcast_in_dim", std::array{value}, type, to,
                {{"broadcast_dimensions", site.numbers(dims)}});
  }
  static Dims with_front(int64_t first, const Dims& rest) {
    Dims out = {first};
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }
  // Behind the groups.
  static Dims shifted(Dims dims) {
    for (int64_t& dim : dims) ++dim;
    return dims;
  }
  static Dims up_to(const Dims& dims, int64_t end) {
    return {dims.begin(), std::ranges::find(dims, end)};
  }
  Dims left_free() const {
    Dims out;
    for (int64_t d = 0; d < left.rank(); ++d)
      if (std::ranges::count(a.lhs_batch_dims, d) + std::ranges::count(a.lhs_contracting_dims, d) ==
          0)
        out.push_back(d);
    return out;
  }

  // An index is in a group from the end of the group before it on, to its own.
  Result<void> make_mask() {
    Dims triangle = {groups, groups}, masked = sizes.dims;
    masked.push_back(left.dims[ragged]);
    const ElementType type = sizes.type;
    const int64_t last = sizes.rank() - 1;
    Dims whole;
    for (int64_t d = 0; d <= last; ++d) whole.push_back(d);
    const auto iota = [&](const Dims& dims, int64_t dim) {
      return emit("stablehlo.iota", {}, type, dims, {{"iota_dimension", site.integer(dim)}});
    };
    const auto compare = [&](ValueId x, ValueId y, const Dims& dims, std::string_view direction) {
      return emit("stablehlo.compare", std::array{x, y}, E::Pred, dims,
                  {{"comparison_direction", site.builder().enumerator(direction)}});
    };
    HILO_TRY(const ValueId from, iota(triangle, 0));
    HILO_TRY(const ValueId to, iota(triangle, 1));
    HILO_TRY(const ValueId counts, compare(from, to, triangle, "LE"));
    HILO_TRY(const ValueId ones, site.converted(counts, type));
    HILO_TRY(const ValueId none, constant(site, 0, type, sizes.dims));
    HILO_TRY(const ValueId given, binary(site, "stablehlo.maximum", site.leaves(2).at(0), none));
    HILO_TRY(const ValueId ends,
             emit("stablehlo.dot_general", std::array{given, ones}, type, sizes.dims,
                  {{"lhs_contracting_dimensions", site.numbers({last})},
                   {"rhs_contracting_dimensions", site.numbers({0})}}));
    HILO_TRY(const ValueId starts, binary(site, "stablehlo.subtract", ends, given));
    HILO_TRY(const ValueId index, iota(masked, last + 1));
    HILO_TRY(const ValueId first, spread(starts, type, whole, masked));
    HILO_TRY(const ValueId end, spread(ends, type, whole, masked));
    HILO_TRY(const ValueId begun, compare(index, first, masked, "GE"));
    HILO_TRY(const ValueId open, compare(index, end, masked, "LT"));
    HILO_TRY(mask, binary(site, "stablehlo.and", begun, open));
    return {};
  }

  // The value where the mask is set; `dims`: where its dimensions stand in the value.
  Result<ValueId> masked(ValueId value, ElementType type, const Dims& dims, const Dims& shape) {
    HILO_TRY(const ValueId choice, spread(mask, E::Pred, dims, shape));
    HILO_TRY(const ValueId zero, constant(site, 0, type, shape));
    return emit("stablehlo.select", std::array{choice, value, zero}, type, shape);
  }
  // Where the mask's dimensions stand: those before, the groups in front, the ragged one.
  Dims mask_dims(Dims before, int64_t ragged_dim) const {
    if (sizes.rank() == 1) before.clear();
    before.push_back(0);
    before.push_back(ragged_dim);
    return before;
  }

  Result<ValueId> product(ValueId x, ValueId y, const Dims& x_batch, const Dims& y_batch,
                          const Dims& x_contracting, const Dims& y_contracting, const Dims& to) {
    return emit("stablehlo.dot_general", std::array{x, y}, site.shape().type, to,
                {{"lhs_batching_dimensions", site.numbers(x_batch)},
                 {"rhs_batching_dimensions", site.numbers(y_batch)},
                 {"lhs_contracting_dimensions", site.numbers(x_contracting)},
                 {"rhs_contracting_dimensions", site.numbers(y_contracting)},
                 {"precision_config", site.precisions(a.operand_precision)}});
  }

  Result<RegionId> sum() {
    const TypeId type = site.exporter.array_type(site.shape().type, {});
    Target target{site.exporter.new_block(), {}};
    const Leaves arguments = {site.exporter.new_value(type, "x"),
                              site.exporter.new_value(type, "y")};
    site.builder().program.blocks[target.block.value].arguments = arguments;
    Site inside{site.exporter, target, site.id, site.name};
    HILO_TRY(const ValueId value, binary(inside, "stablehlo.add", arguments[0], arguments[1]));
    site.exporter.append(target.block, {.name = "stablehlo.return",
                                        .operands = {value},
                                        .location = site.exporter.location_of(site.instruction())});
    return site.exporter.region_of(target.block);
  }

  // Each group has a matrix of its own: [g, b, m, k] x [g, b, k, n], masked and added over g.
  Result<ValueId> rows(ValueId x, ValueId y) {
    const ElementType type = site.shape().type;
    const Dims many = with_front(groups, left.dims), each = with_front(groups, site.shape().dims);
    Dims own(left.dims.size());
    for (size_t d = 0; d < own.size(); ++d) own[d] = static_cast<int64_t>(d) + 1;
    HILO_TRY(const ValueId lhs, spread(x, left.type, own, many));
    HILO_TRY(const ValueId all,
             product(lhs, y, with_front(0, shifted(a.lhs_batch_dims)),
                     with_front(a.rhs_group_dims[0], a.rhs_batch_dims),
                     shifted(a.lhs_contracting_dims), a.rhs_contracting_dims, each));
    const auto position =
        static_cast<int64_t>(a.lhs_batch_dims.size() + up_to(left_free(), ragged).size());
    Dims before;
    for (int64_t d = 0; d < position; ++d) before.push_back(d + 1);
    HILO_TRY(const ValueId kept, masked(all, type, mask_dims(before, position + 1), each));
    HILO_TRY(const ValueId zero, constant(site, 0, type, {}));
    HILO_TRY(const RegionId reducer, sum());
    return emit("stablehlo.reduce", std::array{kept, zero}, type, site.shape().dims,
                {{"dimensions", site.numbers({0})}}, {reducer});
  }

  // Each group contracts its indices of both sides: the groups are batches.
  Result<ValueId> contractions(ValueId x, ValueId y) {
    const auto side = [&](ValueId value, const Shape& shape, const Dims& batch,
                          const Dims& contracting) -> Result<ValueId> {
      const size_t at = up_to(a.lhs_contracting_dims, ragged).size();
      const Dims many = with_front(groups, shape.dims);
      Dims own(shape.dims.size());
      for (size_t d = 0; d < own.size(); ++d) own[d] = static_cast<int64_t>(d) + 1;
      HILO_TRY(const ValueId wide, spread(value, shape.type, own, many));
      Dims before = batch;
      before.insert(before.end(), contracting.begin(),
                    contracting.begin() + static_cast<ptrdiff_t>(at));
      return masked(wide, shape.type, mask_dims(shifted(before), contracting[at] + 1), many);
    };
    HILO_TRY(const ValueId lhs, side(x, left, a.lhs_batch_dims, a.lhs_contracting_dims));
    HILO_TRY(const ValueId rhs, side(y, right, a.rhs_batch_dims, a.rhs_contracting_dims));
    return product(lhs, rhs, with_front(0, shifted(a.lhs_batch_dims)),
                   with_front(0, shifted(a.rhs_batch_dims)), shifted(a.lhs_contracting_dims),
                   shifted(a.rhs_contracting_dims), site.shape().dims);
  }
};

}  // namespace

Result<void> write_ragged_dot(Site& site) {
  RaggedDot dot{site, site.attributes<RaggedDotAttributes>()};
  const RaggedDotAttributes& a = dot.a;
  const ValueId x = site.leaves(0).at(0), y = site.leaves(1).at(0);
  if (dot.left.type != dot.right.type) return fail_mixed_widths();
  const bool contracts = std::ranges::count(a.lhs_contracting_dims, dot.ragged) > 0;
  const bool is_batch = std::ranges::count(a.lhs_batch_dims, dot.ragged) > 0;
  if (!is_batch) HILO_DO(dot.make_mask());
  HILO_TRY(const ValueId value,
           is_batch ? dot.product(x, y, a.lhs_batch_dims, a.rhs_batch_dims, a.lhs_contracting_dims,
                                  a.rhs_contracting_dims, site.shape().dims)
           : contracts ? dot.contractions(x, y)
                       : dot.rows(x, y));
  site.give({value});
  return {};
}

}  // namespace hilo::mlir
