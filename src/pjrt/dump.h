// The modules of a program as XLA writes them under xla_dump_to. Private to `pjrt`.
#pragma once

#include "ir/ir.h"
#include "pjrt/compile_options.h"

namespace hilo::pjrt {

class Dump {
 public:
  Dump(const DumpSettings& settings, std::string_view module_name);
  // FOLDER/module_NNNN.NAME.STAGE.txt, and .hlo.pb, an HloProto.
  Result<void> write(std::string_view stage, const Module& module) const;

 private:
  DumpSettings settings_;
  std::string start_;
};

}  // namespace hilo::pjrt
