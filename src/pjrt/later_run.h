// Runs that a device's thread does. Private to `pjrt`.
#pragma once

#include "pjrt/program.h"

namespace hilo::pjrt {

// Results are promised; an error is told by their events and by `complete`.
struct LaterRun {
  std::shared_ptr<const Program> program;
  std::vector<HeldValue> arguments;
  std::vector<std::shared_ptr<PromisedValue>> results;
  Event complete = Event::pending();

  void run();
};

}  // namespace hilo::pjrt
