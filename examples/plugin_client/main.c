// A StableHLO program, compiled and run through the plugin, in plain C:
//   cc -std=c11 -Isrc examples/plugin_client/main.c -o client && ./client build/libhilo_pjrt.so
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/pjrt_abi.h"

static const PJRT_Api* api;

static void check(PJRT_Error* error) {
  if (!error) return;
  PJRT_Error_Message_Args message = {sizeof message, NULL, error};
  api->PJRT_Error_Message(&message);
  fprintf(stderr, "%.*s\n", (int)message.message_size, message.message);
  exit(1);
}

// CALL(name, Function, fields ...): `name` has the answers.
#define CALL(name, function, ...)                                                    \
  PJRT_##function##_Args name = {sizeof(PJRT_##function##_Args), NULL, __VA_ARGS__}; \
  check(api->PJRT_##function(&name))

static char code[] =
    "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    "  %y = stablehlo.add %x, %x : tensor<2x3xf32>\n"
    "  %z = stablehlo.tanh %y : tensor<2x3xf32>\n"
    "  return %z : tensor<2x3xf32>\n"
    "}\n";

int main(int count, char** arguments) {
  void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (!library) return fprintf(stderr, "usage: client libhilo_pjrt.so\n"), 2;
  api = ((const PJRT_Api* (*)(void))dlsym(library, "GetPjrtApi"))();

  CALL(start, Client_Create, NULL);
  CALL(devices, Client_AddressableDevices, start.client);
  PJRT_Program program = {sizeof program, NULL, code, strlen(code), "mlir", 4};
  CALL(compiled, Client_Compile, start.client, &program, "", 0);

  const float x[6] = {-1, -0.5, 0, 0.25, 0.5, 1};
  const int64_t dims[2] = {2, 3};
  CALL(in, Client_BufferFromHostBuffer, start.client, x, PJRT_Buffer_Type_F32, dims, 2, NULL, 0,
       PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, devices.addressable_devices[0]);
  CALL(free_event, Event_Destroy, in.done_with_host_buffer);

  PJRT_Buffer *operands[1] = {in.buffer}, *results[1];
  PJRT_Buffer* const* operand_lists[1] = {operands};
  PJRT_Buffer** result_lists[1] = {results};
  PJRT_ExecuteOptions options = {sizeof options};
  CALL(run, LoadedExecutable_Execute, compiled.executable, &options, operand_lists, 1, 1,
       result_lists);

  float y[6];
  CALL(out, Buffer_ToHostBuffer, results[0], NULL, y, sizeof y);  // once the run has ended
  CALL(wait, Event_Await, out.event);
  for (int i = 0; i < 6; ++i) printf("%g%c", y[i], i % 3 == 2 ? '\n' : ' ');

  CALL(free_out, Event_Destroy, out.event);
  CALL(free_result, Buffer_Destroy, results[0]);
  CALL(free_operand, Buffer_Destroy, in.buffer);
  CALL(free_program, LoadedExecutable_Destroy, compiled.executable);
  CALL(end, Client_Destroy, start.client);
  return 0;
}
