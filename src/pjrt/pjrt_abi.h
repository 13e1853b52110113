// The PJRT C API as a client sees it: names, order and layout are the interface's. Each function
// takes one struct whose struct_size says how far its writer knew it, and returns null or an error.
// Reference: openxla.org/xla/pjrt; tests/pjrt/abi_peers.py holds every offset against another
// implementation's.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// For C, too, which has no enums of a given type.
#ifdef __cplusplus
#define PJRT_UINT32 : uint32_t
#else
#define PJRT_UINT32
#endif

typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;
typedef struct PJRT_ExecuteContext PJRT_ExecuteContext;
typedef struct PJRT_AsyncHostToDeviceTransferManager PJRT_AsyncHostToDeviceTransferManager;
// What keeps an answer alive, beside the function that ends it.
typedef struct PJRT_Holder PJRT_Holder;
typedef void (*PJRT_Holder_Deleter)(PJRT_Holder*);

enum PJRT_Extension_Type PJRT_UINT32 {
  PJRT_Extension_Type_Profiler = 1,
  PJRT_Extension_Type_Custom_Partitioner = 2,
  PJRT_Extension_Type_Layouts = 4,
  PJRT_Extension_Type_FFI = 5,
  PJRT_Extension_Type_MemoryDescriptions = 6,
  PJRT_Extension_Type_Shardings = 19,
  PJRT_Extension_Type_XlaTransform = 24,
};
typedef enum PJRT_Extension_Type PJRT_Extension_Type;
typedef struct PJRT_Extension_Base PJRT_Extension_Base;
struct PJRT_Extension_Base {
  size_t struct_size;
  PJRT_Extension_Type type;
  PJRT_Extension_Base* next;
};

enum PJRT_Error_Code PJRT_UINT32 {
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
typedef enum PJRT_Error_Code PJRT_Error_Code;
typedef void (*PJRT_Error_PayloadVisitor)(const char* key, size_t key_size, const char* value,
                                          size_t value_size, void* user_arg);
typedef void (*PJRT_Event_OnReadyCallback)(PJRT_Error* error, void* user_arg);
typedef void (*PJRT_Buffer_OnDeleteCallback)(void* device_buffer_ptr, void* user_arg);

// Objects that clients of 0.105 and later look into: a table of functions comes first.
typedef struct PJRT_Error_FunctionTable PJRT_Error_FunctionTable;
struct PJRT_Error_FunctionTable {
  size_t struct_size, instance_size;
  PJRT_Extension_Base* extension_start;
  void (*destroy)(PJRT_Error*);
  void (*message)(const PJRT_Error*, const char** message, size_t* message_size);
  PJRT_Error_Code (*get_code)(const PJRT_Error*);
  void (*for_each_payload)(const PJRT_Error*, PJRT_Error_PayloadVisitor, void* user_arg);
};
typedef struct PJRT_Memory_FunctionTable PJRT_Memory_FunctionTable;
struct PJRT_Memory_FunctionTable {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  size_t instance_struct_size;
  void* (*get_user_data)(PJRT_Memory*, const void* key);
  void (*set_user_data)(PJRT_Memory*, const void* key, void* data, void (*deleter)(void*));
};

enum PJRT_NamedValue_Type PJRT_UINT32 {
  PJRT_NamedValue_kString = 0,
  PJRT_NamedValue_kInt64 = 1,
  PJRT_NamedValue_kInt64List = 2,
  PJRT_NamedValue_kFloat = 3,
  PJRT_NamedValue_kBool = 4,
};
typedef enum PJRT_NamedValue_Type PJRT_NamedValue_Type;
typedef struct PJRT_NamedValue PJRT_NamedValue;
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
enum PJRT_Buffer_Type PJRT_UINT32 {
#define BUFFER_TYPE(name, number, element_type) PJRT_Buffer_Type_##name = number,
#include "pjrt/buffer_types.def"
#undef BUFFER_TYPE
};
typedef enum PJRT_Buffer_Type PJRT_Buffer_Type;
enum PJRT_HostBufferSemantics PJRT_UINT32 {
  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall = 0,
  PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes = 1,
  PJRT_HostBufferSemantics_kImmutableZeroCopy = 2,
  PJRT_HostBufferSemantics_kMutableZeroCopy = 3,
};
typedef enum PJRT_HostBufferSemantics PJRT_HostBufferSemantics;
enum PJRT_Buffer_MemoryLayout_Type PJRT_UINT32 {
  PJRT_Buffer_MemoryLayout_Type_Tiled = 0,
  PJRT_Buffer_MemoryLayout_Type_Strides = 1,
};
typedef enum PJRT_Buffer_MemoryLayout_Type PJRT_Buffer_MemoryLayout_Type;
typedef struct PJRT_Buffer_MemoryLayout_Tiled PJRT_Buffer_MemoryLayout_Tiled;
struct PJRT_Buffer_MemoryLayout_Tiled {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims;
  const size_t* tile_dim_sizes;
  size_t num_tiles;
};
typedef struct PJRT_Buffer_MemoryLayout_Strides PJRT_Buffer_MemoryLayout_Strides;
struct PJRT_Buffer_MemoryLayout_Strides {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* byte_strides;
  size_t num_byte_strides;
};
typedef struct PJRT_Buffer_MemoryLayout PJRT_Buffer_MemoryLayout;
struct PJRT_Buffer_MemoryLayout {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  union {
    PJRT_Buffer_MemoryLayout_Tiled tiled;
    PJRT_Buffer_MemoryLayout_Strides strides;
  };
  PJRT_Buffer_MemoryLayout_Type type;
};
typedef struct PJRT_ShapeSpec PJRT_ShapeSpec;
struct PJRT_ShapeSpec {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
};

typedef struct PJRT_Program PJRT_Program;
struct PJRT_Program {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
};
typedef struct PJRT_LogicalDeviceIds PJRT_LogicalDeviceIds;
struct PJRT_LogicalDeviceIds {
  int32_t replica, partition;
};
typedef struct PJRT_ExecuteOptions PJRT_ExecuteOptions;
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

// Of a store that processes share, given by who creates a client. A callback makes its error by
// callback_error; a value is the caller's until it is given to its deleter.
typedef PJRT_Error* (*PJRT_CallbackError)(PJRT_Error_Code code, const char* message,
                                          size_t message_size);
typedef void (*PJRT_KeyValue_ValueDeleter)(char* value);
typedef struct PJRT_KeyValueGetCallback_Args PJRT_KeyValueGetCallback_Args;
struct PJRT_KeyValueGetCallback_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* key;
  size_t key_size;
  int timeout_in_ms;
  PJRT_CallbackError* callback_error;
  void* user_arg;
  char* value;
  size_t value_size;
  PJRT_KeyValue_ValueDeleter value_deleter_callback;
};
typedef struct PJRT_KeyValueTryGetCallback_Args PJRT_KeyValueTryGetCallback_Args;
struct PJRT_KeyValueTryGetCallback_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* key;
  size_t key_size;
  PJRT_CallbackError* callback_error;
  void* user_arg;
  char* value;
  size_t value_size;
  PJRT_KeyValue_ValueDeleter value_deleter_callback;
};
typedef struct PJRT_KeyValuePutCallback_Args PJRT_KeyValuePutCallback_Args;
struct PJRT_KeyValuePutCallback_Args {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  const char* key;
  size_t key_size;
  const char* value;
  size_t value_size;
  PJRT_CallbackError* callback_error;
  void* user_arg;
};
typedef PJRT_Error* (*PJRT_KeyValueGetCallback)(PJRT_KeyValueGetCallback_Args*);
typedef PJRT_Error* (*PJRT_KeyValueTryGetCallback)(PJRT_KeyValueTryGetCallback_Args*);
typedef PJRT_Error* (*PJRT_KeyValuePutCallback)(PJRT_KeyValuePutCallback_Args*);

// What the service of a job thinks of a process.
enum PJRT_ProcessState PJRT_UINT32 {
  PJRT_ProcessState_kUnspecified = 0,
  PJRT_ProcessState_kUninitialized = 1,
  PJRT_ProcessState_kDisconnected = 2,
  PJRT_ProcessState_kConnected = 3,
  PJRT_ProcessState_kError = 4,
};
typedef enum PJRT_ProcessState PJRT_ProcessState;
typedef struct PJRT_ProcessInfo PJRT_ProcessInfo;
struct PJRT_ProcessInfo {
  size_t struct_size;
  int task_id;
  uint64_t incarnation_id;
  PJRT_ProcessState state;
  int error_code;
  const char* error_message;
  size_t error_message_size;
};

#define FIELD(type, name) type name;
#define REQUIRED FIELD
#define FUNCTION(function, fields)                              \
  typedef struct PJRT_##function##_Args PJRT_##function##_Args; \
  struct PJRT_##function##_Args {                               \
    size_t struct_size;                                         \
    PJRT_Extension_Base* extension_start;                       \
    fields                                                      \
  };
#define VOID_FUNCTION FUNCTION
#define ABSENT(function) typedef struct PJRT_##function##_Args PJRT_##function##_Args;
#include "pjrt/functions.def"
#undef FIELD
#undef REQUIRED
#undef FUNCTION
#undef ABSENT

typedef struct PJRT_Api_Version PJRT_Api_Version;
struct PJRT_Api_Version {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  int32_t major_version, minor_version;
};
typedef struct PJRT_Api PJRT_Api;
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
