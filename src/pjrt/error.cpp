#include "pjrt/error.h"

#include "pjrt/functions.h"

namespace hilo::pjrt {
namespace {

void destroy(PJRT_Error* error) { delete error; }
void message_of(const PJRT_Error* error, const char** message, size_t* size) {
  *message = error->message.c_str();
  *size = error->message.size();
}
PJRT_Error_Code code_of(const PJRT_Error* error) { return error->code; }
void no_payload(const PJRT_Error*, PJRT_Error_PayloadVisitor, void*) {}

constexpr PJRT_Error_FunctionTable table = {
    HILO_STRUCT_SIZE(PJRT_Error_FunctionTable, for_each_payload),
    sizeof(PJRT_Error),
    nullptr,
    destroy,
    message_of,
    code_of,
    no_payload};

struct Code {
  ErrorKind kind;
  PJRT_Error_Code code;
};
// What is not here is an INVALID_ARGUMENT; the other way the first of a code counts.
constexpr Code codes[] = {
    {ErrorKind::Interrupted, PJRT_Error_Code_CANCELLED},
    {ErrorKind::Io, PJRT_Error_Code_NOT_FOUND},
    {ErrorKind::Memory, PJRT_Error_Code_RESOURCE_EXHAUSTED},
    {ErrorKind::Deadlock, PJRT_Error_Code_ABORTED},
    {ErrorKind::Steps, PJRT_Error_Code_DEADLINE_EXCEEDED},
    {ErrorKind::Unsupported, PJRT_Error_Code_UNIMPLEMENTED},
    {ErrorKind::Evaluation, PJRT_Error_Code_INTERNAL},
    {ErrorKind::Input, PJRT_Error_Code_INVALID_ARGUMENT},
};

}  // namespace

PJRT_Error* make_error(PJRT_Error_Code code, std::string message) {
  return new PJRT_Error{&table, code, std::move(message)};
}

PJRT_Error* make_error(const Error& error) {
  PJRT_Error_Code code = PJRT_Error_Code_INVALID_ARGUMENT;
  for (const Code& row : codes)
    if (row.kind == error.kind) code = row.code;
  // Clients say themselves that it is an error; the place, where there is one, comes before.
  constexpr std::string_view head = "error: ";
  std::string said = to_string(error);
  if (said.starts_with(head)) said.erase(0, head.size());
  return make_error(code, std::move(said));
}

PJRT_Error* out_of_memory(const std::bad_alloc& error) {
  static PJRT_Error_FunctionTable undestroyed = [] {
    PJRT_Error_FunctionTable out = table;
    out.destroy = [](PJRT_Error*) {};
    return out;
  }();
  // Where there is no memory for the error either.
  static PJRT_Error last{&undestroyed, PJRT_Error_Code_RESOURCE_EXHAUSTED, "out of memory"};
  try {
    return make_error(memory_error(error));
  } catch (const std::bad_alloc&) {
    return &last;
  }
}

Error error_of(PJRT_Error_Code code, std::string message) {
  for (const Code& row : codes)
    if (row.code == code) return {row.kind, std::move(message), {}};
  return {ErrorKind::Evaluation, std::move(message), {}};
}

void Error_Destroy(PJRT_Error_Destroy_Args* args) {
  if (args->error) args->error->vtable->destroy(args->error);
}

void Error_Message(PJRT_Error_Message_Args* args) {
  if (args->error) return message_of(args->error, &args->message, &args->message_size);
  args->message = "";
  args->message_size = 0;
}

PJRT_Error* Error_GetCode(PJRT_Error_GetCode_Args* args) {
  args->code = args->error->code;
  return nullptr;
}

PJRT_Error* Error_ForEachPayload(PJRT_Error_ForEachPayload_Args*) { return nullptr; }

}  // namespace hilo::pjrt
