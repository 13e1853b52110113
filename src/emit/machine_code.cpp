#include "emit/machine_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>

#include <chrono>

#include "emit/function_passes.h"
#include "emit/link.h"

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

Result<Object> object_of(llvm::Module& ir, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* context = nullptr;
  if (machine.addPassesToEmitMC(passes, context, stream, true))
    return fail(ErrorKind::Unsupported, "LLVM cannot emit code for this chip");
  passes.run(ir);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "hilo", false);
}

void set_attributes(llvm::Module& ir) {
  for (llvm::Function& function : ir) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("prefer-vector-width", "512");
    // Subnormal numbers are zeros when the code runs, as in the evaluator and in XLA.
    function.addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
  }
}

// Makes objects of parts, each on one thread.
class Makers {
 public:
  Makers(Parts& parts, const Chip& chip, bool verify)
      : parts_(parts), chip_(chip), verify_(verify), seconds_(parts.size()) {
    for (size_t i = 0; i < parts.size(); ++i) objects_.push_back(Object());
  }

  Result<std::vector<Object>> run(int threads, Code& code) {
    Clock clock;
    const auto count = static_cast<int64_t>(parts_.size());
    ThreadPool pool(static_cast<int>(std::min<int64_t>(threads, count)));
    pool.run(count, [&](int64_t i) { make(static_cast<size_t>(i)); });
    std::vector<Object> out;
    double optimise = 0, machine = 0;
    for (size_t i = 0; i < objects_.size(); ++i) {
      HILO_TRY(auto object, std::move(objects_[i]));
      out.push_back(std::move(object));
      optimise += seconds_[i].first;
      machine += seconds_[i].second;
    }
    const double wall = clock.lap();
    code.optimise_seconds = wall * optimise / (optimise + machine);
    code.machine_seconds = wall - code.optimise_seconds;
    return out;
  }

 private:
  void make(size_t i) {
    auto machine = take();
    if (!machine) {
      objects_[i] = std::unexpected(machine.error());
      return;
    }
    Clock clock;
    set_attributes(parts_[i]);
    optimise(parts_[i], **machine, verify_);
    seconds_[i].first = clock.lap();
    objects_[i] = object_of(parts_[i], **machine);
    parts_.drop(i);
    seconds_[i].second = clock.lap();
    const std::lock_guard guard(lock_);
    idle_.push_back(*machine);
  }

  Result<llvm::TargetMachine*> take() {
    {
      const std::lock_guard guard(lock_);
      if (!idle_.empty()) {
        llvm::TargetMachine* out = idle_.back();
        idle_.pop_back();
        return out;
      }
    }
    HILO_TRY(auto made, chip_.machine());
    const std::lock_guard guard(lock_);
    machines_.push_back(std::move(made));
    return machines_.back().get();
  }

  Parts& parts_;
  const Chip& chip_;
  bool verify_;
  std::vector<Result<Object>> objects_;
  std::vector<std::pair<double, double>> seconds_;  // of optimising, of making code
  std::mutex lock_;
  std::vector<llvm::TargetMachine*> idle_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> machines_;
};

}  // namespace

Result<void> make_machine_code(Parts& parts, const EmitOptions& options, Code& code) {
  HILO_TRY(const Chip chip, find_chip(options));
  const int threads = options.threads > 0 ? options.threads : usable_cores();
  Makers makers(parts, chip, options.verify_ir);
  HILO_TRY(const auto objects, makers.run(threads, code));
  if (!options.object_name.empty()) {
    code.object = objects[0]->getBuffer().str();
    return {};
  }
  Clock clock;
  HILO_DO(link(objects, code));
  code.machine_seconds += clock.lap();
  return {};
}

}  // namespace hilo
