// Writes instructions of one device's program: movements of a local array, and numbers that follow
// from the device's own. Private to `pass/shard`.
#pragma once

#include "rewrite/rewrite.h"

namespace hilo {

// All instructions stand where `like` does and have its metadata. Those that change nothing are
// left out.
class LocalCode {
 public:
  LocalCode(Editor& editor, InstructionId like) : editor_(editor), like_(like) {}

  InstructionId like() const { return like_; }
  Dims dims(InstructionId value) const { return editor_.module().shape(value).dims; }
  ElementType type(InstructionId value) const { return editor_.module().shape(value).type; }
  InstructionId reshape(InstructionId value, Dims dims);
  InstructionId transpose(InstructionId value, Dims permutation);
  // Sizes grow at the high end by zeros, or shrink there.
  InstructionId resize(InstructionId value, std::span<const int64_t> dims);
  // So much of the scalar before and behind in each dimension.
  InstructionId pad(InstructionId value, std::span<const int64_t> low,
                    std::span<const int64_t> high, InstructionId scalar);
  InstructionId slice(InstructionId value, std::span<const int64_t> starts, Dims sizes);
  InstructionId concatenate(std::span<const InstructionId> values, int64_t dimension);
  InstructionId broadcast(InstructionId value, Dims dims, Dims mapping);
  InstructionId zeros(ElementType type, Dims dims);
  InstructionId constant(Literal literal) {
    return editor_.add_constant(like_, std::move(literal));
  }
  InstructionId splat(Dims dims, const Literal& scalar);
  // Of one dimension: rows [start, limit), each `stride`th.
  InstructionId slice_rows(InstructionId value, size_t dim, int64_t start, int64_t limit,
                           int64_t stride = 1);
  InstructionId pad_rows(InstructionId value, size_t dim, PaddingDim padding, InstructionId scalar);
  InstructionId dynamic_slice(InstructionId value, std::span<const InstructionId> starts,
                              Dims sizes);
  // Rows from `start` on, a scalar, which are all within the dimension.
  InstructionId rows_from(InstructionId value, size_t dim, InstructionId start, int64_t rows);
  InstructionId update(InstructionId value, InstructionId part,
                       std::span<const InstructionId> starts);
  // `then` where the scalar is true.
  InstructionId select(InstructionId scalar, InstructionId then, InstructionId otherwise);

  InstructionId select_each(InstructionId mask, InstructionId then, InstructionId otherwise);
  InstructionId iota(ElementType type, Dims dims, int64_t dimension);
  InstructionId binary(Op op, InstructionId a, InstructionId b);
  InstructionId compare(InstructionId a, InstructionId b, ComparisonDirection direction);
  InstructionId convert(InstructionId value, ElementType type);

  // s32 scalars.
  InstructionId number(int64_t value);
  InstructionId scaled(InstructionId number, int64_t factor);
  // Elements of an s32 array within the bounds, at most.
  InstructionId clamp(InstructionId value, int64_t least, int64_t greatest);
  // Of this device along axes of the mesh, most major first.
  InstructionId coordinate(const Mesh& mesh, std::span<const SubAxis> axes);
  // Of a table with a row for each device: the elements of this device's.
  std::vector<InstructionId> row(const std::vector<Dims>& table);
  InstructionId is_listed(const std::vector<bool>& devices);  // pred
  // Of this device along axes of the mesh: pred.
  InstructionId is_first(const Mesh& mesh, std::span<const SubAxis> axes);

  InstructionId all_gather(InstructionId value, const Mesh& mesh, std::span<const SubAxis> axes,
                           int64_t channel, size_t dimension = 0);
  InstructionId all_to_all(InstructionId value, const Mesh& mesh, std::span<const SubAxis> axes,
                           int64_t channel);  // along dimension 0
  InstructionId all_reduce(InstructionId value, const Mesh& mesh, std::span<const SubAxis> axes,
                           ComputationId reducer, int64_t channel);
  InstructionId reduce_scatter(InstructionId value, const Mesh& mesh, std::span<const SubAxis> axes,
                               ComputationId reducer, int64_t channel, size_t dimension = 0);
  InstructionId broadcast_from(int64_t device, InstructionId value, int64_t devices,
                               int64_t channel);
  // From the first device of each group.
  InstructionId broadcast_from_first(InstructionId value, const Mesh& mesh,
                                     std::span<const SubAxis> axes, int64_t channel);
  ComputationId reducer(Op op, ElementType type);
  InstructionId permute(InstructionId value, std::vector<std::pair<int64_t, int64_t>> pairs,
                        int64_t channel);

 private:
  InstructionId partition();  // s32
  InstructionId position(const Mesh& mesh);

  Editor& editor_;
  InstructionId like_, partition_;
};

}  // namespace hilo
