#include <dlfcn.h>

#include <chrono>
#include <filesystem>

#include "target/keep_order.h"
#include "target/merge_collectives.h"
#include "target/needless_copies.h"
#include "target/one_type.h"
#include "target/open_fusions.h"
#include "target/plain_convolutions.h"
#include "target/row_major.h"
#include "target/share_reshapes.h"
#include "target/sliced_products.h"
#include "target/target.h"

namespace hilo {
namespace {

struct Emitter {
  decltype(&hilo_emit) emit;
  decltype(&hilo_open_emitter) open;
};

// The name of the shared object that holds the room `emit` with LLVM.
constexpr const char* library_name = "libhilo_emit.so";

// Beside the program or above it, where an installation has libraries, or where the loader looks.
std::vector<std::string> places() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {library_name};
  const std::filesystem::path folder = program.parent_path();
  return {folder / library_name, folder / ".." / library_name,
          folder / ".." / "lib" / "hilo" / library_name, library_name};
}

Result<Emitter> open_emitter() {
  std::string reasons;
  for (const std::string& place : places()) {
    if (place.contains('/') && !std::filesystem::exists(place)) continue;
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      void* emit = dlsym(library, "hilo_emit");
      void* open = dlsym(library, "hilo_open_emitter");
      if (emit && open)
        return Emitter{reinterpret_cast<decltype(Emitter::emit)>(emit),
                       reinterpret_cast<decltype(Emitter::open)>(open)};
    }
    const char* reason = dlerror();
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", reason ? reason : place);
  }
  return fail(ErrorKind::Unsupported, "device cpu: {} cannot be opened: {}", library_name, reasons);
}

// The emitter is opened once, when the first module is compiled.
Result<Emitter> find_emitter() {
  static const Result<Emitter> opened = open_emitter();
  return opened;
}

Result<void> open_for_cpu() {
  HILO_DO(find_emitter());
  return {};
}

void get_cpu_ready() {
  if (const auto emitter = find_emitter()) emitter->open();
}

Result<Code> emit_for_cpu(const Module& module, const Plan& plan, const EmitOptions& options) {
  HILO_TRY(const Emitter emitter, find_emitter());
  Result<Code> out = fail(ErrorKind::Unsupported, "not emitted");
  emitter.emit(module, plan, options, out);
  return out;
}

Result<void> prepare_for_cpu(Module& module, const Machine& machine, const PassObserver& observer) {
  PassOptions options;
  options.machine = &machine;
  const auto pass = [&](std::string_view name, PassFunction run) -> Result<void> {
    const auto start = std::chrono::steady_clock::now();
    HILO_TRY(const bool changed, run_pass(module, run, options));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    observer({0, name, took.count(), changed, module.instructions.size()}, module);
    return {};
  };
  HILO_DO(pass("row-major", put_in_row_major));
  HILO_DO(pass("move-in-one-type", move_in_one_type));
  HILO_DO(pass("async-to-sync", make_synchronous));
  HILO_DO(pass("open-fusions", open_fusions));
  HILO_DO(pass("remove-copies", remove_copies));
  HILO_DO(pass("merge-collectives", merge_collectives));
  HILO_DO(pass("keep-order", keep_order));
  HILO_DO(pass("plain-convolutions", make_convolutions_plain));
  HILO_TRY(const Pipeline simplify, parse_pipeline("simplify", all_passes(), all_pipelines()));
  PipelineOptions simplifying;
  simplifying.pass = options;
  simplifying.observer = [&](const PassRun& run, const Module& now) -> Result<void> {
    observer(run, now);
    return {};
  };
  HILO_DO(run_pipeline(module, simplify, simplifying));
  HILO_DO(pass("reduction-splitter", split_reductions));
  HILO_DO(pass("sliced-products", fuse_sliced_products));
  // Products are kernels of their own.
  options.fusion = {.products = false,
                    .gathers = true,
                    .scalars = true,
                    .complex = true,
                    .several_reduced = true,
                    .scheduled = true};
  HILO_DO(pass("fusion", fuse_instructions));
  HILO_DO(pass("share-reshapes", share_reshapes));
  HILO_DO(pass("copy-insertion", insert_copies));
  return {};
}

}  // namespace

const Target& cpu_target() {
  static constexpr Target target = {"cpu",
                                    "this machine's processor, by LLVM",
                                    [] { return find_machine("cpu"); },
                                    prepare_for_cpu,
                                    open_for_cpu,
                                    get_cpu_ready,
                                    emit_for_cpu};
  return target;
}

}  // namespace hilo
