// Events of the C API. Private to `pjrt`.
#pragma once

#include "device/device.h"
#include "pjrt/error.h"

struct PJRT_Event {
  hilo::Event event;
  bool is_static = false;
};

namespace hilo::pjrt {

// The client's own; those that have happened well are one and the same.
PJRT_Event* make_event(const Event& event = {});
void destroy_event(PJRT_Event* event);

}  // namespace hilo::pjrt
