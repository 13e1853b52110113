// Extension: a profiler that has seen nothing. Frameworks that look for one in every plugin
// (PyTorch/XLA) call its table without asking whether it is there.
#include "pjrt/extension_tables.h"

struct PLUGIN_Profiler {};
struct PLUGIN_Profiler_ConsumeResult {};

namespace hilo::pjrt {
namespace {

// Nothing here fails.
void destroy_error(PLUGIN_Profiler_Error_Destroy_Args*) {}
void tell_error(PLUGIN_Profiler_Error_Message_Args* args) {
  args->message = "";
  args->message_size = 0;
}
PLUGIN_Profiler_Error* code_of_error(PLUGIN_Profiler_Error_GetCode_Args* args) {
  args->code = 0;
  return nullptr;
}

PLUGIN_Profiler_Error* create(PLUGIN_Profiler_Create_Args* args) {
  args->profiler = new PLUGIN_Profiler;
  return nullptr;
}

PLUGIN_Profiler_Error* destroy(PLUGIN_Profiler_Destroy_Args* args) {
  delete args->profiler;
  return nullptr;
}

PLUGIN_Profiler_Error* start(PLUGIN_Profiler_Start_Args*) { return nullptr; }
PLUGIN_Profiler_Error* stop(PLUGIN_Profiler_Stop_Args*) { return nullptr; }

PLUGIN_Profiler_Error* collect_data(PLUGIN_Profiler_CollectData_Args* args) {
  args->buffer_size_in_bytes = 0;
  return nullptr;
}

PLUGIN_Profiler_Error* consume(PLUGIN_Profiler_Consume_Args* args) {
  args->result = new PLUGIN_Profiler_ConsumeResult;
  return nullptr;
}

void destroy_result(PLUGIN_Profiler_ConsumeResult_Destroy_Args* args) {
  delete args->consume_result;
}

PLUGIN_Profiler_Error* serialize(PLUGIN_Profiler_Serialize_Args* args) {
  args->serialized_bytes = nullptr;
  args->serialized_size = 0;
  return nullptr;
}

PLUGIN_Profiler_Api profiler = {sizeof(PLUGIN_Profiler_Api),
                                nullptr,
                                destroy_error,
                                tell_error,
                                code_of_error,
                                create,
                                destroy,
                                start,
                                stop,
                                collect_data,
                                consume,
                                destroy_result,
                                serialize};

}  // namespace

PJRT_Profiler_Extension profiler_extension = {
    {sizeof(PJRT_Profiler_Extension), PJRT_Extension_Type_Profiler, nullptr}, &profiler, 0};

}  // namespace hilo::pjrt
