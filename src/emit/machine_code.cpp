#include "emit/machine_code.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <chrono>

#include "emit/code_cache.h"
#include "emit/code_generator.h"
#include "emit/function_passes.h"
#include "emit/link.h"
#include "emit/llvm_failure.h"

namespace hilo {
namespace {

using Object = std::unique_ptr<llvm::MemoryBuffer>;

class Clock {
 public:
  // Seconds since the last call.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double out = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return out;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::string printed(const llvm::Module& ir) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  ir.print(stream, nullptr);
  return out;
}

// Of a copy, for the code generator changes what it is given.
std::string assembly_of(const llvm::Module& ir, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const auto copy = llvm::CloneModule(ir);
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return {};
  passes.run(*copy);
  return {bytes.data(), bytes.size()};
}

// Of one part.
struct Made {
  Result<Object> object;
  double optimise = 0, machine = 0, cache = 0;  // seconds
  std::string ir, assembly;                     // for EmitOptions::see_code
};

// Makes objects of parts, each on one thread.
class Makers {
 public:
  Makers(LlvmModules& parts, CodeGenerators& generators, const Chip& chip,
         const EmitOptions& options)
      : parts_(parts),
        generators_(generators),
        options_(options),
        cache_(options.see_code ? CacheOptions() : options.cache, chip),
        made_(parts.size()) {}

  Result<std::vector<Object>> run(int threads, Code& code) {
    Clock clock;
    const auto count = static_cast<int64_t>(parts_.size());
    ThreadPool pool(static_cast<int>(std::min<int64_t>(threads, count)));
    pool.run(count, [&](int64_t i) { make(static_cast<size_t>(i)); });
    std::vector<Object> out;
    double optimise = 0, machine = 0, cache = 0;
    for (Made& made : made_) {
      HILO_TRY(auto object, std::move(made.object));
      out.push_back(std::move(object));
      optimise += made.optimise;
      machine += made.machine;
      cache += made.cache;
      if (options_.see_code) options_.see_code(made.ir, made.assembly);
    }
    code.cache = cache_.close();
    const double share = clock.lap() / (optimise + machine + cache);
    code.optimise_seconds = share * optimise;
    code.machine_seconds = share * machine;
    code.cache_seconds = share * cache;
    return out;
  }

 private:
  void make(size_t i) {
    Clock clock;
    Made& made = made_[i];
    if (!may_go_on(made)) return;
    for (llvm::Function& function : parts_[i])
      if (!function.isDeclaration()) CodeGenerator::set_attributes(function);
    const std::string key = cache_.key_of(parts_[i]);
    Object kept = cache_.find(key);
    const bool is_new = !kept;
    made.cache = clock.lap();
    if (is_new) compile(parts_[i], made);
    else made.object = std::move(kept);
    parts_.drop(i);
    clock.lap();
    if (is_new && made.object) cache_.keep(key, (*made.object)->getBuffer());
    made.cache += clock.lap();
  }

  bool may_go_on(Made& made) const {
    const auto going_on = hilo::may_go_on(options_.interrupt);
    if (!going_on) made.object = std::unexpected(going_on.error());
    return going_on.has_value();
  }

  void compile(llvm::Module& ir, Made& made) {
    auto taken = generators_.take();
    if (!taken) {
      made.object = std::unexpected(taken.error());
      return;
    }
    const LostWhereThrown<std::unique_ptr<CodeGenerator>> generator(std::move(*taken));
    Clock clock;
    llvm::TargetMachine& machine = (*generator)->machine();
    optimise(ir, machine, options_.verify_ir);
    made.optimise = clock.lap();
    if (may_go_on(made)) {
      if (options_.see_code) made.ir = printed(ir), made.assembly = assembly_of(ir, machine);
      clock.lap();
      made.object = (*generator)->object_of(ir);
      made.machine = clock.lap();
    }
    generators_.give_back(std::move(*generator));
  }

  LlvmModules& parts_;
  CodeGenerators& generators_;
  const EmitOptions& options_;
  CodeCache cache_;
  std::vector<Made> made_;
};

// Of this machine's processor, for all compilations of the process: making one takes as long as a
// small program's code, and LLVM's own tables, which it fills, are the process's as well. Nothing
// that decides what code is made changes in them, so the code is the same with any of them.
Result<CodeGenerators*> generators_of_host() {
  static const auto made = [] -> Result<std::unique_ptr<CodeGenerators>> {
    HILO_TRY(Chip chip, find_chip({}));
    return std::make_unique<CodeGenerators>(std::move(chip));
  }();
  if (!made) return std::unexpected(made.error());
  return made->get();
}

}  // namespace

void open_code_generator() {
  if (const auto generators = generators_of_host()) (*generators)->make_ready();
}

Result<void> make_machine_code(const Module& module, LlvmModules& parts, const EmitOptions& options,
                               Code& code) {
  const int threads = options.threads > 0 ? options.threads : usable_cores();
  HILO_TRY(const Chip chip, find_chip(options));
  std::optional<CodeGenerators> others;
  CodeGenerators* generators = nullptr;
  if (options.cpu == "native") {
    HILO_TRY(generators, generators_of_host());
  } else {
    generators = &others.emplace(chip);
  }
  Makers makers(parts, *generators, chip, options);
  HILO_TRY(const auto objects, makers.run(threads, code));
  if (!options.object_name.empty()) {
    code.object = objects[0]->getBuffer().str();
    return {};
  }
  Clock clock;
  HILO_DO(link(objects, module, code));
  code.link_seconds = clock.lap();
  code.machine_seconds += code.link_seconds;
  return {};
}

}  // namespace hilo
