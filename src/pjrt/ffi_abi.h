// XLA's foreign function interface as handlers see it: names, order and layout are the interface's.
// Reference: jaxlib/include/xla/ffi/api/c_api.h, version 0.3.
#pragma once

#include <cstddef>
#include <cstdint>

struct XLA_FFI_Error;
struct XLA_FFI_ExecutionContext;
struct XLA_FFI_Future;

enum XLA_FFI_Extension_Type : uint32_t { XLA_FFI_Extension_Metadata = 1 };
struct XLA_FFI_Extension_Base {
  size_t struct_size;
  XLA_FFI_Extension_Type type;
  XLA_FFI_Extension_Base* next;
};
struct XLA_FFI_Api_Version {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int32_t major_version, minor_version;
};
struct XLA_FFI_ByteSpan {
  const char* ptr;
  size_t len;
};
struct XLA_FFI_TypeId {
  int64_t type_id;
};

// Values: element types have the numbers of HLO's PrimitiveType.
struct XLA_FFI_Buffer {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  uint32_t dtype;
  void* data;
  int64_t rank;
  int64_t* dims;
};
enum XLA_FFI_ArgType : uint32_t { XLA_FFI_ArgType_BUFFER = 1 };
enum XLA_FFI_AttrType : uint32_t {
  XLA_FFI_AttrType_ARRAY = 1,
  XLA_FFI_AttrType_DICTIONARY = 2,
  XLA_FFI_AttrType_SCALAR = 3,
  XLA_FFI_AttrType_STRING = 4,
};
struct XLA_FFI_Scalar {
  uint32_t dtype;
  void* value;
};
struct XLA_FFI_Array {
  uint32_t dtype;
  size_t size;
  void* data;
};
struct XLA_FFI_Args {  // and XLA_FFI_Rets
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int64_t size;
  XLA_FFI_ArgType* types;
  void** args;
};
struct XLA_FFI_Attrs {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int64_t size;
  XLA_FFI_AttrType* types;
  XLA_FFI_ByteSpan** names;
  void** attrs;
};

// A question about a handler, instead of a call.
struct XLA_FFI_Metadata {
  size_t struct_size;
  XLA_FFI_Api_Version api_version;
  uint32_t traits;
  XLA_FFI_TypeId state_type_id;
};
struct XLA_FFI_Metadata_Extension {
  XLA_FFI_Extension_Base extension_base;
  XLA_FFI_Metadata* metadata;
};

struct XLA_FFI_Api;
enum XLA_FFI_ExecutionStage : uint32_t {
  XLA_FFI_ExecutionStage_INSTANTIATE = 0,  // once for a call of a program's
  XLA_FFI_ExecutionStage_PREPARE = 1,      // these two once for a run
  XLA_FFI_ExecutionStage_INITIALIZE = 2,
  XLA_FFI_ExecutionStage_EXECUTE = 3,
};
struct XLA_FFI_CallFrame {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  const XLA_FFI_Api* api;
  XLA_FFI_ExecutionContext* ctx;
  XLA_FFI_ExecutionStage stage;
  XLA_FFI_Args args;
  XLA_FFI_Args rets;
  XLA_FFI_Attrs attrs;
  XLA_FFI_Future* future;  // filled by who does not wait
};
using XLA_FFI_Handler = XLA_FFI_Error* (*)(XLA_FFI_CallFrame*);

using XLA_FFI_Task = void (*)(void* data);

// What handlers may ask for.
struct XLA_FFI_TypeInfo {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  void (*deleter)(void* object);
};
struct XLA_FFI_Handler_Bundle {  // all but the last may be null
  XLA_FFI_Handler instantiate, prepare, initialize, execute;
  bool operator==(const XLA_FFI_Handler_Bundle&) const = default;
};
#define XLA_FFI_ARGS(function, ...)          \
  struct XLA_FFI_##function##_Args {         \
    size_t struct_size;                      \
    XLA_FFI_Extension_Base* extension_start; \
    __VA_ARGS__                              \
  };
#define FIELD(type, name) type name;
#define FFI_FUNCTION(result, function, fields) XLA_FFI_ARGS(function, fields)
#include "pjrt/ffi_functions.def"
#undef FFI_FUNCTION
#undef FIELD
#undef XLA_FFI_ARGS
struct XLA_FFI_Api {
  size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  XLA_FFI_Api_Version api_version;
  const void* internal_api;
#define FFI_FUNCTION(result, function, fields) \
  result (*XLA_FFI_##function)(XLA_FFI_##function##_Args*);
#include "pjrt/ffi_functions.def"
#undef FFI_FUNCTION
};
