// Random programs with windows, offsets that are data, and sorts.
#pragma once

#include "random_program.h"

namespace hilo::test {

class RandomMoves : public RandomProgram {
 public:
  using RandomProgram::RandomProgram;

 protected:
  void window(Pool& pool) override {
    switch (dice_.below(7)) {
      case 0: return slice(pool);
      case 1: return pad(pool);
      case 2: return reverse(pool);
      case 3: return concatenate(pool);
      case 4: return convolution(pool);
      case 5: return select_and_scatter(pool);
      default: return reduce_window(pool);
    }
  }
  void slice(Pool& pool) {
    const InstructionId a = any(pool);
    std::vector<SliceDim> dims;
    for (int64_t dim : shape(a).dims) {
      const int64_t start = dice_.below(2) ? 0 : dice_.below(dim + 1);
      dims.push_back({start, start + dice_.below(dim - start + 1), 1 + dice_.below(2)});
      if (dice_.below(2)) dims.back() = {0, dim, 1};
    }
    add(pool, Op::Slice, Shape(shape(a)), std::array{a}, SliceAttributes{{dims}});
  }
  void pad(Pool& pool) {
    const InstructionId a = any(pool);
    std::vector<PaddingDim> padding;
    for (int64_t i = 0; i < shape(a).rank(); ++i) {
      padding.push_back({dice_.below(5) - 2, dice_.below(5) - 2, dice_.below(3)});
      if (dice_.below(2)) padding.back() = {};
    }
    const InstructionId with = partner(pool, Shape::scalar(shape(a).type));
    add(pool, Op::Pad, Shape(shape(a)), std::array{a, with}, PadAttributes{{padding}});
  }
  void reverse(Pool& pool) {
    const InstructionId a = any(pool);
    add(pool, Op::Reverse, Shape(shape(a)), std::array{a},
        DimensionsAttributes{some_dims(shape(a).rank())});
  }
  void concatenate(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    const int64_t dim = dice_.below(of.rank());
    Shape other = of;
    other.dims[dim] = length();
    std::vector<InstructionId> operands = {a, partner(pool, Shape::array(of.type, other.dims))};
    if (dice_.below(2)) std::swap(operands[0], operands[1]);
    if (dice_.below(2)) operands.push_back(a);
    add(pool, Op::Concatenate, of, operands, DimensionsAttributes{{dim}});
  }

  WindowDim window_dim(bool with_holes) {
    WindowDim out;
    if (dice_.below(3) == 0) return out;
    out.size = 1 + dice_.below(3);
    out.stride = 1 + dice_.below(2);
    out.padding_low = dice_.below(3);
    out.padding_high = dice_.below(3);
    if (!with_holes) return out;
    out.window_dilation = 1 + dice_.below(2);
    out.base_dilation = 1 + dice_.below(2);
    return out;
  }
  void reduce_window(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    ReduceWindowAttributes attributes;
    for (int64_t i = 0; i < of.rank(); ++i) attributes.window.dims.push_back(window_dim(true));
    // All before and with an element, as cumulative sums are.
    if (of.rank() > 0 && dice_.below(4) == 0) {
      const int64_t dim = dice_.below(of.rank()), size = std::max<int64_t>(of.dims[dim], 1);
      attributes.window.dims[dim] = {size, 1, size - 1, 0, 1, 1, false};
    }
    if (of.type != ElementType::Pred && !is_complex(of.type) && dice_.below(4) == 0)
      return reduce_windows_of_pairs(pool, a, std::move(attributes));
    attributes.to_apply = combiner(of.type);
    const InstructionId init = partner(pool, Shape::scalar(of.type));
    tame(pool, add(pool, Op::ReduceWindow, of, std::array{a, init}, attributes), false);
  }
  void reduce_windows_of_pairs(Pool& pool, InstructionId a, ReduceWindowAttributes attributes) {
    const Shape of = shape(a);
    attributes.to_apply = great_and_sum(of.type);
    const std::array operands{a, partner(pool, Shape::array(ElementType::S32, of.dims)),
                              partner(pool, Shape::scalar(of.type)),
                              partner(pool, Shape::scalar(ElementType::S32))};
    const InstructionId both = add(pool, Op::ReduceWindow, of, operands, attributes);
    if (both) elements_instead(pool, both);
  }
  void select_and_scatter(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.type == ElementType::Pred || is_complex(of.type)) return;
    SelectAndScatterAttributes attributes;
    Dims sizes;
    for (int64_t dim : of.dims) {
      const WindowDim one = window_dim(false);
      attributes.window.dims.push_back(one);
      const int64_t whole = dim + one.padding_low + one.padding_high;
      sizes.push_back(whole < one.size ? 0 : (whole - one.size) / one.stride + 1);
    }
    attributes.select = before({of.type}, ComparisonDirection::Ge);
    attributes.scatter = combiner(of.type);
    const InstructionId source = partner(pool, Shape::array(of.type, sizes));
    const std::array operands{a, source, partner(pool, Shape::scalar(of.type))};
    tame(pool, add(pool, Op::SelectAndScatter, of, operands, attributes), false);
  }
  // Batch, features, then the others as often as not; else any.
  Dims some_order(int64_t rank) {
    Dims out = {0, rank - 1};
    for (int64_t i = 1; i + 1 < rank; ++i) out.push_back(i);
    if (dice_.below(2))
      for (int64_t i = rank; i > 1; --i) std::swap(out[i - 1], out[dice_.below(i)]);
    return out;
  }
  void convolution(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.rank() < 2 || of.rank() > 4 || of.type == ElementType::Pred || is_complex(of.type) ||
        (is_floating(of.type) && bits_of(of.type) < 32))
      return;
    const int64_t spatial = of.rank() - 2, outputs = 1 + dice_.below(4);
    const Dims input = some_order(of.rank()), kernel_order = some_order(of.rank()),
               output = some_order(of.rank());
    const auto middle = [](const Dims& order) { return Dims(order.begin() + 2, order.end()); };
    ConvolutionAttributes c;
    c.dim_labels = {.input_batch = input[0],
                    .input_feature = input[1],
                    .input_spatial = middle(input),
                    .kernel_input_feature = kernel_order[0],
                    .kernel_output_feature = kernel_order[1],
                    .kernel_spatial = middle(kernel_order),
                    .output_batch = output[0],
                    .output_feature = output[1],
                    .output_spatial = middle(output),
                    .input_unknown = {},
                    .kernel_unknown = {}};
    Dims kernel(of.dims.size());
    for (int64_t i = 0; i < spatial; ++i) {
      c.window.dims.push_back(window_dim(true));
      c.window.dims.back().reversal = dice_.below(4) == 0;
      kernel[kernel_order[i + 2]] = c.window.dims.back().size;
    }
    const int64_t features = of.dims[input[1]], batch = of.dims[input[0]];
    int64_t groups = 1;
    if (features > 0 && dice_.below(8) == 0) groups = features;
    else if (features % 2 == 0 && features > 0 && dice_.below(4) == 0) groups = 2;
    else if (batch % 2 == 0 && batch > 0 && dice_.below(4) == 0) c.batch_group_count = 2;
    c.feature_group_count = groups;
    kernel[kernel_order[0]] = features / groups;
    kernel[kernel_order[1]] = outputs * groups * c.batch_group_count;
    const Shape weights = Shape::array(of.type, kernel);
    if (element_count(weights) > max_elements_) return;
    tame(pool, add(pool, Op::Convolution, of, std::array{a, partner(pool, weights)}, c), true);
  }

  void data(Pool& pool) override {
    const int64_t which = dice_.below(7);
    if (which < 4 && !groups_.has(OpGroup::Data)) return;
    if (which >= 4 && !groups_.has(OpGroup::Sort)) return;
    switch (which) {
      case 0:
      case 1: return dynamic_slice(pool, any(pool));
      case 2: return gather(pool);
      case 3: return scatter(pool);
      case 4: return sort(pool);
      case 5: return random_bits(pool);
      default: return top_k(pool);
    }
  }
  // They follow from a state, which is given back.
  void random_bits(Pool& pool) {
    const Shape bits =
        Shape::array(dice_.below(2) ? ElementType::U32 : ElementType::U8, some_shape().dims);
    const Shape state = Shape::array(ElementType::U64, {2});
    RngBitGeneratorAttributes attributes;
    attributes.algorithm = dice_.below(2) ? RngAlgorithm::ThreeFry : RngAlgorithm::Philox;
    const InstructionId out =
        module_.add_instruction(pool.computation, Op::RngBitGenerator, Shape::tuple({state, bits}),
                                std::array{partner(pool, state)}, attributes);
    pool.values.push_back(out);
    elements_instead(pool, out);
  }
  // Numbers to look up with, some of them outside.
  InstructionId indices(Pool& pool, int64_t below) {
    Dims dims;
    for (int64_t rank = dice_.below(3); rank > 0; --rank) dims.push_back(length());
    Literal value = Literal::uninitialized(Shape::array(ElementType::S32, dims));
    for (int32_t& index : value.mutable_data<int32_t>())
      index = static_cast<int32_t>(dice_.below(below + 4) - 2);
    const Shape of = value.shape();
    const InstructionId id = literal(pool, std::move(value));
    std::vector<InstructionId> fitting;
    for (InstructionId one : pool.values)
      if (shape(one).type == ElementType::S32 && shape(one).rank() <= 2) fitting.push_back(one);
    return !fitting.empty() && dice_.below(3) ? dice_.pick(fitting) : id;
  }
  // Of an array that has rows in front, so many for each: its own of them, at offsets in two
  // others.
  void gather_in_batches(Pool& pool, InstructionId a) {
    const Shape of = shape(a);
    const int64_t rank = of.rank(), count = length();
    if (rank < 3) return;
    Literal offsets =
        Literal::uninitialized(Shape::array(ElementType::S32, {of.dims[0], count, 2}));
    for (int32_t& offset : offsets.mutable_data<int32_t>())
      offset = static_cast<int32_t>(dice_.below(8) - 2);
    const Shape stated = offsets.shape();
    const InstructionId drawn = literal(pool, std::move(offsets));
    const InstructionId starts = dice_.below(2) ? drawn : partner(pool, stated);
    GatherAttributes g;
    g.slice_sizes = of.dims;
    g.slice_sizes[0] = std::min<int64_t>(1, of.dims[0]);
    for (int64_t dim : {1, 2}) g.slice_sizes[dim] = dice_.below(of.dims[dim] + 1);
    g.operand_batching_dims = {0};
    g.start_indices_batching_dims = {0};
    g.start_index_map = dice_.below(2) ? Dims{1, 2} : Dims{2, 1};
    g.index_vector_dim = 2;
    for (int64_t dim = 1; dim < rank; ++dim) g.offset_dims.push_back(dim + 1);
    add(pool, Op::Gather, of, std::array{a, starts}, g);
  }
  void gather(Pool& pool) {
    const InstructionId a = any(pool);
    if (dice_.below(4) == 0) return gather_in_batches(pool, a);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    const int64_t at = dice_.below(of.rank());
    const InstructionId starts = indices(pool, of.dims[at]);
    const int64_t rank = shape(starts).rank();
    const bool first = dice_.below(2) != 0;
    GatherAttributes g;
    g.slice_sizes = of.dims;
    g.slice_sizes[at] = std::min<int64_t>(1, of.dims[at]);
    g.collapsed_slice_dims = {at};
    g.start_index_map = {at};
    g.index_vector_dim = rank;
    for (int64_t i = 0; i + 1 < of.rank(); ++i) {
      if (dice_.below(4) == 0) {
        int64_t& size = g.slice_sizes[i < at ? i : i + 1];
        size = dice_.below(size + 1);
      }
      g.offset_dims.push_back(first ? i : i + rank);
    }
    add(pool, Op::Gather, of, std::array{a, starts}, g);
  }
  void scatter(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    const int64_t at = dice_.below(of.rank());
    const InstructionId starts = indices(pool, of.dims[at]);
    ScatterAttributes s;
    const int64_t rank = shape(starts).rank();
    Dims updates = shape(starts).dims;
    for (int64_t i = 0; i < of.rank(); ++i)
      if (i != at) {
        s.update_window_dims.push_back(std::ssize(updates));
        updates.push_back(of.dims[i]);
      }
    s.inserted_window_dims = {at};
    s.scatter_dims_to_operand_dims = {at};
    s.index_vector_dim = rank;
    const Shape update = Shape::array(of.type, updates);
    if (element_count(update) > max_elements_) return;
    s.to_apply = combiner(of.type);
    const std::array operands{a, starts, partner(pool, update)};
    tame(pool, add(pool, Op::Scatter, of, operands, s), false);
  }

  ComputationId before(const std::vector<ElementType>& types, ComparisonDirection direction) {
    const ComputationId body = module_.add_computation("before");
    std::vector<InstructionId> parameters;
    for (ElementType type : types)
      for (int side = 0; side < 2; ++side)
        parameters.push_back(parameter(body, Shape::scalar(type)));
    finish(body, module_.add_instruction(body, Op::Compare, Shape::scalar(ElementType::Pred),
                                         std::array{parameters[0], parameters[1]},
                                         CompareAttributes{direction}));
    return body;
  }
  void sort(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar() || of.type == ElementType::Pred || is_complex(of.type)) return;
    SortAttributes attributes;
    attributes.dimensions = {dice_.below(of.rank())};
    attributes.is_stable = true;
    const auto direction = dice_.below(2) ? ComparisonDirection::Lt : ComparisonDirection::Gt;
    std::vector<InstructionId> operands = {a};
    std::vector<ElementType> types = {of.type};
    for (int64_t more = dice_.below(3); more > 0; --more) {
      types.push_back(some_type());
      operands.push_back(partner(pool, Shape::array(types.back(), of.dims)));
    }
    attributes.to_apply = before(types, direction);
    const InstructionId out = add(pool, Op::Sort, of, operands, attributes);
    if (out && operands.size() > 1) elements_instead(pool, out);
  }
  void top_k(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar() || of.dims.back() == 0 || of.type == ElementType::Pred ||
        is_complex(of.type))
      return;
    const int64_t k = 1 + dice_.below(of.dims.back());
    Dims dims = of.dims;
    dims.back() = k;
    const Shape both =
        Shape::tuple({Shape::array(of.type, dims), Shape::array(ElementType::S32, dims)});
    const InstructionId out =
        add(pool, Op::TopK, both, std::array{a}, TopKAttributes{k, dice_.below(2) != 0, {}});
    if (out) elements_instead(pool, out);
  }
  void elements_instead(Pool& pool, InstructionId of) {
    std::erase(pool.values, of);
    for (int64_t i = 0; i < std::ssize(shape(of).elements); ++i)
      pool.values.push_back(element(pool.computation, of, i));
  }
};

}  // namespace hilo::test
