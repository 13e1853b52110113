// Meshes, replica groups and shardings as messages.
#pragma once

#include "ir/ir.h"
#include "wire/proto_shape.h"

namespace hilo {

// Sizes must fit each other (an empty reshape fits all); an order that changes nothing is dropped.
Result<IotaDevices> read_iota(Dims reshape, Dims dims, Dims permutation);
Dims permutation_of(const IotaDevices& iota);  // never empty

void write_mesh(const Mesh& mesh, proto::MeshProto& to);
Result<Mesh> read_mesh(const proto::MeshProto& from);
using AxisRefProtos = google::protobuf::RepeatedPtrField<proto::AxisRefProto>;
void write_axes(const std::vector<AxisRef>& axes, const Mesh& mesh, AxisRefProtos& to);
Result<std::vector<AxisRef>> read_axes(const AxisRefProtos& from, const Mesh& mesh);

void write_groups(const ReplicaGroups& groups, proto::HloInstructionProto& to);
Result<ReplicaGroups> read_groups(const proto::HloInstructionProto& from);

// What the fields cannot say is kept as text beside them.
void write_sharding(const Sharding& sharding, proto::OpSharding& to);
Result<Sharding> read_sharding(const proto::OpSharding& from);

}  // namespace hilo
