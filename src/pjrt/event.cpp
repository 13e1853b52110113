#include "pjrt/event.h"

#include "pjrt/functions.h"

namespace hilo::pjrt {
namespace {

// Null where it went well.
PJRT_Error* outcome(const Error* error) { return error ? make_error(*error) : nullptr; }

}  // namespace

PJRT_Event* make_event(const Event& event) {
  static PJRT_Event happened{{}, true};
  if (event.is_done() && !event.error()) return &happened;
  return new PJRT_Event{event, false};
}

void destroy_event(PJRT_Event* event) {
  if (event && !event->is_static) delete event;
}

PJRT_Error* Event_Destroy(PJRT_Event_Destroy_Args* args) {
  destroy_event(args->event);
  return nullptr;
}

PJRT_Error* Event_IsReady(PJRT_Event_IsReady_Args* args) {
  args->is_ready = args->event->event.is_done();
  return nullptr;
}

PJRT_Error* Event_Error(PJRT_Event_Error_Args* args) {
  const Event& event = args->event->event;
  if (!event.is_done())
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, "the event has not happened yet");
  return outcome(event.error());
}

PJRT_Error* Event_Await(PJRT_Event_Await_Args* args) {
  args->event->event.wait();
  return outcome(args->event->event.error());
}

// The client may destroy the event from inside the callback, which owns its error.
PJRT_Error* Event_OnReady(PJRT_Event_OnReady_Args* args) {
  const Event event = args->event->event;
  const PJRT_Event_OnReadyCallback callback = args->callback;
  void* const user_arg = args->user_arg;
  if (event.is_done()) {
    callback(outcome(event.error()), user_arg);
    return nullptr;
  }
  return answer([&] -> Result<void> {
    event.when_done(
        [callback, user_arg](const Error* error) { callback(outcome(error), user_arg); });
    return {};
  });
}

PJRT_Error* Event_Create(PJRT_Event_Create_Args* args) {
  return answer([&] -> Result<void> {
    args->event = new PJRT_Event{Event::pending(), false};
    return {};
  });
}

PJRT_Error* Event_Set(PJRT_Event_Set_Args* args) {
  return answer([&] -> Result<void> {
    const Event& event = args->event->event;
    if (event.is_done()) return fail(ErrorKind::Input, "the event has happened already");
    if (args->error_code == PJRT_Error_Code_OK) event.finish();
    else
      event.finish(error_of(args->error_code,
                            std::string(text(args->error_message, args->error_message_size))));
    return {};
  });
}

}  // namespace hilo::pjrt
