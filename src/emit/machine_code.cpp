#include "emit/machine_code.h"

#include <chrono>

#include "emit/code_generator.h"
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

// Makes objects of parts, each on one thread.
class Makers {
 public:
  Makers(Parts& parts, CodeGenerators& generators, bool verify)
      : parts_(parts), generators_(generators), verify_(verify), seconds_(parts.size()) {
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
    auto generator = generators_.take();
    if (!generator) {
      objects_[i] = std::unexpected(generator.error());
      return;
    }
    Clock clock;
    for (llvm::Function& function : parts_[i])
      if (!function.isDeclaration()) CodeGenerator::set_attributes(function);
    optimise(parts_[i], (*generator)->machine(), verify_);
    seconds_[i].first = clock.lap();
    objects_[i] = (*generator)->object_of(parts_[i]);
    parts_.drop(i);
    seconds_[i].second = clock.lap();
    generators_.give_back(std::move(*generator));
  }

  Parts& parts_;
  CodeGenerators& generators_;
  bool verify_;
  std::vector<Result<Object>> objects_;
  std::vector<std::pair<double, double>> seconds_;  // of optimising, of making code
};

// Of this machine's processor: they outlive compilations, since making one takes as long as a small
// program's code. Code is the same with any of them.
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

Result<void> make_machine_code(Parts& parts, const EmitOptions& options, Code& code) {
  const int threads = options.threads > 0 ? options.threads : usable_cores();
  std::optional<CodeGenerators> others;
  CodeGenerators* generators = nullptr;
  if (options.cpu == "native") {
    HILO_TRY(generators, generators_of_host());
  } else {
    HILO_TRY(Chip chip, find_chip(options));
    generators = &others.emplace(std::move(chip));
  }
  Makers makers(parts, *generators, options.verify_ir);
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
