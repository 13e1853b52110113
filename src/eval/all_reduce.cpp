#include "eval/all_reduce.h"

#include "eval/collective.h"
#include "eval/convert.h"
#include "eval/lanes.h"
#include "eval/storage.h"

namespace hilo {
namespace {

// Runs the program over arrays of as many elements; accumulators are read and written.
Result<void> run_lanes(const Call& call, const LaneProgram& program,
                       std::span<Literal> accumulators, std::span<const Literal> values) {
  std::vector<std::byte*> into;
  std::vector<const std::byte*> from;
  for (size_t i = 0; i < accumulators.size(); ++i) {
    accumulators[i] = writable(call, std::move(accumulators[i]));
    into.push_back(accumulators[i].mutable_raw().data());
    from.push_back(values[i].raw().data());
  }
  std::mutex mutex;
  Result<void> outcome;
  call.parallel(values[0].count(), 1 << 15, [&](int64_t begin, int64_t end) {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (size_t i = 0; i < into.size(); ++i)
      outputs.push_back(into[i] + begin * storage_bytes(accumulators[i].type()));
    inputs.assign(outputs.begin(), outputs.end());
    for (size_t i = 0; i < from.size(); ++i)
      inputs.push_back(from[i] + begin * storage_bytes(values[i].type()));
    if (auto done = program.run(inputs, outputs, end - begin); !done) {
      std::lock_guard lock(mutex);
      outcome = std::move(done);
    }
  });
  return outcome;
}

// Whether each array is reduced by itself, or all together.
Result<bool> find_together(const Call& call, ComputationId computation,
                           std::span<const Literal> accumulators, std::span<const Literal> values) {
  const std::vector<InstructionId>& parameters = call.module[computation].parameters;
  const bool together = parameters.size() == 2 * values.size();
  if (!together && parameters.size() != 2)
    return call.error(ErrorKind::Shape, fmt::format("the computation has {} parameters for {} "
                                                    "arrays; expected 2 or 2 for each",
                                                    parameters.size(), values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const ElementType wanted = call.held(call.module.shape(parameters[together ? i : 0]).type);
    if (values[i].type() != wanted && !(is_floating(values[i].type()) && is_floating(wanted)))
      return call.error(ErrorKind::Unsupported,
                        fmt::format("reduces {} with a computation over {}",
                                    text_of(values[i].type()), text_of(wanted)));
    if (values[i].count() != accumulators[i].count() ||
        (together && values[i].count() != values[0].count()))
      return call.error(ErrorKind::Shape, "the devices bring arrays of different sizes");
  }
  return together;
}

// accumulator = computation(accumulator, value), element by element. Accumulators that are held in
// another type than the values are those of a combiner.
Result<void> reduce_into(const Call& call, ComputationId computation,
                         std::span<Literal> accumulators, std::span<const Literal> values) {
  HILO_TRY(const bool together, find_together(call, computation, accumulators, values));
  const size_t each = together ? values.size() : 1;
  for (size_t i = 0; i < values.size(); i += each) {
    const auto into = accumulators.subspan(i, each);
    const auto from = values.subspan(i, each);
    const bool is_wide = into[0].type() != from[0].type();
    HILO_TRY(
        const LaneProgram program,
        is_wide
            ? LaneProgram::make(call, *find_combiner(call.module, computation), from[0].type())
            : LaneProgram::make(call, computation, element_types(into, from), element_types(into)));
    HILO_DO(run_lanes(call, program, into, from));
  }
  return {};
}

Result<Literal> evaluate(Call& call) {
  const auto& attributes = call.attributes<AllReduceAttributes>();
  HILO_TRY(DeviceGroup group,
           need_group(call, attributes.replica_groups,
                      group_mode(attributes.channel_id, attributes.use_global_device_ids)));
  // One result for the whole group, made by the last comer on all threads, in the storage of the
  // first member where nobody else reads it.
  const auto conclude = [&](Rendezvous::Meeting& meeting) -> Result<void> {
    if (!meeting.common.empty()) return {};
    HILO_TRY(meeting.common,
             reduce_members(call, attributes.to_apply, std::ssize(meeting.brought),
                            [&](int64_t member) { return std::move(meeting.brought[member]); }));
    return {};
  };
  const auto exchange = [&](Rendezvous::Meeting& meeting, RemoteGroup& others) {
    return reduce_over_processes(call, attributes.to_apply, meeting, others);
  };
  HILO_TRY(auto meeting, call.device.traffic.rendezvous->meet(call, group, move_operands(call),
                                                              conclude, exchange));
  return pack_results(call, call.shape(), meeting->common);
}

}  // namespace

Result<std::vector<Literal>> reduce_members(const Call& call, ComputationId computation,
                                            int64_t members, const BroughtBy& brought_by) {
  if (!computation) return call.error(ErrorKind::Structure, "to_apply names no computation");
  const std::optional<Combiner> combiner = find_combiner(call.module, computation);
  std::vector<Literal> sums = brought_by(0);
  const std::vector<ElementType> types = element_types(sums);
  if (members > 1)
    for (Literal& sum : sums)
      if (const auto wide = wide_type(call, combiner, sum.type()))
        sum = converted(call, sum, *wide);
  for (int64_t member = 1; member < members; ++member)
    HILO_DO(reduce_into(call, computation, sums, brought_by(member)));
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = converted(call, sums[i], types[i]);
  return sums;
}

Result<Literal> evaluate_AllReduce(Call& call) { return evaluate(call); }
Result<Literal> evaluate_AllReduceStart(Call& call) { return evaluate(call); }
Result<Literal> evaluate_AllReduceDone(Call& call) { return std::move(call.operands[0]); }

}  // namespace hilo
