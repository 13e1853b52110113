// The PJRT C API as a client sees it: names, order and layout are the interface's. Each function
// takes one struct whose struct_size says how far its writer knew it, and returns null or an error.
// Reference: openxla.org/xla/pjrt; tests/pjrt/abi_peers.py holds every offset against another
// implementation's.
#pragma once

#include <cstddef>
#include <cstdint>

struct PJRT_Error;
struct PJRT_Event;
struct PJRT_Client;
struct PJRT_Device;
struct PJRT_DeviceDescription;
struct PJRT_TopologyDescription;
struct PJRT_Memory;
struct PJRT_Buffer;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;
struct PJRT_ExecuteContext;
struct PJRT_AsyncHostToDeviceTransferManager;
// What keeps an answer alive, beside the function that ends it.
struct PJRT_Holder;
using PJRT_Holder_Deleter = void (*)(PJRT_Holder*);

enum PJRT_Extension_Type : uint32_t {
  PJRT_Extension_Type_Layouts = 4,
  PJRT_Extension_Type_FFI = 5,
  PJRT_Extension_Type_MemoryDescriptions = 6,
  PJRT_Extension_Type_Shardings = 19,
};
struct PJRT_Extension_Base {
  size_t struct_size;
  PJRT_Extension_Type type;
  PJRT_Extension_Base* next;
};

enum PJRT_Error_Code : uint32_t {
  PJRT_Error_Code_OK = 0,
  PJRT_Error_Code_CANCELLED = 1,
  PJRT_Error_Code_UNKNOWN = 2,
  PJRT_Error_Code_INVALID_ARGUMENT = 3,
  PJRT_Error_Code_DEADLINE_EXCEEDED = 4,
  PJRT_Error_Code_NOT_FOUND = 5,
  PJRT_Error_Code_ALREADY_EXISTS = 6,
  PJRT_Error_Code_PERMISSION_DENIED = 7,
  PJRT_Error_Code_RESOURCE_EXHAUSTED = 8,
  PJRT_Error_Code_FAILED_PRECONDITION = 9,
  PJRT_Error_Code_ABORTED = 10,
  PJRT_Error_Code_OUT_OF_RANGE = 11,
  PJRT_Error_Code_UNIMPLEMENTED = 12,
  PJRT_Error_Code_INTERNAL = 13,
  PJRT_Error_Code_UNAVAILABLE = 14,
  PJRT_Error_Code_DATA_LOSS = 15,
  PJRT_Error_Code_UNAUTHENTICATED = 16,
};
using PJRT_Error_PayloadVisitor = void (*)(const char* key, size_t key_size, const char* value,
                                           size_t value_size, void* user_arg);
using PJRT_Event_OnReadyCallback = void (*)(PJRT_Error* error, void* user_arg);
using PJRT_Buffer_OnDeleteCallback = void (*)(void* device_buffer_ptr, void* user_arg);

// Objects that clients of 0.105 and later look into: a table of functions comes first.
struct PJRT_Error_FunctionTable {
  size_t struct_size, instance_size;
  PJRT_Extension_Base* extension_start;
  void (*destroy)(PJRT_Error*);
  void (*message)(const PJRT_Error*, const char** message, size_t* message_size);
  PJRT_Error_Code (*get_code)(const PJRT_Error*);
  void (*for_each_payload)(const PJRT_Error*, PJRT_Error_PayloadVisitor, void* user_arg);
};
struct PJRT_Memory_FunctionTable {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  size_t instance_struct_size;
  void* (*get_user_data)(PJRT_Memory*, const void* key);
  void (*set_user_data)(PJRT_Memory*, const void* key, void* data, void (*deleter)(void*));
};

enum PJRT_NamedValue_Type : uint32_t {
  PJRT_NamedValue_kString = 0,
  PJRT_NamedValue_kInt64 = 1,
  PJRT_NamedValue_kInt64List = 2,
  PJRT_NamedValue_kFloat = 3,
  PJRT_NamedValue_kBool = 4,
};
struct PJRT_NamedValue {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* name;
  size_t name_size;
  PJRT_NamedValue_Type type;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;
};

// Of host buffers and of programs' results; element_types.def has the same types under HLO's
// numbers.
enum PJRT_Buffer_Type : uint32_t {
#define BUFFER_TYPE(name, number, element_type) PJRT_Buffer_Type_##name = number,
#include "pjrt/buffer_types.def"
#undef BUFFER_TYPE
};
enum PJRT_HostBufferSemantics : uint32_t {
  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall = 0,
  PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes = 1,
  PJRT_HostBufferSemantics_kImmutableZeroCopy = 2,
  PJRT_HostBufferSemantics_kMutableZeroCopy = 3,
};
enum PJRT_Buffer_MemoryLayout_Type : uint32_t {
  PJRT_Buffer_MemoryLayout_Type_Tiled = 0,
  PJRT_Buffer_MemoryLayout_Type_Strides = 1,
};
struct PJRT_Buffer_MemoryLayout_Tiled {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims;
  const size_t* tile_dim_sizes;
  size_t num_tiles;
};
struct PJRT_Buffer_MemoryLayout_Strides {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* byte_strides;
  size_t num_byte_strides;
};
struct PJRT_Buffer_MemoryLayout {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  union {
    PJRT_Buffer_MemoryLayout_Tiled tiled;
    PJRT_Buffer_MemoryLayout_Strides strides;
  };
  PJRT_Buffer_MemoryLayout_Type type;
};
struct PJRT_ShapeSpec {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
};

struct PJRT_Program {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
};
struct PJRT_LogicalDeviceIds {
  int32_t replica, partition;
};
struct PJRT_ExecuteOptions {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  void* send_callbacks;
  void* recv_callbacks;
  size_t num_send_ops, num_recv_ops;
  int32_t launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  PJRT_ExecuteContext* context;
  const char* call_location;
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
  void* multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
  void* hlo_output_callbacks;
  size_t num_hlo_output_callbacks;
};

#define FIELD(type, name) type name;
#define FUNCTION(function, fields)        \
  struct PJRT_##function##_Args {         \
    size_t struct_size;                   \
    PJRT_Extension_Base* extension_start; \
    fields                                \
  };
#define VOID_FUNCTION FUNCTION
#define ABSENT(function) struct PJRT_##function##_Args;
#include "pjrt/functions.def"
#undef FIELD
#undef FUNCTION
#undef ABSENT

struct PJRT_Api_Version {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  int32_t major_version, minor_version;
};
struct PJRT_Api {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Api_Version pjrt_api_version;
#define FUNCTION(function, fields) PJRT_Error* (*PJRT_##function)(PJRT_##function##_Args*);
#undef VOID_FUNCTION
#define VOID_FUNCTION(function, fields) void (*PJRT_##function)(PJRT_##function##_Args*);
#define ABSENT(function) PJRT_Error* (*PJRT_##function)(PJRT_##function##_Args*);
#include "pjrt/functions.def"
#undef FUNCTION
#undef VOID_FUNCTION
#undef ABSENT
};
