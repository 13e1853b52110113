#include "emit/emit.h"

#include <llvm/Support/raw_ostream.h>

#include <chrono>

#include "emit/cache_sizes.h"
#include "emit/llvm_failure.h"
#include "emit/machine_code.h"
#include "emit/standalone.h"
#include "emit/steps.h"
#include "emit/vector_registers.h"

namespace hilo {
Result<Code> emit(const Module& module, const Plan& plan, const EmitOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const bool to_object = !options.object_name.empty();
  HILO_TRY(const VectorRegisters registers, find_vector_registers(options));
  const LostWhereThrown<LlvmModules> kept(std::string(module.header.name), registers, to_object);
  LlvmModules& parts = *kept;
  set_cpu(parts.first(), options.cpu);
  if (options.is_alone()) parts.first().addModuleFlag(llvm::Module::Override, stands_alone, 1);
  Program program(module, plan, parts);
  program.tells_steps = options.tell_steps;
  program.is_object = to_object;
  program.interrupt = options.interrupt;
  program.needs_code = options.tell_steps || to_object;
  HILO_DO(emit_computation(program, module.entry));
  program.code.results = program.addresses.of(module[module.entry].root);
  program.code.memory = program.addresses.memory(program.scratch_bytes);
  if (to_object) HILO_DO(make_standalone(program, options));
  program.code.lower_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.see_ir) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (size_t i = 0; i < parts.size(); ++i) parts[i].print(stream, nullptr);
    options.see_ir(text);
  }
  // Else code.run stays null: the run does the library steps in their order.
  if (program.needs_code) HILO_DO(make_machine_code(module, parts, options, program.code));
  return std::move(program.code);
}

}  // namespace hilo

extern "C" [[gnu::visibility("default")]] void hilo_emit(const hilo::Module& module,
                                                         const hilo::Plan& plan,
                                                         const hilo::EmitOptions& options,
                                                         hilo::Result<hilo::Code>& out) {
  hilo::make_llvm_throw();
  out = hilo::within_llvm([&] { return hilo::emit(module, plan, options); });
}

extern "C" [[gnu::visibility("default")]] void hilo_find_registers(
    const hilo::EmitOptions& options, hilo::Result<hilo::VectorRegisters>& out) {
  hilo::make_llvm_throw();
  out = hilo::within_llvm([&] { return hilo::find_vector_registers(options); });
}

extern "C" [[gnu::visibility("default")]] void hilo_open_emitter() {
  hilo::make_llvm_throw();
  // Who compiles is told of errors.
  (void)hilo::within_llvm([] -> hilo::Result<void> {
    hilo::open_code_generator();
    return {};
  });
}
