// Extension: how arrays lie, which is dense, and row by row unless somebody asks for another order.
#include <fmt/ranges.h>

#include "pjrt/executable.h"
#include "pjrt/extension_tables.h"

struct PJRT_Layouts_MemoryLayout {
  std::string text;
};

namespace hilo::pjrt {
namespace {

using Layout = PJRT_Layouts_MemoryLayout;

Layout* layout_of(const Shape& shape) {
  return new Layout{fmt::format("{{{}}}", fmt::join(shape.layout.minor_to_major, ","))};
}
Layout* layout_of_rank(size_t rank) {
  Shape shape;
  shape.layout = hilo::Layout::descending(rank);
  return layout_of(shape);
}

PJRT_Error* destroy(PJRT_Layouts_MemoryLayout_Destroy_Args* args) {
  delete args->layout;
  return nullptr;
}

PJRT_Error* serialize(PJRT_Layouts_MemoryLayout_Serialize_Args* args) {
  args->serialized_bytes = args->layout->text.data();
  args->serialized_bytes_size = args->layout->text.size();
  args->serialized_layout = nullptr;  // the layout keeps it
  args->serialized_layout_deleter = [](PJRT_Layouts_SerializedLayout*) {};
  return nullptr;
}

PJRT_Error* default_of_client(PJRT_Layouts_Client_GetDefaultLayout_Args* args) {
  return answer([&] -> Result<void> {
    args->layout = layout_of_rank(args->num_dims);
    return {};
  });
}

PJRT_Error* default_of_topology(PJRT_Layouts_Topology_GetDefaultLayout_Args* args) {
  return answer([&] -> Result<void> {
    args->layout = layout_of_rank(args->num_dims);
    return {};
  });
}

PJRT_Error* of_buffer(PJRT_Layouts_Buffer_MemoryLayout_Args* args) {
  return answer([&] -> Result<void> {
    args->layout = layout_of(args->buffer->shape());
    return {};
  });
}

// The array is the executable's, each layout in it the client's.
Layout** layouts_of(const ProgramValues& values, std::vector<Layout*>& kept) {
  kept.clear();
  for (const Cut& cut : values.cuts) kept.push_back(layout_of(*cut.shard));
  return kept.data();
}

PJRT_Error* of_outputs(PJRT_Layouts_Executable_GetOutputLayouts_Args* args) {
  return answer([&] -> Result<void> {
    const ProgramValues& values = args->executable->program->results;
    args->num_outputs = values.size();
    args->layouts = layouts_of(values, args->executable->output_layouts);
    return {};
  });
}

PJRT_Error* of_parameters(PJRT_Layouts_Executable_GetParameterLayouts_Args* args) {
  return answer([&] -> Result<void> {
    const ProgramValues& values = args->executable->program->parameters;
    args->num_parameters = values.size();
    args->layouts = layouts_of(values, args->executable->parameter_layouts);
    return {};
  });
}

}  // namespace

PJRT_Layouts_Extension layouts_extension = {
    {sizeof(PJRT_Layouts_Extension), PJRT_Extension_Type_Layouts, nullptr},
    destroy,
    serialize,
    default_of_client,
    of_buffer,
    default_of_topology,
    of_outputs,
    of_parameters};

}  // namespace hilo::pjrt
