#include "pjrt/later_run.h"

namespace hilo::pjrt {
namespace {

Result<std::vector<Literal>> values_of(LaterRun& run) {
  std::vector<Literal> arguments;
  arguments.reserve(run.arguments.size());
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    HILO_TRY(Literal value, run.arguments[i].take());
    arguments.push_back(run.program->parameters.argument(i, std::move(value)));
  }
  return run.program->executable.run_leaves(arguments);
}

// Only the buffer has its value when it is told that it is there: then it can give it away.
void tell(std::shared_ptr<PromisedValue> result, const std::optional<Error>& error) {
  const Event ready = result->ready;
  result.reset();
  ready.finish(error);
}

}  // namespace

void LaterRun::run() {
  Result<std::vector<Literal>> made = within_memory([&] { return values_of(*this); });
  const std::optional<Error> error = made ? std::nullopt : std::optional(made.error());
  for (size_t i = 0; made && i < results.size(); ++i) {
    Literal value = std::move((*made)[i]);
    results[i]->is_guarded = !value.is_unique();
    results[i]->value = std::move(value);
  }
  arguments.clear();
  for (std::shared_ptr<PromisedValue>& result : results) tell(std::move(result), error);
  complete.finish(error);
}

}  // namespace hilo::pjrt
