// Attributes with parts as structs of a Program, the same from both readers; see mlir.h.
#pragma once

#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

inline AttributeId make_axis(Builder& builder, std::string_view name, int64_t size) {
  return builder.structure("sdy.axis",
                           {{"name", builder.string(name)}, {"size", builder.integer(size)}});
}
inline AttributeId make_mesh(Builder& builder, std::vector<AttributeId> axes, const Dims& devices) {
  std::vector<AttributeId> ids;
  for (const int64_t device : devices) ids.push_back(builder.integer(device));
  return builder.structure("sdy.mesh", {{"axes", builder.array(std::move(axes))},
                                        {"device_ids", builder.array(std::move(ids))}});
}
// Sizes are 0 where it is the whole axis.
inline AttributeId make_axis_ref(Builder& builder, std::string_view name, int64_t pre_size,
                                 int64_t size) {
  return builder.structure("sdy.axis_ref", {{"name", builder.string(name)},
                                            {"pre_size", builder.integer(pre_size)},
                                            {"size", builder.integer(size)}});
}
inline AttributeId make_dim(Builder& builder, std::vector<AttributeId> axes, bool is_closed,
                            int64_t priority) {
  return builder.structure("sdy.dim", {{"axes", builder.array(std::move(axes))},
                                       {"is_closed", builder.boolean(is_closed)},
                                       {"priority", builder.integer(priority)}});
}
inline AttributeId make_sharding(Builder& builder, AttributeId mesh, std::vector<AttributeId> dims,
                                 std::vector<AttributeId> replicated,
                                 std::vector<AttributeId> unreduced,
                                 std::string_view unreduced_op = "") {
  return builder.structure("sdy.sharding", {{"mesh", mesh},
                                            {"dims", builder.array(std::move(dims))},
                                            {"replicated", builder.array(std::move(replicated))},
                                            {"unreduced", builder.array(std::move(unreduced))},
                                            {"unreduced_op", builder.string(unreduced_op)}});
}

// Locations of a range of a file.
inline AttributeId make_file_location(Builder& builder, AttributeId file, int64_t line,
                                      int64_t column, int64_t end_line, int64_t end_column) {
  return builder.structure("loc.file", {{"file", file},
                                        {"line", builder.integer(line)},
                                        {"column", builder.integer(column)},
                                        {"end_line", builder.integer(end_line)},
                                        {"end_column", builder.integer(end_column)}});
}

}  // namespace hilo::mlir
