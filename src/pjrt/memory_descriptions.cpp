// Extension: the kinds of memory of devices that are only described.
#include "pjrt/client.h"
#include "pjrt/extension_tables.h"

struct PJRT_MemoryDescription {
  std::string_view kind;
  int32_t id;
};

namespace hilo::pjrt {
namespace {

PJRT_Error* of_device(PJRT_DeviceDescription_MemoryDescriptions_Args* args) {
  static const auto descriptions = [] {
    std::vector<PJRT_MemoryDescription> out;
    for (std::string_view kind : memory_kinds())
      out.push_back({kind, static_cast<int32_t>(out.size())});
    return out;
  }();
  static const auto pointers = [] {
    std::vector<const PJRT_MemoryDescription*> out;
    for (const PJRT_MemoryDescription& one : descriptions) out.push_back(&one);
    return out;
  }();
  args->memory_descriptions = pointers.data();
  args->num_memory_descriptions = pointers.size();
  args->default_memory_index = 0;
  return nullptr;
}

PJRT_Error* kind(PJRT_MemoryDescription_Kind_Args* args) {
  args->kind = args->memory_description->kind.data();
  args->kind_size = args->memory_description->kind.size();
  args->kind_id = args->memory_description->id;
  return nullptr;
}

}  // namespace

PJRT_MemoryDescriptions_Extension memory_descriptions_extension = {
    {sizeof(PJRT_MemoryDescriptions_Extension), PJRT_Extension_Type_MemoryDescriptions, nullptr},
    of_device,
    kind};

}  // namespace hilo::pjrt
