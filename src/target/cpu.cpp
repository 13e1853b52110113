#include "target/open_emitter.h"
#include "target/target.h"

namespace hilo {
namespace {

Result<void> open_for_cpu() {
  HILO_DO(find_emitter());
  return {};
}

void get_cpu_ready() {
  try {
    if (const auto emitter = find_emitter()) emitter->open();
  } catch (const std::bad_alloc&) {  // who compiles is told of it
  }
}

Result<KernelChip> kernel_chip_for_cpu(const EmitOptions& options) {
  KernelChip out = {registers_of_host(), !options.is_alone(), &find_cpu(options.cpu)};
  if (options.cpu == "native") return out;
  HILO_TRY(const Emitter emitter, find_emitter());
  Result<VectorRegisters> registers;
  emitter.find_registers(options, registers);
  HILO_TRY(out.registers, registers);
  return out;
}

Result<Code> emit_for_cpu(const Module& module, const Plan& plan, const EmitOptions& options) {
  HILO_TRY(const Emitter emitter, find_emitter());
  Result<Code> out = fail(ErrorKind::Unsupported, "not emitted");
  emitter.emit(module, plan, options, out);
  return out;
}

constexpr TargetStep steps[] = {
#define STEP(pass, reason) {pass, reason},
#include "target/cpu_pipeline.def"
#undef STEP
};
constexpr std::string_view after_commas =
#define STEP(pass, reason) ", " pass
#include "target/cpu_pipeline.def"
#undef STEP
    ;
constexpr std::string_view pipeline = after_commas.substr(2);

PassOptions options_for_cpu(const Machine& machine) {
  PassOptions out;
  out.machine = &machine;
  // Products are kernels of their own.
  out.fusion = {.products = false,
                .gathers = true,
                .scalars = true,
                .complex = true,
                .several_reduced = true,
                .windows = true,
                .slabs = true,
                .scheduled = true};
  return out;
}

Result<void> prepare_for_cpu(Module& module, const Machine& machine,
                             const PrepareOptions& options) {
  HILO_TRY(const Pipeline parsed, parse_pipeline(pipeline, all_passes(), all_pipelines()));
  PassOptions pass = options_for_cpu(machine);
  pass.supplied_calls = options.supplied_calls;
  HILO_DO(run_pipeline(module, parsed, {.pass = std::move(pass), .observer = options.observer}));
  return {};
}

// It is known where the parts of tuples are: their tables of pointers are never made.
Machine cpu_machine(std::string_view cpu) {
  Machine out = find_cpu(cpu);
  out.pointer_bytes = 0;
  return out;
}

}  // namespace

const Target& cpu_target() {
  static constexpr Target target = {.name = "cpu",
                                    .description = "this machine's processor, by LLVM",
                                    .machine = cpu_machine,
                                    .steps = steps,
                                    .pipeline = pipeline,
                                    .pass_options = options_for_cpu,
                                    .prepare = prepare_for_cpu,
                                    .open = open_for_cpu,
                                    .get_ready = get_cpu_ready,
                                    .kernel_chip = kernel_chip_for_cpu,
                                    .emit = emit_for_cpu};
  return target;
}

std::vector<NamedPipeline> pipelines_of(const Target& target) {
  std::vector<NamedPipeline> out(all_pipelines().begin(), all_pipelines().end());
  out.push_back(
      {target.name, "what the compiler for this machine's processor runs", target.pipeline});
  return out;
}

}  // namespace hilo
