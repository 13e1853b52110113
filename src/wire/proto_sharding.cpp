#include "text/text.h"
#include "wire/braced_text.h"
#include "wire/proto_devices.h"

namespace hilo {
namespace {

using Kind = Sharding::Kind;
using proto::OpSharding;

struct KindType {
  Kind kind;
  OpSharding::Type type;
};
constexpr KindType kind_types[] = {
    {Kind::Replicated, OpSharding::REPLICATED}, {Kind::Maximal, OpSharding::MAXIMAL},
    {Kind::Manual, OpSharding::MANUAL},         {Kind::Unknown, OpSharding::UNKNOWN},
    {Kind::Unreduced, OpSharding::UNREDUCED},   {Kind::Tiled, OpSharding::OTHER},
    {Kind::Tuple, OpSharding::TUPLE},
};

OpSharding::Type type_of(Kind kind) {
  for (const KindType& known : kind_types)
    if (known.kind == kind) return known.type;
  return OpSharding::REPLICATED;  // a mesh stands in named_sharding
}

Result<Kind> kind_of_type(int type) {
  for (const KindType& known : kind_types)
    if (known.type == type) return known.kind;
  return fail(ErrorKind::Unsupported, "sharding type {}", type);
}

void write_tiles(const Sharding& sharding, OpSharding& to) {
  put_dims(sharding.tile_dims, *to.mutable_tile_assignment_dimensions());
  put_dims(sharding.devices, *to.mutable_tile_assignment_devices());
  to.set_replicate_on_last_tile_dim(sharding.last_tile_dim_replicate);
  for (Kind kind : sharding.last_tile_dims) to.add_last_tile_dims(type_of(kind));
  if (!sharding.iota) return;
  put_dims(sharding.iota->dims, *to.mutable_iota_reshape_dims());
  put_dims(permutation_of(*sharding.iota), *to.mutable_iota_transpose_perm());
}

void write_named(const Sharding& sharding, proto::NamedShardingProto& to) {
  if (sharding.kind == Kind::Maximal) return to.mutable_mesh()->add_device_ids(sharding.device);
  write_mesh(sharding.mesh, *to.mutable_mesh());
  for (const Sharding::MeshDim& dim : sharding.mesh_dims) {
    auto& added = *to.add_dim_shardings();
    write_axes(dim.axes, sharding.mesh, *added.mutable_axes());
    added.set_is_closed(!dim.open);
  }
  write_axes(sharding.replicated_axes, sharding.mesh, *to.mutable_replicated_axes());
  write_axes(sharding.unreduced_axes, sharding.mesh, *to.mutable_unreduced_axes());
  write_axes(sharding.manual_axes, sharding.mesh, *to.mutable_manual_axes());
}

Result<void> read_tiles(const OpSharding& from, Sharding& sharding) {
  sharding.tile_dims = dims_of(from.tile_assignment_dimensions());
  sharding.devices = dims_of(from.tile_assignment_devices());
  sharding.last_tile_dim_replicate = from.replicate_on_last_tile_dim();
  for (int type : from.last_tile_dims()) {
    HILO_TRY(const Kind kind, kind_of_type(type));
    sharding.last_tile_dims.push_back(kind);
  }
  if (from.iota_reshape_dims().empty()) {
    const int64_t devices = element_count(std::span<const int64_t>(sharding.tile_dims));
    if (devices != static_cast<int64_t>(sharding.devices.size()))
      return fail(ErrorKind::Shape, "a sharding over {} devices that lists {}", devices,
                  sharding.devices.size());
    return {};
  }
  HILO_TRY(sharding.iota, read_iota(sharding.tile_dims, dims_of(from.iota_reshape_dims()),
                                    dims_of(from.iota_transpose_perm())));
  return {};
}

Result<void> read_named(const proto::NamedShardingProto& from, Sharding& sharding) {
  if (from.mesh().axes().empty() && from.mesh().device_ids_size() == 1) {
    sharding.kind = Kind::Maximal;
    sharding.whole_mesh = Kind::Maximal;
    sharding.device = from.mesh().device_ids(0);
    return {};
  }
  sharding.kind = Kind::Mesh;
  HILO_TRY(sharding.mesh, read_mesh(from.mesh()));
  for (const auto& dim : from.dim_shardings()) {
    HILO_TRY(auto axes, read_axes(dim.axes(), sharding.mesh));
    sharding.mesh_dims.push_back({std::move(axes), !dim.is_closed()});
  }
  HILO_TRY(sharding.replicated_axes, read_axes(from.replicated_axes(), sharding.mesh));
  HILO_TRY(sharding.unreduced_axes, read_axes(from.unreduced_axes(), sharding.mesh));
  HILO_TRY(sharding.manual_axes, read_axes(from.manual_axes(), sharding.mesh));
  const bool says_nothing = sharding.mesh_dims.empty() && sharding.replicated_axes.empty() &&
                            sharding.unreduced_axes.empty() && sharding.manual_axes.empty();
  if (says_nothing) sharding.whole_mesh = Kind::Replicated;
  return {};
}

// metadata={op_name="a"}, or metadata={{op_name="a"}, {op_name="b"}}.
using Metadatas = google::protobuf::RepeatedPtrField<proto::OpMetadata>;
void write_metadata_list(std::string_view text, Metadatas& to) {
  for (std::string_view part : split_braced(text)) {
    if (!read_braced(part, *to.Add())) to.RemoveLast();
  }
}
std::string read_metadata_list(const Metadatas& from) {
  if (from.empty()) return "";
  if (from.size() == 1) return print_braced(from[0]);
  std::string text;
  for (const proto::OpMetadata& metadata : from)
    text += (text.empty() ? "{" : ", ") + print_braced(metadata);
  return text + "}";
}

Result<Sharding> read_fields(const OpSharding& from) {
  Sharding sharding;
  HILO_TRY(sharding.kind, kind_of_type(from.type()));
  if (from.has_named_sharding()) HILO_DO(read_named(from.named_sharding(), sharding));
  if (sharding.kind == Kind::Tiled) HILO_DO(read_tiles(from, sharding));
  if (from.type() == OpSharding::MAXIMAL && from.tile_assignment_devices_size() > 0)
    sharding.device = from.tile_assignment_devices(0);
  for (const OpSharding& element : from.tuple_shardings()) {
    HILO_TRY(Sharding read, read_sharding(element));
    sharding.elements.push_back(std::move(read));
  }
  if (from.is_shard_group())
    (from.shard_group_type() == OpSharding::LIKE ? sharding.shard_like : sharding.shard_as) =
        from.shard_group_id();
  sharding.metadata = read_metadata_list(
      from.has_named_sharding() ? from.named_sharding().metadata() : from.metadata());
  return sharding;
}

}  // namespace

void write_sharding(const Sharding& sharding, OpSharding& to) {
  const bool is_named = sharding.kind == Kind::Mesh || sharding.whole_mesh.has_value();
  if (sharding.kind == Kind::Tiled) write_tiles(sharding, to);
  if (is_named) write_named(sharding, *to.mutable_named_sharding());
  if (!is_named) to.set_type(type_of(sharding.kind));
  if (!is_named && sharding.kind == Kind::Maximal) to.add_tile_assignment_devices(sharding.device);
  for (const Sharding& element : sharding.elements)
    write_sharding(element, *to.add_tuple_shardings());
  to.set_is_shard_group(sharding.shard_as || sharding.shard_like);
  if (sharding.shard_like) to.set_shard_group_type(OpSharding::LIKE);
  if (to.is_shard_group())
    to.set_shard_group_id(sharding.shard_like ? *sharding.shard_like : *sharding.shard_as);
  write_metadata_list(sharding.metadata, is_named ? *to.mutable_named_sharding()->mutable_metadata()
                                                  : *to.mutable_metadata());
  const Result<Sharding> back = read_fields(to);
  if (!back || *back != sharding) to.set_text(print(sharding));
}

Result<Sharding> read_sharding(const OpSharding& from) {
  if (!from.text().empty()) return parse_sharding(from.text());
  return read_fields(from);
}

}  // namespace hilo
