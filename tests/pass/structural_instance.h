// Ops that move, combine and reorder arrays, with random attributes, for a result of a given shape.
// Operands that a pattern names are made by it; others come from anywhere.
#pragma once

#include "instance_parts.h"

namespace hilo::test {

class StructuralInstance : public InstanceParts {
 protected:
  using InstanceParts::InstanceParts;
  // Operand i of the pattern's node, as an array of this shape.
  virtual InstructionId operand_of(int node, int i, const Shape& shape) = 0;

  using Maker = InstructionId (StructuralInstance::*)(int node, const Shape&);
  static Maker maker_of(Op op) {
    using S = StructuralInstance;
    static constexpr std::pair<Op, Maker> makers[] = {
        {Op::AfterAll, &S::after_all},
        {Op::Bitcast, &S::bitcast},
        {Op::BitcastConvert, &S::bitcast_convert},
        {Op::Broadcast, &S::broadcast},
        {Op::Concatenate, &S::concatenate},
        {Op::Constant, &S::some_constant},
        {Op::Copy, &S::copy},
        {Op::Dot, &S::dot},
        {Op::DynamicSlice, &S::dynamic_slice},
        {Op::DynamicUpdateSlice, &S::dynamic_update_slice},
        {Op::GetDimensionSize, &S::dimension_size},
        {Op::Gather, &S::gather},
        {Op::GetTupleElement, &S::element},
        {Op::Iota, &S::iota},
        {Op::Pad, &S::pad},
        {Op::Reduce, &S::reduce},
        {Op::ReduceWindow, &S::reduce_window},
        {Op::Reshape, &S::reshape},
        {Op::Reverse, &S::reverse},
        {Op::Scatter, &S::scatter},
        {Op::Slice, &S::slice},
        {Op::Sort, &S::sort},
        {Op::Transpose, &S::transpose},
        {Op::Tuple, &S::tuple},
    };
    for (const auto& [known, maker] : makers)
      if (known == op) return maker;
    return nullptr;
  }

 private:
  static Shape array(const Shape& of, Dims dims) { return Shape::array(of.type, std::move(dims)); }
  // Attributes that do nothing are what many rules look for.
  bool trivial() { return one_in(3); }

  InstructionId after_all(int node, const Shape& of) {
    return add(Op::AfterAll, of, {operand_of(node, 0, of)});
  }
  InstructionId some_constant(int, const Shape& of) { return any_constant(of.type, of.dims); }
  InstructionId copy(int node, const Shape& of) {
    return add(Op::Copy, of, {operand_of(node, 0, of)});
  }
  InstructionId reshape(int node, const Shape& of) {
    const Shape from = array(of, trivial() ? of.dims : regrouped(of.dims));
    return add(Op::Reshape, of, {operand_of(node, 0, from)}, ReshapeAttributes{});
  }
  InstructionId bitcast(int node, const Shape& of) {
    const Shape from = array(of, trivial() ? of.dims : regrouped(of.dims));
    return add(Op::Bitcast, of, {operand_of(node, 0, from)});
  }
  InstructionId bitcast_convert(int node, const Shape& of) {
    std::vector<ElementType> same, half;
    for (ElementType type : all_types()) {
      if (bits_of(type) == bits_of(of.type)) same.push_back(type);
      if (2 * bits_of(type) == bits_of(of.type)) half.push_back(type);
    }
    if (trivial()) same = {of.type};
    if (half.empty() || !one_in(4))
      return add(Op::BitcastConvert, of,
                 {operand_of(node, 0, Shape::array(dice_.pick(same), of.dims))});
    Dims dims = of.dims;
    dims.push_back(2);
    return add(Op::BitcastConvert, of, {operand_of(node, 0, Shape::array(dice_.pick(half), dims))});
  }

  InstructionId transpose(int node, const Shape& of) {
    Dims order = shuffled(of.rank()), from(of.dims.size());
    if (trivial()) std::ranges::sort(order);
    for (size_t i = 0; i < from.size(); ++i) from[order[i]] = of.dims[i];
    return add(Op::Transpose, of, {operand_of(node, 0, array(of, from))},
               DimensionsAttributes{order});
  }

  InstructionId broadcast(int node, const Shape& of) {
    Dims kept, from;
    const int64_t kind = dice_.below(3);  // a scalar, some dimensions, all of them
    for (int64_t i = 0; i < of.rank(); ++i)
      if (kind == 2 || (kind == 1 && (one_in(2) || of.dims[i] == 1 ? one_in(2) : true)))
        kept.push_back(i);
    if (one_in(4))
      for (size_t i = kept.size(); i-- > 1;)
        std::swap(kept[i], kept[dice_.below(static_cast<int64_t>(i) + 1)]);
    for (int64_t dim : kept) from.push_back(of.dims[dim]);
    return add(Op::Broadcast, of, {operand_of(node, 0, array(of, from))},
               DimensionsAttributes{kept});
  }

  InstructionId iota(int, const Shape& of) {
    if (of.rank() == 0) return {};
    return add(Op::Iota, of, {}, IotaAttributes{dice_.below(of.rank())});
  }

  InstructionId reverse(int node, const Shape& of) {
    Dims dims;
    for (int64_t i = 0; i < of.rank(); ++i)
      if (one_in(2)) dims.push_back(i);
    return add(Op::Reverse, of, {operand_of(node, 0, of)}, DimensionsAttributes{dims});
  }

  InstructionId slice(int node, const Shape& of) {
    std::vector<SliceDim> slice;
    Dims from;
    const bool whole = trivial();
    for (int64_t dim : of.dims) {
      const int64_t stride = whole || one_in(2) ? 1 : 2, start = whole ? 0 : dice_.below(4);
      const int64_t limit = dim == 0 ? start : start + (dim - 1) * stride + 1;
      slice.push_back({start, limit, stride});
      from.push_back(limit + (whole ? 0 : dice_.below(3)));
    }
    return add(Op::Slice, of, {operand_of(node, 0, array(of, from))}, SliceAttributes{{slice}});
  }

  InstructionId pad(int node, const Shape& of) {
    std::vector<PaddingDim> padding;
    Dims from;
    const int64_t kind = dice_.below(4);  // nothing, around, what is cut off, anything
    for (int64_t dim : of.dims) {
      PaddingDim one;
      int64_t size = dim;
      if (kind == 1) size = dice_.below(dim + 1), one.low = dice_.below(dim - size + 1);
      if (kind == 2) size = dim + dice_.below(4), one.low = -dice_.below(size - dim + 1);
      if (kind == 3) size = dice_.below(5), one = {dice_.below(4) - 1, 0, dice_.below(2)};
      one.high = dim - size - one.low - std::max<int64_t>(0, size - 1) * one.interior;
      padding.push_back(one), from.push_back(size);
    }
    return add(Op::Pad, of,
               {operand_of(node, 0, array(of, from)), operand_of(node, 1, array(of, {}))},
               PadAttributes{{padding}});
  }

  // Neighbours of one array, copies of one number, nested or empty ones, or any.
  InstructionId concatenate(int node, const Shape& of) {
    if (of.rank() == 0) return {};
    const size_t dim = static_cast<size_t>(dice_.below(of.rank()));
    if (trivial())
      return add(Op::Concatenate, of, {one_part(node, of)},
                 DimensionsAttributes{{static_cast<int64_t>(dim)}});
    const int64_t kind = dice_.below(4);
    Dims whole = of.dims;
    for (int64_t& size : whole) size += dice_.below(2);
    const InstructionId array_of_all = parameter(of.type, whole), scalar = parameter(of.type, {});
    std::vector<InstructionId> parts;
    for (int64_t at = 0; at < of.dims[dim] || parts.size() < 2;) {
      Dims dims = of.dims;
      dims[dim] = one_in(4) ? 0 : std::min<int64_t>(1 + dice_.below(2), of.dims[dim] - at);
      parts.push_back(part(kind, dims, dim, at, array_of_all, scalar));
      at += dims[dim];
    }
    return add(Op::Concatenate, of, parts, DimensionsAttributes{{static_cast<int64_t>(dim)}});
  }
  InstructionId one_part(int node, const Shape& of) {
    const InstructionId named = operand_of(node, 0, of);
    return named ? named : any_value(of.type, of.dims);
  }
  InstructionId part(int64_t kind, const Dims& dims, size_t dim, int64_t at, InstructionId whole,
                     InstructionId scalar) {
    const Shape of = Shape::array(shape(scalar).type, dims);
    if (kind == 0) {
      std::vector<SliceDim> slice;
      for (int64_t size : dims) slice.push_back({0, size, 1});
      slice[dim] = {at, at + dims[dim], 1};
      return add(Op::Slice, of, {whole}, SliceAttributes{{slice}});
    }
    if (kind == 1) return add(Op::Broadcast, of, {scalar}, DimensionsAttributes{});
    if (kind == 2 && one_in(2)) {
      Dims first = dims, second = dims;
      second[dim] -= first[dim] = dims[dim] / 2;
      return add(Op::Concatenate, of, {parameter(of.type, first), parameter(of.type, second)},
                 DimensionsAttributes{{static_cast<int64_t>(dim)}});
    }
    return any_value(of.type, dims);
  }

  InstructionId index() {
    if (one_in(3)) return parameter(ElementType::S32, {});
    return number(ElementType::S32, {}, static_cast<double>(dice_.below(7) - 2));
  }
  InstructionId dynamic_slice(int, const Shape& of) {
    Dims from;
    for (int64_t dim : of.dims) from.push_back(dim + (one_in(2) ? 0 : dice_.below(4)));
    if (trivial()) from = of.dims;
    std::vector<InstructionId> operands = {any_value(of.type, from)};
    const bool known = one_in(2);
    for (int64_t i = 0; i < of.rank(); ++i)
      operands.push_back(
          known ? number(ElementType::S32, {}, static_cast<double>(dice_.below(7) - 2)) : index());
    return add(Op::DynamicSlice, of, operands, DynamicSliceAttributes{of.dims});
  }
  InstructionId dynamic_update_slice(int, const Shape& of) {
    const InstructionId into = any_value(of.type, of.dims);
    Dims sizes;
    const int64_t kind = dice_.below(4);  // all, nothing, its own, any
    for (int64_t dim : of.dims)
      sizes.push_back(kind == 0 ? dim : kind == 1 && one_in(2) ? 0 : dice_.below(dim + 1));
    std::vector<InstructionId> indices;
    for (int64_t i = 0; i < of.rank(); ++i) indices.push_back(index());
    std::vector<InstructionId> taken = {into};
    taken.insert(taken.end(), indices.begin(), indices.end());
    const Shape part = array(of, sizes);
    std::vector<InstructionId> operands = {
        into, kind == 2 ? add(Op::DynamicSlice, part, taken, DynamicSliceAttributes{sizes})
                        : any_value(of.type, sizes)};
    operands.insert(operands.end(), indices.begin(), indices.end());
    return add(Op::DynamicUpdateSlice, of, operands);
  }

  // Dimensions of two kinds in one list, the first in their order; where those of the second went.
  struct Mixed {
    Dims dims, places;
  };
  Mixed mix(const Dims& first, const Dims& second) {
    std::vector<std::pair<int64_t, int64_t>> all;  // size, number of the second or -1
    for (int64_t dim : first) all.push_back({dim, -1});
    for (size_t i = 0; i < second.size(); ++i)
      all.insert(all.begin() + dice_.below(static_cast<int64_t>(all.size()) + 1),
                 {second[i], static_cast<int64_t>(i)});
    Mixed out;
    out.places.resize(second.size());
    for (const auto& [dim, number] : all) {
      if (number >= 0) out.places[number] = static_cast<int64_t>(out.dims.size());
      out.dims.push_back(dim);
    }
    return out;
  }
  Dims few_dims() {
    Dims out(static_cast<size_t>(dice_.below(3)));
    for (int64_t& dim : out) dim = one_in(8) ? 0 : one_in(2) ? 1 : 1 + dice_.below(3);
    return out;
  }

  // Of arrays of one element along the reduced dimension.
  InstructionId reduce_stack(const Shape& of) {
    const int64_t dim = dice_.below(of.rank() + 1);
    Dims dims = of.dims;
    dims.insert(dims.begin() + dim, 1);
    std::vector<InstructionId> parts(static_cast<size_t>(2 + dice_.below(4)));
    for (InstructionId& part : parts) part = any_value(of.type, dims);
    dims[static_cast<size_t>(dim)] = static_cast<int64_t>(parts.size());
    const InstructionId stack =
        add(Op::Concatenate, array(of, dims), parts, DimensionsAttributes{{dim}});
    return add(Op::Reduce, of, {stack, any_value(of.type, {})},
               ReduceAttributes{{dim}, combiner(of.type)});
  }
  InstructionId reduce(int node, const Shape& of) {
    Mixed mixed = mix(of.dims, few_dims());
    std::ranges::sort(mixed.places);
    const InstructionId named = operand_of(node, 0, array(of, mixed.dims));
    if (!named) return reduce_stack(of);
    return add(Op::Reduce, of, {named, operand_of(node, 1, array(of, {}))},
               ReduceAttributes{mixed.places, combiner(of.type)});
  }
  InstructionId reduce_window(int node, const Shape& of) {
    Window window;
    window.dims.resize(of.dims.size());
    if (!trivial() && of.rank() > 0) window.dims[0].size = 2, window.dims[0].padding_low = 1;
    return add(Op::ReduceWindow, of, {operand_of(node, 0, of), operand_of(node, 1, array(of, {}))},
               ReduceWindowAttributes{window, combiner(of.type)});
  }

  InstructionId dot(int node, const Shape& of) {
    const int64_t batch = dice_.below(of.rank() + 1),
                  left = batch + dice_.below(of.rank() - batch + 1);
    const auto begin = of.dims.begin();
    Dims inner(begin, begin + batch);
    const Dims contracting = few_dims();
    inner.insert(inner.end(), contracting.begin(), contracting.end());
    const Mixed lhs = mix(Dims(begin + batch, begin + left), inner);
    const Mixed rhs = mix(Dims(begin + left, of.dims.end()), inner);
    DotAttributes a;
    a.lhs_batch_dims.assign(lhs.places.begin(), lhs.places.begin() + batch);
    a.rhs_batch_dims.assign(rhs.places.begin(), rhs.places.begin() + batch);
    a.lhs_contracting_dims.assign(lhs.places.begin() + batch, lhs.places.end());
    a.rhs_contracting_dims.assign(rhs.places.begin() + batch, rhs.places.end());
    return add(Op::Dot, of,
               {operand_of(node, 0, array(of, lhs.dims)), operand_of(node, 1, array(of, rhs.dims))},
               a);
  }

  InstructionId sort(int, const Shape& of) {
    if (of.rank() == 0) return {};
    Dims dims = of.dims;
    const int64_t dim = dice_.below(of.rank());
    if (one_in(2)) dims[dim] = dice_.below(2);
    const SortAttributes a{{dim}, true, less(of.type)};
    return add(Op::Sort, array(of, dims), {any_value(of.type, dims)}, a);
  }

  // One index each, along dimension 0 of the array; some of the others are batches, others slices.
  InstructionId gather(int node, const Shape& of) {
    if (of.rank() == 0) return {};
    Dims from = {2 + dice_.below(3)}, indices;
    GatherAttributes a;
    a.collapsed_slice_dims = a.start_index_map = {0};
    a.slice_sizes = {1};
    for (int64_t d = 0; d < of.rank(); ++d) {
      const int64_t kind = dice_.below(3);  // a batch, a part of slices, a dimension of indices
      if (kind == 0) {
        a.operand_batching_dims.push_back(static_cast<int64_t>(from.size()));
        a.start_indices_batching_dims.push_back(static_cast<int64_t>(indices.size()));
      }
      if (kind < 2) from.push_back(of.dims[d]), a.slice_sizes.push_back(kind == 0 ? 1 : of.dims[d]);
      if (kind == 1) a.offset_dims.push_back(d);
      else indices.push_back(of.dims[d]);
    }
    a.index_vector_dim = static_cast<int64_t>(indices.size());
    indices.push_back(1);
    return add(Op::Gather, of,
               {operand_of(node, 0, array(of, from)),
                operand_of(node, 1, Shape::array(ElementType::S32, indices))},
               a);
  }

  InstructionId scatter(int node, const Shape& of) {
    if (of.rank() == 0) return {};
    const int64_t count = dice_.below(3);
    Dims updates = of.dims;
    updates[0] = count;
    ScatterAttributes a;
    for (int64_t i = 1; i < of.rank(); ++i) a.update_window_dims.push_back(i);
    a.inserted_window_dims = a.scatter_dims_to_operand_dims = {0};
    a.index_vector_dim = 1;
    a.to_apply = combiner(of.type);
    return add(
        Op::Scatter, of,
        {operand_of(node, 0, of), operand_of(node, 1, Shape::array(ElementType::S32, {count, 1})),
         operand_of(node, 2, array(of, updates))},
        a);
  }

  InstructionId dimension_size(int node, const Shape& of) {
    Dims dims = random_dims();
    dims.push_back(3);
    return add(Op::GetDimensionSize, of, {operand_of(node, 0, Shape::array(any_type(), dims))},
               DimensionsAttributes{{dice_.below(static_cast<int64_t>(dims.size()))}});
  }

  InstructionId tuple_of(const std::vector<InstructionId>& elements) {
    std::vector<Shape> shapes;
    for (InstructionId element : elements) {
      if (!element) return {};
      shapes.push_back(shape(element));
    }
    return add(Op::Tuple, Shape::tuple(shapes), elements);
  }
  InstructionId element(int, const Shape& of) {
    std::vector<InstructionId> elements;
    for (int64_t n = 1 + dice_.below(3); n > 0; --n)
      elements.push_back(any_value(any_type(), random_dims()));
    const int64_t index = dice_.below(static_cast<int64_t>(elements.size()));
    elements[index] = any_value(of.type, of.dims);
    return add(Op::GetTupleElement, of, {tuple_of(elements)}, GetTupleElementAttributes{index});
  }
  // The elements of a tuple, all and in their order or not.
  InstructionId tuple(int, const Shape& of) {
    std::vector<Shape> shapes(static_cast<size_t>(1 + dice_.below(3)), of);
    const InstructionId whole =
        module.add_instruction(module.entry, Op::Parameter, Shape::tuple(shapes), {});
    std::vector<InstructionId> elements;
    for (int64_t i = 0; i < static_cast<int64_t>(shapes.size()); ++i) {
      const int64_t index = one_in(6) ? 0 : i;
      elements.push_back(add(Op::GetTupleElement, of, {whole}, GetTupleElementAttributes{index}));
    }
    if (one_in(6) && elements.size() > 1) elements.pop_back();
    return tuple_of(elements);
  }
};

}  // namespace hilo::test
