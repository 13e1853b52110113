// The modules of a program as XLA writes them under xla_dump_to. Private to `pjrt`.
#pragma once

#include "ir/ir.h"

namespace hilo::pjrt {

class Dump {
 public:
  // Nothing is written where `folder` is empty.
  Dump(std::string folder, std::string_view module_name);
  // FOLDER/module_NNNN.NAME.STAGE.txt
  Result<void> write(std::string_view stage, const Module& module) const;

 private:
  std::string start_;
};

}  // namespace hilo::pjrt
