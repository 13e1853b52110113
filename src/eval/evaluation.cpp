#include "eval/evaluation.h"

#include <algorithm>
#include <chrono>

namespace hilo {
namespace {

constexpr int max_depth = 512;  // of calls; each level takes stack

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool has_dynamic_dims(const Shape& shape) {
  return shape.has_dynamic_dims() || std::ranges::any_of(shape.elements, has_dynamic_dims);
}

// Where some have, others may have such sizes as well that do not say so.
bool has_dynamic_dims(const Module& module) {
  return std::ranges::any_of(module.instructions, [&](const Instruction& instruction) {
    return !instruction.removed &&
           (instruction.op == Op::SetDimensionSize || has_dynamic_dims(module.shape(instruction)));
  });
}

}  // namespace

// One run of a computation on one device.
class EvaluationFrame {
 public:
  EvaluationFrame(Evaluation& evaluation, Device& device, const Module& module,
                  const PreparedComputation& prepared, std::vector<Literal> arguments, int depth)
      : evaluation_(evaluation),
        device_(device),
        module_(module),
        prepared_(prepared),
        arguments_(std::move(arguments)),
        values_(prepared.slots),
        depth_(depth) {}

  Result<Literal> run() {
    if (arguments_.size() < prepared_.parameters)
      return fail(ErrorKind::Input, "{} arguments for {} parameters", arguments_.size(),
                  prepared_.parameters);
    for (const Step& step : prepared_.steps) {
      Result<void> done = within_memory([&] { return this->step(step); });
      if (!done) {
        if (done.error().place.instruction.empty()) done.error().place = module_.place(step.id);
        return std::unexpected(std::move(done).error());
      }
    }
    return std::move(values_[prepared_.root]);
  }

 private:
  Result<void> step(const Step& step) {
    HILO_DO(evaluation_.may_go_on(device_));
    if (step.parameter >= 0 || step.take >= 0) {
      pass_on(step);
      return {};
    }
    gather_operands(step);
    HILO_DO(check_memory(step));
    const bool observed = static_cast<bool>(evaluation_.options().observer);
    const double start = observed ? seconds_now() : 0;
    const Instruction& instruction = module_[step.id];
    Call call{device_,   module_, step.id,           instruction,       operands_,
              step.held, depth_,  step.region.get(), step.widened.get()};
    Result<Literal> out = step.function(call);
    if (!out) return std::unexpected(std::move(out).error());
    HILO_DO(evaluation_.may_go_on(device_));  // an op that was interrupted left its loops
    operands_.clear();
    if (evaluation_.storage().over_limit()) return out_of_memory(0);
    place(step, *out);
    if (observed)
      evaluation_.options().observer({device_.id, step.id, &*out, seconds_now() - start, depth_});
    if (!step.unused) values_[step.slot] = std::move(*out);
    if (depth_ == 0) count_step();
    return {};
  }

  // A parameter, or the element of a tuple that nobody else takes.
  void pass_on(const Step& step) {
    Literal& value = values_[step.slot];
    if (step.parameter >= 0) {
      value = std::move(arguments_[step.parameter]);
    } else {
      const PreparedOperand& operand = prepared_.operands[step.first_operand];
      Literal& tuple = values_[operand.slot];
      value = std::move(tuple.mutable_elements()[step.take]);
      if (operand.dies) tuple = Literal();
    }
    place(step, value);
    if (evaluation_.options().observer)
      evaluation_.options().observer({device_.id, step.id, &value, 0, depth_});
    if (step.unused) value = Literal();
    if (depth_ == 0) count_step();
  }

  void place(const Step& step, Literal& value) {
    const auto& place = evaluation_.options().place;
    if (place && &module_ == &evaluation_.module()) place(device_.id, step.id, value);
  }

  // Those that die are moved, so that an op may write into them.
  void gather_operands(const Step& step) {
    for (uint32_t i = 0; i < step.operand_count; ++i) {
      const PreparedOperand& operand = prepared_.operands[step.first_operand + i];
      Literal& value = values_[operand.slot];
      if (operand.dies) operands_.push_back(std::exchange(value, Literal()));
      else operands_.push_back(value);
    }
  }

  // Before an op makes a large result, unless it may write into a dying operand.
  Result<void> check_memory(const Step& step) const {
    if (step.result_bytes < 4096 || evaluation_.storage().fits(step.result_bytes)) return {};
    for (const Literal& operand : operands_)
      if (operand.has_value() && literal_bytes(operand.shape()) >= step.result_bytes) return {};
    return out_of_memory(step.result_bytes);
  }

  std::unexpected<Error> out_of_memory(int64_t more) const {
    return fail(ErrorKind::Memory,
                "{} bytes of values are alive and {} more are needed; the limit is {}",
                evaluation_.storage().alive(), more, evaluation_.storage().limit());
  }

  void count_step() {
    const int64_t done = ++evaluation_.steps_done;
    if (evaluation_.options().progress)
      evaluation_.options().progress(done, evaluation_.steps_total);
  }

  Evaluation& evaluation_;
  Device& device_;
  const Module& module_;
  const PreparedComputation& prepared_;
  std::vector<Literal> arguments_, values_;
  std::vector<Literal> operands_;
  int depth_;
};

Evaluation::Evaluation(const Module& module, const EvalOptions& options)
    : module_(module),
      options_(options),
      pool_(options.threads > 0 ? options.threads : usable_cores()),
      storage_(options.memory_limit, options.allocate),
      // An observer, or who places values, wants to see every one, and the reference computes each
      // by the function of its op.
      by_blocks_(!options.reference && !options.observer && !options.place &&
                 !has_dynamic_dims(module)),
      prepared_(module.computations.size()) {
  allocate_ = [this](int64_t bytes) { return storage_.make(bytes); };
}

Result<Evaluation::PreparedRef> Evaluation::prepared(const Module& module,
                                                     ComputationId computation) {
  const bool ours = &module == &module_;
  if (ours) {
    std::lock_guard lock(mutex_);
    if (prepared_[computation.value]) return prepared_[computation.value];
  }
  HILO_TRY(PreparedComputation made,
           prepare(module, computation, options_.ideal_floats, by_blocks_));
  if (by_blocks_) made.small = SmallComputation::find(module, computation, options_.ideal_floats);
  PreparedRef out = std::make_shared<const PreparedComputation>(std::move(made));
  if (ours) {
    std::lock_guard lock(mutex_);
    prepared_[computation.value] = out;
  }
  return out;
}

Result<Literal> Evaluation::run(Device& device, const Module& module, ComputationId computation,
                                std::vector<Literal> arguments, int depth) {
  if (!computation || computation.value >= module.computations.size())
    return fail(ErrorKind::Structure, "a called computation is missing");
  if (depth > max_depth) return fail(ErrorKind::Limit, "calls nested deeper than {}", max_depth);
  HILO_TRY(const PreparedRef prepared, this->prepared(module, computation));
  if (prepared->small && depth > 0)
    if (std::optional<Literal> out = prepared->small->run(allocate_, arguments))
      return std::move(*out);
  return EvaluationFrame(*this, device, module, *prepared, std::move(arguments), depth).run();
}

Result<void> Evaluation::may_go_on(const Device& device) const {
  if (is_interrupted()) return fail(ErrorKind::Interrupted, "interrupted");
  const Rendezvous* rendezvous = device.traffic.rendezvous;
  if (rendezvous && rendezvous->stopped()) return std::unexpected(*rendezvous->error());
  return {};
}

void Evaluation::warn(std::string message) {
  if (!options_.warnings) return;
  std::lock_guard lock(mutex_);
  for (const std::string& known : *options_.warnings)
    if (known == message) return;
  options_.warnings->push_back(std::move(message));
}

}  // namespace hilo
