// Shardings as axes of a mesh: the one form that passes, the evaluator and the plugin work on.
// Sharding, in ir/sharding.h, is what texts and files say; this is what it means. After Shardy's
// TensorShardingAttr. Shown through ir.h.
#pragma once

#include "ir/sharding.h"
#include "ir/sharding/mesh_axes.h"

namespace hilo {

// Devices that differ only in axes that are named nowhere hold the same values.
struct AxisSharding {
  struct Dim {
    SubAxes axes;          // most major first
    bool is_open = false;  // propagation may add axes
    int64_t priority = 0;  // 0 propagates first
    bool operator==(const Dim&) const = default;
  };

  SharedMesh mesh;
  std::vector<Dim> dims;
  SubAxes replicated;        // in the mesh's order; no open dimension may take them
  SubAxes unreduced;         // devices along them hold summands
  SubAxes manual;            // the shape is already local along them
  std::string unreduced_op;  // of Sharding

  bool operator==(const AxisSharding& other) const;  // meshes by value
  bool is_sharded() const;                           // along a dimension
  std::vector<SubAxis> axes() const;                 // of all dimensions
};

// Replicated over the mesh; `open`: every dimension may be sharded.
AxisSharding replicated_sharding(SharedMesh mesh, size_t rank, bool open = false);
// In canonical form: sub-axes merged, axes of size 1 dropped, replicated, unreduced and manual in
// the mesh's order. Structure where an axis stands twice or sub-axes overlap.
Result<AxisSharding> canonical_sharding(AxisSharding sharding);

// What a sharding of an array of that rank means, over `mesh` where it can be said over it, else
// over a mesh of its own with as many devices. Structure, Name or Shape where it does not fit.
// Limits: what tuples, groups and metadata say is not in it.
Result<AxisSharding> axis_sharding(const Sharding& sharding, size_t rank, const SharedMesh& mesh);
// Of each leaf of a shape; one that is no tuple counts for all leaves.
Result<std::vector<AxisSharding>> axis_shardings(const Sharding& sharding, const Shape& shape,
                                                 const SharedMesh& mesh);

// As tiles, in the canonical form that XLA prints: {devices=[2,1,2]<=[4] last_tile_dim_replicate},
// {replicated}, {manual}; a list of devices where they are in the order of no iota. What is open
// and the priorities are lost.
Sharding tile_sharding(const AxisSharding& sharding);
// {mesh['x'=2], [{'x'}, {?}]}; priorities are lost.
Sharding named_sharding(const AxisSharding& sharding);

}  // namespace hilo
