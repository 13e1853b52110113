// Sections of one module's dumps become one picture; what contradicts itself becomes a fault.
#include <algorithm>
#include <map>

#include "report/dump_reading.h"
#include "text/text.h"

namespace hilo {
namespace {

bool has_section(const DumpContents& contents, DumpKind kind) {
  return std::find(contents.kinds.begin(), contents.kinds.end(), kind) != contents.kinds.end();
}

// The value of a live range; a dump without allocations has only these.
PictureValue* value_of_range(DumpContents& contents, const DumpContents::Range& range) {
  MemoryPicture& picture = contents.picture;
  const auto known = contents.value_of_key.find(range.name.key());
  if (known != contents.value_of_key.end()) return &picture.values[known->second];
  if (has_section(contents, DumpKind::BufferAssignment)) return nullptr;
  contents.value_of_key.emplace(range.name.key(), picture.values.size());
  PictureValue value;
  value.defined = {contents.instruction(range.name.instruction), -1, range.name.has_index,
                   range.name.index};
  return &picture.values.emplace_back(std::move(value));
}

void assign_ranges(DumpContents& contents) {
  const auto end = static_cast<int64_t>(contents.picture.sequence.size());
  const auto fault = [&](const DumpContents::Range& range, std::string message) {
    contents.fault({ErrorKind::Format, std::move(message), range.place});
  };
  for (const DumpContents::Range& range : contents.ranges) {
    PictureValue* value = value_of_range(contents, range);
    if (range.range.start > range.range.end || range.range.end > end)
      fault(range, fmt::format("the range {}-{} of {} lies outside of the schedule 0-{}",
                               range.range.start, range.range.end, range.name.key(), end));
    else if (!value)
      fault(range,
            fmt::format("no allocation holds {}: the buffer assignment is of another module, "
                        "or was cut",
                        range.name.key()));
    else if (value->has_range())
      fault(range, fmt::format("{} has a second range; the first one counts", range.name.key()));
    else value->start = range.range.start, value->end = range.range.end;
  }
}

// Ranges from the module's own schedule when no dump tells them.
void compute_ranges(DumpContents& contents, const Module& module) {
  const auto aliases = find_aliases(module);
  if (!aliases) return;
  const Liveness liveness = find_liveness(module, *aliases, schedule_of(module));
  MemoryPicture& picture = contents.picture;
  for (const InstructionId id : liveness.sequence) {
    const size_t instruction = contents.instruction(std::string(module[id].name));
    picture.instructions[instruction].moment = static_cast<int64_t>(picture.sequence.size());
    picture.sequence.push_back(instruction);
  }
  for (uint32_t i = 0; i < aliases->values.size(); ++i) {
    const Value& value = aliases->values[i];
    const DumpName name{std::string(module[value.definition().instruction].name), true,
                        value.definition().index};
    const auto known = contents.value_of_key.find(name.key());
    if (known == contents.value_of_key.end() || !liveness.has_range(ValueId{i})) continue;
    picture.values[known->second].start = liveness.ranges[i].start;
    picture.values[known->second].end = liveness.ranges[i].end;
  }
  picture.notes.push_back("no live-range dump: the ranges are computed from the module's schedule");
}

void describe_from_module(DumpContents& contents, const Module& module) {
  const std::vector<Cost> costs = count_cost(module);
  contents.picture.collectives = find_collectives(module, costs);
  for (uint32_t i = 0; i < module.instructions.size(); ++i) {
    const auto known = contents.instruction_of_name.find(std::string(module.instructions[i].name));
    if (known == contents.instruction_of_name.end()) continue;
    PictureInstruction& instruction = contents.picture.instructions[known->second];
    describe_instruction(instruction, module, InstructionId{i});
    instruction.cost = costs[i];
    instruction.has_cost = true;
  }
}

// Values that take over a place at the moment when it gets free are one buffer, as in XLA, where
// only an operand and its user may; a phi may stand for everything in its place.
void assign_buffers(MemoryPicture& picture) {
  std::map<std::pair<size_t, int64_t>, std::vector<size_t>> places;
  size_t buffers = 0;
  for (size_t i = 0; i < picture.values.size(); ++i) {
    PictureValue& value = picture.values[i];
    if (value.allocation == PictureValue::no_allocation) value.buffer = buffers++;
    else places[{value.allocation, value.offset}].push_back(i);
  }
  for (auto& [place, values] : places) {
    std::stable_sort(values.begin(), values.end(), [&](size_t a, size_t b) {
      return picture.values[a].start < picture.values[b].start;
    });
    const bool is_one = picture.allocations[place.first].is_always_there() ||
                        std::any_of(values.begin(), values.end(), [&](size_t i) {
                          return picture.values[i].is_phi || !picture.values[i].has_range();
                        });
    int64_t end = INT64_MAX;
    for (const size_t i : values) {
      PictureValue& value = picture.values[i];
      if (end == INT64_MAX || (!is_one && value.start > end)) ++buffers, end = value.end;
      value.buffer = buffers - 1;
      end = std::max(end, value.end);
    }
  }
}

void check_allocations(DumpContents& contents) {
  const MemoryPicture& picture = contents.picture;
  std::map<std::pair<int64_t, Dims>, int64_t> parameters;
  std::map<int64_t, size_t> numbers;
  for (size_t i = 0; i < picture.allocations.size(); ++i) {
    const PictureAllocation& allocation = picture.allocations[i];
    const auto fault = [&](std::string message) {
      contents.fault({ErrorKind::Format, std::move(message), contents.allocation_locations[i]});
    };
    int64_t reach = 0;
    for (const size_t v : allocation.values)
      reach = std::max(reach, picture.values[v].offset + picture.values[v].bytes);
    if (reach > allocation.bytes)
      fault(fmt::format("allocation {} has {} bytes, its values reach {}", allocation.number,
                        allocation.bytes, reach));
    else if (reach < allocation.bytes)
      fault(fmt::format("allocation {} has {} bytes, its values reach only {}: some are missing",
                        allocation.number, allocation.bytes, reach));
    if (!numbers.emplace(allocation.number, i).second)
      fault(fmt::format("allocation {} stands here a second time", allocation.number));
    if (!allocation.parameter) continue;
    const auto key = std::pair(*allocation.parameter, allocation.parameter_index);
    if (!parameters.emplace(key, allocation.number).second)
      fault(fmt::format("parameter {} {} has two allocations, {} and {}", key.first,
                        text_of_index(key.second), parameters[key], allocation.number));
  }
}

void check_total(DumpContents& contents) {
  if (!contents.total || !has_section(contents, DumpKind::BufferAssignment)) return;
  int64_t sum = 0;
  for (const PictureAllocation& allocation : contents.picture.allocations)
    sum = add_bytes(sum, allocation.bytes);
  if (sum != contents.total->bytes)
    contents.fault({ErrorKind::Format,
                    fmt::format("the total of {} bytes is not the sum of the allocations, {}",
                                contents.total->bytes, sum),
                    contents.total->place});
}

// The stated peak, whose sizes must be those of the values alive there.
void take_peak(DumpContents& contents) {
  MemoryPicture& picture = contents.picture;
  if (!contents.peak) return fill_unpadded_peak(picture, find_unpadded_peak(picture));
  int64_t stated = 0;
  for (const auto& [name, bytes] : contents.peak->values) {
    stated = add_bytes(stated, bytes);
    const auto known = contents.value_of_key.find(name.key());
    if (known == contents.value_of_key.end()) continue;
    PictureValue& value = picture.values[known->second];
    if (value.unpadded_bytes < 0) value.unpadded_bytes = bytes;
  }
  fill_unpadded_peak(picture, contents.peak->moment);
  if (picture.unpadded_peak.bytes != stated)
    contents.fault({ErrorKind::Format,
                    fmt::format("the stated peak at {} is of {} bytes, the values alive there have "
                                "{}",
                                contents.peak->moment, stated, picture.unpadded_peak.bytes),
                    contents.peak->place});
}

// What each space holds at least, as far as allocations tell.
void gather_use(const DumpContents& contents, ChipEvidence& evidence) {
  if (!has_section(contents, DumpKind::BufferAssignment)) return;
  std::map<int64_t, int64_t> sums;
  for (const PictureAllocation& allocation : contents.picture.allocations)
    if (!allocation.is_thread_local)
      sums[allocation.space] = add_bytes(sums[allocation.space], allocation.bytes);
  for (const auto& [space, bytes] : sums)
    evidence.in_use[space] = std::max(evidence.in_use[space], bytes);
}

AssumedMachine machine_of(DumpContents& contents, const DumpOptions& options) {
  if (options.machine) return {options.machine, "named", true, {}};
  gather_evidence(contents.picture, contents.evidence);
  if (options.module) gather_evidence(*options.module, contents.evidence);
  gather_use(contents, contents.evidence);
  AssumedMachine out = infer_machine(contents.evidence);
  if (!out.machine) out = {find_machine("cpu"), "nothing names a TPU or a GPU", false, {}};
  return out;
}

// What follows from the kinds of sections that were there.
void add_notes(DumpContents& contents) {
  MemoryPicture& picture = contents.picture;
  const bool placed = has_section(contents, DumpKind::BufferAssignment);
  if (has_section(contents, DumpKind::MemoryUsage) && !placed)
    picture.notes.push_back(
        "a memory usage report rounds sizes and names no instructions; its "
        "totals are exact and count thread-local allocations");
  if (has_section(contents, DumpKind::OutOfMemory) && contents.kinds.size() == 1)
    picture.notes.push_back(
        "a message tells of the largest buffers alone, with rounded sizes; what is alive when is "
        "in "
        "a dump: XLA_FLAGS=--xla_dump_to=DIR, then hilo explain DIR");
  if (!placed && has_section(contents, DumpKind::LiveRange))
    picture.notes.push_back("a live range alone has no places, and sizes only at its peak");
  picture.is_partial = !placed;
  if (placed && picture.sequence.empty())
    picture.notes.push_back(
        "no live ranges: what is alive when, the peak and the lower bound are "
        "not known; the live-range dump or the module would tell");
}

// What a partial picture does not know stays unknown.
void forget_what_is_not_stated(DumpContents& contents) {
  if (has_section(contents, DumpKind::BufferAssignment)) return;
  for (PictureSpace& space : contents.picture.spaces) {
    const auto stated = contents.totals.find(space.space);
    const bool has_parts = space.total_bytes > 0;  // of an out-of-memory message
    if (stated != contents.totals.end()) space.total_bytes = stated->second.bytes;
    else if (!has_parts) space.total_bytes = -1;
    if (!has_section(contents, DumpKind::OutOfMemory) || !has_parts) space.temp_bytes = -1;
    if (const auto limit = contents.limits.find(space.space); limit != contents.limits.end())
      space.capacity = limit->second;
    if (const auto name = contents.space_names.find(space.space);
        name != contents.space_names.end())
      space.name = name->second;
    space.lower_bound_bytes = space.peak_moment = space.peak_bytes = -1;
    space.in_use.clear();
  }
}

}  // namespace

void join_dumps(DumpContents& contents, const DumpOptions& options) {
  MemoryPicture& picture = contents.picture;
  assign_ranges(contents);
  if (options.module) {
    picture.module_name = options.module->header.name;
    const bool has_ranges = !picture.sequence.empty() || !contents.ranges.empty();
    if (!has_ranges && options.module->header.is_scheduled)
      compute_ranges(contents, *options.module);
    describe_from_module(contents, *options.module);
  }
  const AssumedMachine machine = machine_of(contents, options);
  set_machine(picture, machine);
  if (has_section(contents, DumpKind::BufferAssignment)) check_allocations(contents);
  check_total(contents);
  assign_buffers(picture);
  find_overlaps(contents);
  fill_spaces(picture, machine.machine, true);
  forget_what_is_not_stated(contents);
  take_peak(contents);
  add_notes(contents);
}

}  // namespace hilo
