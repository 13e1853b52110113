// Shardings: how an array is cut over devices. Forms: OpSharding in xla/xla_data.proto (V1, iota)
// and NamedSharding (mesh); texts: xla/hlo/parser/hlo_parser.cc.
#pragma once

#include "ir/attribute_types.h"

namespace hilo {

struct Sharding {
  enum class Kind : uint8_t {
    Replicated,
    Maximal,
    Manual,
    Unknown,
    Unreduced,
    Tiled,  // devices=[tile_dims]device list
    Mesh,   // mesh[...], [{'x'}, {}]
    Tuple,
  };
  struct MeshDim {
    std::vector<AxisRef> axes;
    bool open = false;  // a trailing '?'
    bool operator==(const MeshDim&) const = default;
  };

  Kind kind = Kind::Replicated;
  int64_t device = 0;               // Maximal
  Dims tile_dims;                   // Tiled: of the device array, subgroup dimensions last
  Dims devices;                     // Tiled: explicit device list, when iota is not given
  std::optional<IotaDevices> iota;  // Tiled
  bool last_tile_dim_replicate = false;
  std::vector<Kind> last_tile_dims;  // Tiled: kinds of the trailing subgroup dimensions
  std::optional<int64_t> shard_as, shard_like;
  std::string metadata;  // the text after metadata=, braces included
  Mesh mesh;             // Mesh
  std::optional<Kind>
      whole_mesh;  // Mesh: {mesh[...], replicated} and the like; Maximal: maximal_mesh
  std::vector<MeshDim> mesh_dims;
  std::vector<AxisRef> replicated_axes, unreduced_axes, manual_axes;
  std::string unreduced_op;        // unreduced=max{...}; empty: sum
  std::vector<Sharding> elements;  // Tuple
  bool operator==(const Sharding&) const = default;
};

}  // namespace hilo
