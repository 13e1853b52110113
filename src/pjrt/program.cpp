#include "pjrt/program.h"

#include <algorithm>
#include <set>

#include "analysis/analysis.h"
#include "pass/pass.h"
#include "pjrt/calls_on_tiles.h"
#include "pjrt/dump.h"
#include "pjrt/entry_order.h"
#include "pjrt/ffi.h"
#include "pjrt/transforms.h"
#include "pjrt/version.h"
#include "text/text.h"
#include "verify/verify.h"
#include "wire/wire.h"

namespace hilo::pjrt {
namespace {

// Where arrays that stay on the host are, in layouts.
constexpr int64_t host_memory_space = 5;

size_t memory_kind_of(const Shape& shape) {
  return shape.has_layout && shape.layout.memory_space == host_memory_space ? 1 : 0;
}

std::string serialized_head() { return fmt::format("hilo {} executable\n", version); }

// A length in decimals, a newline and as many bytes.
Result<std::string> take_text(std::string_view& rest) {
  size_t size = 0, digits = 0;
  for (; digits < rest.size() && digits < 18 && rest[digits] >= '0' && rest[digits] <= '9';
       ++digits)
    size = size * 10 + static_cast<size_t>(rest[digits] - '0');
  if (digits == 0 || digits == rest.size() || rest[digits] != '\n' ||
      size > rest.size() - digits - 1)
    return fail(ErrorKind::Format, "the serialised executable is damaged");
  const std::string_view out = rest.substr(digits + 1, size);
  rest.remove_prefix(digits + 1 + size);
  return std::string(out);
}

Result<Module> read_source(const ProgramSource& source) {
  const auto bytes = std::as_bytes(std::span(source.code));
  ParseOptions options;
  if (source.format == "hlo") return read_module(bytes, Format::HloProto, options);
  if (source.format != "mlir")
    return fail(ErrorKind::Unsupported, "no program has the format '{}'; there are: mlir, hlo",
                source.format);
  const Format format = detect_format(bytes);
  if (format != Format::StableHloText && format != Format::StableHloBytecode)
    return fail(ErrorKind::Format, "a program of format 'mlir' was expected, and this is {}",
                text_of(format));
  return read_module(bytes, format, options);
}

// Whether devices neither meet nor are told apart: then each replica runs by itself.
bool has_equal_devices(const Module& module) {
  return std::ranges::none_of(module.instructions, [](const Instruction& one) {
    return !one.removed && (has_trait(one.op, TraitEffect | TraitCollective) ||
                            one.op == Op::ReplicaId || one.op == Op::PartitionId);
  });
}

// What the client says of devices counts; programs of frameworks have global shapes.
void set_devices(Module& module, Program& program, EvalOptions& eval) {
  const CompileSettings& settings = program.settings;
  module.header.replica_count = settings.replicas;
  module.header.num_partitions = settings.partitions;
  module.header.allow_spmd_sharding_propagation_to_parameters = settings.propagates_to_parameters;
  module.header.allow_spmd_sharding_propagation_to_output = settings.propagates_to_results;
  if (settings.replicas * settings.partitions == 1) return;
  if (settings.partitions == 1 && has_equal_devices(module)) {
    module.header.replica_count = 1;
    return;
  }
  if (program.source.format == "mlir" && settings.replicas == 1)
    eval.partitioning = Partitioning::Unpartitioned;
  const bool is_whole = find_partitioning(module, eval) == Partitioning::Unpartitioned;
  program.has_whole_values = is_whole && settings.partitions > 1;
  program.spread = program.has_whole_values ? Spread::Together : Spread::Each;
}

// Once for a client.
void tell_of_shardings(const Program& program, const Error& why, const PJRT_Client* client) {
  if (!client || client->has_told_of_shardings.test_and_set()) return;
  fmt::print(stderr,
             "hilo: {}: the program runs whole on one device, and its results are cut into shards, "
             "for it cannot be partitioned: {} (said once)\n",
             program.name, to_string(why));
}

// Aliased parameters are taken; one that is only offered is where a result of its size is left, as
// in XLA: else its user keeps it. Sizes are those of whole values, however they are cut.
void note_donations(const Module& module, Program& program) {
  const size_t parameters = module[module.entry].parameters.size();
  program.is_donated.assign(parameters, false);
  const auto bytes = [](const ProgramValues& values, size_t i) {
    return literal_bytes(*values.cuts[i].whole);
  };
  std::multiset<int64_t> left;  // bytes of results
  for (size_t i = 0; i < program.results.size(); ++i) left.insert(bytes(program.results, i));
  for (const BufferAlias& alias : module.header.input_output_alias) {
    const auto parameter = static_cast<size_t>(alias.parameter);
    if (parameter >= parameters) continue;
    program.is_donated[parameter] = true;
    const auto result = static_cast<size_t>(alias.output_index.empty() ? 0 : alias.output_index[0]);
    if (result < program.results.size()) left.extract(bytes(program.results, result));
  }
  for (const BufferDonor& donor : module.header.buffer_donor) {
    const auto parameter = static_cast<size_t>(donor.parameter);
    if (parameter < parameters && !program.is_donated[parameter])
      program.is_donated[parameter] = !left.extract(bytes(program.parameters, parameter)).empty();
  }
}

const Sharding* sharding_of(const Module& module, InstructionId id) {
  return module.extra(module[id]).sharding.get();
}

// Of an element of the result: where the whole tuple says it, else where the element is made.
const Sharding* result_sharding(const Module& module, size_t element) {
  const InstructionId root = module[module.entry].root;
  const Sharding* all = sharding_of(module, root);
  if (all && all->kind == Sharding::Kind::Tuple && element < all->elements.size())
    return &all->elements[element];
  const bool is_made_here = module[root].op == Op::Tuple;
  return is_made_here ? sharding_of(module, module.operand(root, element)) : nullptr;
}

// Result i may lie as the compiler likes.
bool propagates_to(const CompileSettings& settings, size_t i) {
  const std::vector<bool>& propagates = settings.propagates_to_results;
  return propagates.size() == 1 ? propagates[0] : i < propagates.size() && propagates[i];
}

// Clients hold arrays that are cut evenly: a result that the program cuts otherwise on its way is
// whole where the client leaves it open.
bool is_left_whole(const Program& program, size_t i, const Shape& result,
                   const Sharding* sharding) {
  if (!propagates_to(program.settings, i)) return false;
  const Result<Cut> cut = find_cut(result, sharding, program.settings.partitions);
  return !cut || !cut->is_even;
}

Result<void> note_result(const Shape& shape, const Sharding* sharding, Program& program,
                         int64_t devices) {
  if (devices > 1 && is_left_whole(program, program.results.size(), shape, sharding))
    sharding = nullptr;
  return program.results.add(shape, sharding, devices);
}

// The process of each device, in the order of replicas and their partitions; empty where all are in
// one, or where there is no such device.
std::vector<int> ranks_of(const CompileSettings& settings, const PJRT_Client* client) {
  if (!client || !client->processes.communicator) return {};
  std::vector<int> out;
  for (int64_t replica = 0; replica < settings.replicas; ++replica)
    for (int64_t partition = 0; partition < settings.partitions; ++partition) {
      const int64_t id = settings.device(replica, partition);
      if (id < 0 || id >= std::ssize(client->devices)) return {};
      out.push_back(client->process_of(id));
    }
  return std::ranges::adjacent_find(out, std::not_equal_to()) == out.end() ? std::vector<int>()
                                                                           : out;
}

// What all processes of the program must have alike.
SharedRuns::Program shared_program(const Module& compiled, const Program& program,
                                   std::vector<int> ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  PrintStyle style;
  style.metadata = false;  // names files, which may lie elsewhere
  return {program.name, fingerprint(print(compiled, style) + program.assignment), ranks};
}

// What is cut is cut as the program says; what it does not say is whole on each device.
Result<void> note_values(const Module& module, Program& program) {
  const Computation& entry = module[module.entry];
  const auto& layout = module.header.entry_computation_layout;
  const int64_t devices = program.spread == Spread::Together ? program.settings.partitions : 1;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const InstructionId id = entry.parameters[i];
    const Shape& shape =
        layout && i < layout->parameters.size() ? layout->parameters[i] : module.shape(id);
    HILO_DO(program.parameters.add(shape, sharding_of(module, id), devices));
  }
  const Shape& result = layout ? layout->result : module.shape(entry.root);
  if (!result.is_tuple())
    return note_result(result, sharding_of(module, entry.root), program, devices);
  for (size_t i = 0; i < result.elements.size(); ++i)
    HILO_DO(note_result(result.elements[i], result_sharding(module, i), program, devices));
  return {};
}

bool is_unreduced(const Sharding& sharding) {
  using Kind = Sharding::Kind;
  return sharding.kind == Kind::Unreduced || !sharding.unreduced_axes.empty() ||
         std::ranges::count(sharding.last_tile_dims, Kind::Unreduced) > 0 ||
         std::ranges::any_of(sharding.elements, is_unreduced);
}

// Whether devices hold summands of anything, which only programs of their own can tell apart.
bool has_summands(const Module& module) {
  return std::ranges::any_of(module.instructions, [&](const Instruction& one) {
    const auto& sharding = module.extra(one).sharding;
    return !one.removed && sharding && is_unreduced(*sharding);
  });
}

// Whether devices hold different parts of anything.
bool has_parts(const Module& module, const Program& program) {
  if (has_summands(module)) return true;
  for (const ProgramValues* values : {&program.parameters, &program.results})
    for (const Cut& cut : values->cuts)
      if (cut.tiles) return true;
  return std::ranges::any_of(module.instructions, [&](const Instruction& one) {
    return !one.removed && one.op == Op::CustomCall &&
           module.attributes<CustomCallAttributes>(one).custom_call_target ==
               "SPMDFullToShardShape";
  });
}

// The program itself then says that such results are whole.
void keep_open_results_even(Module& module, const Program& program) {
  const InstructionId root = module[module.entry].root;
  const Shape shape = module.shape(root);
  if (!shape.is_tuple()) {
    if (is_left_whole(program, 0, shape, sharding_of(module, root)))
      module.mutable_extra(root).sharding = std::make_shared<const Sharding>();
    return;
  }
  const Sharding* const said = sharding_of(module, root);
  if (!said || said->elements.size() != shape.elements.size()) return;
  Sharding out = *said;
  for (size_t i = 0; i < out.elements.size(); ++i)
    if (is_left_whole(program, i, shape.elements[i], &said->elements[i]))
      out.elements[i] = Sharding();
  module.mutable_extra(root).sharding = std::make_shared<const Sharding>(std::move(out));
}

// What clients see of a program of whole arrays is noted, then each device gets a program of its
// own. Where nothing is cut, one device runs it for all.
Result<void> partition_for_devices(Module& module, Program& program, EvalOptions& eval,
                                   const PJRT_Client* client) {
  const bool is_in_one_process = ranks_of(program.settings, client).empty();
  const auto runs_whole = [&](const Error& why) {
    const bool out =
        why.kind == ErrorKind::Unsupported && !has_summands(module) && is_in_one_process;
    if (out) tell_of_shardings(program, why, client);
    return out;
  };
  bool is_explicit = false;
  if (program.spread == Spread::Together) {
    Module said = module;
    const auto done = run_pass(said, propagate_all_shardings);
    if (!done && !runs_whole(done.error())) return std::unexpected(done.error());
    if ((is_explicit = done.has_value())) {
      module = std::move(said);
      HILO_DO(put_calls_on_tiles(module, program.source));
      keep_open_results_even(module, program);
    }
  }
  HILO_DO(note_values(module, program));
  note_donations(module, program);
  if (!is_explicit || !has_parts(module, program)) return {};
  Module tiles = module;
  if (const auto done = partition(tiles, PartitionFrom::Shardings); !done)
    return runs_whole(done.error()) ? Result<void>() : std::unexpected(done.error());
  module = std::move(tiles);
  eval.partitioning = Partitioning::Partitioned;
  program.spread = Spread::Each;
  return {};
}

// Gives the operations and bytes of a run.
double note_cost(const Module& module, NamedValues& to) {
  Cost sum;
  for (const Cost& cost : count_cost(module)) {
    sum.flops += cost.flops * cost.runs;
    sum.transcendentals += cost.transcendentals * cost.runs;
    sum.bytes_read += (cost.bytes_read + cost.bytes_written) * cost.runs;
  }
  to.add("flops", static_cast<float>(sum.flops));
  to.add("transcendentals", static_cast<float>(sum.transcendentals));
  to.add("bytes accessed", static_cast<float>(sum.bytes_read));
  return sum.flops + sum.transcendentals + sum.bytes_read;
}

// Fields of HloModuleProto: how its results and parameters are cut.
void put_shardings(std::string& module, const Program& program, bool is_tuple) {
  constexpr int64_t result_sharding = 12, parameter_sharding = 14;
  if (!program.has_whole_values) return;
  std::string results;
  if (is_tuple) {
    constexpr uint64_t tuple = 2;  // OpSharding: its kind, and of each element
    put_varint_field(results, 1, tuple);
    for (const std::string& one : program.results.listed_shardings)
      put_bytes_field(results, 5, one);
  } else {
    results = program.results.listed_shardings[0];
  }
  put_bytes_field(module, result_sharding, results);
  for (const std::string& one : program.parameters.listed_shardings)
    put_bytes_field(module, parameter_sharding, one);
}

// HloModuleProtoWithConfig: the module, and a configuration with what clients cannot read out of
// it.
Result<std::string> with_config(const std::string& module, const CompileSettings& settings) {
  constexpr int64_t host_program_shape = 4;  // of HloModuleProto
  std::string config;
  HILO_TRY(const std::string_view shape, find_bytes_field(module, host_program_shape));
  if (!shape.empty()) put_bytes_field(config, 1, shape);
  put_varint_field(config, 4, static_cast<uint64_t>(settings.replicas));
  put_varint_field(config, 5, static_cast<uint64_t>(settings.partitions));
  std::string out;
  put_bytes_field(out, 1, module);
  put_bytes_field(out, 2, config);
  return out;
}

}  // namespace

Result<void> ProgramValues::add(const Shape& whole, const Sharding* sharding, int64_t devices) {
  if (whole.is_tuple() || whole.has_dynamic_dims())
    return fail(ErrorKind::Unsupported, "a parameter or result of shape {}", to_string(whole));
  HILO_TRY(Cut cut, find_cut(whole, devices > 1 ? sharding : nullptr, devices));
  const Shape& shape = *cut.shard;
  types.push_back(buffer_type(shape.type));
  dims.insert(dims.end(), shape.dims.begin(), shape.dims.end());
  ranks.push_back(shape.dims.size());
  kinds.push_back(memory_kind_of(whole));
  if (devices == 1) sharding = nullptr;
  shardings.push_back(sharding_message(sharding));
  listed_shardings.push_back(listed_sharding_message(sharding));
  cuts.push_back(std::move(cut));
  return {};
}

void ProgramValues::show() {
  for (size_t kind : kinds) {
    kind_names.push_back(memory_kinds()[kind].data());
    kind_sizes.push_back(memory_kinds()[kind].size());
  }
  for (const std::string& message : shardings) {
    sharding_bytes.push_back(message.data());
    sharding_sizes.push_back(message.size());
  }
}

const Result<std::string>& Program::optimized() const {
  std::call_once(optimized_once_, [&] {
    const Module& compiled = executable.module();
    Result<std::string> module = write_hlo_proto(compiled);
    if (module)
      put_shardings(*module, *this, compiled.shape(compiled[compiled.entry].root).is_tuple());
    optimized_ = module ? with_config(*module, settings) : module;
  });
  return optimized_;
}

Result<std::shared_ptr<const Program>> make_program(ProgramSource source,
                                                    const PJRT_Client* client) {
  auto out = std::make_shared<Program>();
  out->source = std::move(source);
  HILO_TRY(out->settings, read_compile_options(out->source.compile_options));
  if (out->settings.has_tupled_arguments)
    return fail(ErrorKind::Unsupported, "arguments in one tuple");
  HILO_TRY(Module module, read_source(out->source));
  out->name = module.header.name;
  CompileOptions options;
  options.transform = transform_of(out->source);
  if (client) {
    options.device = client->host;
    options.emit.cache = {client->cache, client->cache_bytes};
  }
  set_devices(module, *out, options.eval);
  HILO_DO(check_module(module));
  options.is_verified = true;
  settle_layouts(module, out->settings);
  HILO_DO(partition_for_devices(module, *out, options.eval, client));
  if (out->spread != Spread::Together) HILO_DO(run_pass(module, put_entry_in_memory_order));
  out->parameters.show();
  out->results.show();
  out->assignment = device_assignment(out->settings);
  const std::vector<int> ranks = ranks_of(out->settings, client);
  const bool is_shared = out->spread == Spread::Each && !ranks.empty();
  if (is_shared) options.eval.processes = {client->processes.communicator, ranks};
  HILO_TRY(out->user_calls, name_user_calls(module));
  options.eval.custom_calls = functions_of(out->user_calls, nullptr);
  const Dump dump(out->settings.dump, out->name);
  HILO_DO(dump.write("before_optimizations", module));
  HILO_TRY(out->executable, compile(std::move(module), cpu_target(), options));
  HILO_DO(dump.write("cpu_after_optimizations", out->executable.module()));
  // At some operations and bytes a nanosecond, some ten microseconds.
  constexpr double short_work = 1e5;
  out->is_short = note_cost(out->executable.module(), out->cost) < short_work;
  out->fingerprint = fingerprint(fmt::format("{}\n{}\n{}\n{}", version, out->source.format,
                                             out->source.compile_options, out->source.code));
  if (is_shared) out->shared = shared_program(out->executable.module(), *out, ranks);
  return out;
}

std::string serialize(const ProgramSource& source) {
  std::string out = serialized_head();
  const auto put = [&](const std::string& text) {
    out += fmt::format("{}\n{}", text.size(), text);
  };
  for (const std::string* text : {&source.format, &source.compile_options, &source.code})
    put(*text);
  for (const std::string& module : source.transformed) put(module);
  for (const std::string& answer : source.answers.value_or(std::vector<std::string>())) put(answer);
  return out;
}

Result<ProgramSource> read_serialized(std::string_view bytes) {
  const std::string head = serialized_head();
  if (!bytes.starts_with(head))
    return fail(ErrorKind::Format, "the bytes are no executable of hilo {}", version);
  bytes.remove_prefix(head.size());
  ProgramSource out;
  for (std::string* text : {&out.format, &out.compile_options, &out.code}) {
    HILO_TRY(*text, take_text(bytes));
  }
  for (std::string& module : out.transformed) {
    HILO_TRY(module, take_text(bytes));
  }
  out.answers.emplace();
  while (!bytes.empty()) {
    HILO_TRY(out.answers->emplace_back(), take_text(bytes));
  }
  return out;
}

}  // namespace hilo::pjrt
