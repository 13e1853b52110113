// What modules, pictures and file names show of the chip that they were made for.
#include <algorithm>

#include "report/chip.h"
#include "report/dump_reading.h"
#include "text/text.h"

namespace hilo {
namespace {

bool is_tiled(const Shape& shape) {
  if (!shape.elements.empty())
    return std::any_of(shape.elements.begin(), shape.elements.end(), is_tiled);
  return shape.has_layout && !shape.layout.tiles.empty();
}

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.contains(word); });
}

bool names_gpu(const Module& module, const Instruction& instruction) {
  static constexpr std::string_view config_words[] = {"operation_queue_id", "gemm_backend_config",
                                                      "fusion_backend_config", "__triton"};
  if (has_any(module.extra(instruction).backend_config, config_words)) return true;
  if (instruction.op != Op::CustomCall) return false;
  const std::string& target =
      module.attributes<CustomCallAttributes>(instruction).custom_call_target;
  static constexpr std::string_view targets[] = {"__cublas", "__cudnn", "__gpu", "__triton",
                                                 "__hipblas"};
  return std::any_of(std::begin(targets), std::end(targets),
                     [&](std::string_view start) { return target.starts_with(start); });
}

// The memory that one instruction takes for itself: "scoped_memory_configs":[{"memory_space":"1",
// "offset":"0","size":"8388608"}].
void add_scoped(std::string_view config, ChipEvidence& evidence) {
  DumpCursor cursor{config};
  if (!cursor.until("\"scoped_memory_configs\":[")) return;
  while (cursor.eat("{\"memory_space\":\"")) {
    const auto space = cursor.number();
    const auto offset = cursor.eat("\",\"offset\":\"") ? cursor.number() : std::nullopt;
    const auto size = cursor.eat("\",\"size\":\"") ? cursor.number() : std::nullopt;
    if (!space || !offset || !size || !cursor.until("}")) return;
    int64_t& most = evidence.in_use[*space];
    most = std::max(most, add_bytes(*offset, *size));
    cursor.eat(",");
  }
}

void add_shape(const Shape& shape, ChipEvidence& evidence) {
  for (const Shape& element : shape.elements) add_shape(element, evidence);
  if (!shape.is_array() || !shape.has_layout || shape.layout.tiles.empty()) return;
  if (shape.layout.memory_space == 0 || !layout_fault(shape).empty()) return;
  int64_t& most = evidence.in_use[shape.layout.memory_space];
  most = std::max(most, padded_bytes(shape));
}

// Bytes of a tuple's table beyond 8 for each element: only TPUs round them up.
int64_t rounded_up_in_table(const PictureValue& value) {
  if (!value.shape.starts_with('(') || value.bytes == 0) return 0;
  const auto shape = parse_shape(value.shape);
  return shape && shape->is_tuple() ? value.bytes - unpadded_bytes(*shape, 8) : 0;
}

void set_family(ChipEvidence& evidence, MachineFamily family, std::string reason) {
  if (evidence.family) return;
  evidence.family = family;
  evidence.family_reason = std::move(reason);
}

}  // namespace

void gather_evidence(const Module& module, ChipEvidence& evidence) {
  bool tiles = false;
  for (uint32_t i = 0; i < module.shapes.size(); ++i) {
    tiles = tiles || is_tiled(module.shapes[ShapeId{i}]);
    add_shape(module.shapes[ShapeId{i}], evidence);
  }
  if (tiles) set_family(evidence, MachineFamily::Tpu, "layouts have tiles, as on a TPU");
  for (const Instruction& instruction : module.instructions) {
    const std::string_view config = module.extra(instruction).backend_config;
    if (tiles && config.contains("\"megacore")) evidence.cores = 2;
    if (tiles) add_scoped(config, evidence);
    else if (names_gpu(module, instruction))
      return set_family(evidence, MachineFamily::Gpu, "GPU custom calls or backend configs");
  }
}

// Tables of 32 bytes for small tuples are those of v5p and v6e, of 512 those of v5e.
void gather_evidence(const MemoryPicture& picture, ChipEvidence& evidence) {
  for (const PictureValue& value : picture.values) {
    if (rounded_up_in_table(value) != 0) {
      evidence.tuple_granule = value.bytes % 512 == 0 ? 512 : value.bytes % 32 == 0 ? 32 : 0;
      set_family(evidence, MachineFamily::Tpu, "the tables of its tuples are rounded up");
    }
    if (value.shape.contains(":T("))
      set_family(evidence, MachineFamily::Tpu, "layouts have tiles, as on a TPU");
  }
  static constexpr std::string_view libraries[] = {"cudnn", "cublas", "__triton"};
  for (const PictureInstruction& instruction : picture.instructions)
    if (has_any(instruction.name, libraries) || has_any(instruction.text, libraries))
      return set_family(evidence, MachineFamily::Gpu, "it calls GPU libraries");
}

// "module_0001.jit_f.v5e_after_optimizations.txt", "….sm_9.0_gpu_after_optimizations.txt"
void gather_from_file_name(std::string_view file, ChipEvidence& evidence) {
  const size_t slash = file.find_last_of('/');
  const std::string_view name = file.substr(slash == std::string_view::npos ? 0 : slash + 1);
  const size_t end = name.find("after_optimizations");
  if (!name.starts_with("module_") || end == std::string_view::npos || end == 0) return;
  const std::string_view before = name.substr(0, end - 1);  // without the '_' or '.'
  if (before.ends_with("cpu"))
    return set_family(evidence, MachineFamily::Cpu, "the file's name says cpu");
  if (before.ends_with("_gpu") || before.ends_with(".gpu")) {
    set_family(evidence, MachineFamily::Gpu, "the file's name says gpu");
    for (const std::string_view start : {".sm_", ".gfx"})
      if (const size_t at = before.rfind(start); at != std::string_view::npos)
        evidence.architecture = before.substr(at + 1, before.size() - at - 5);
    return;
  }
  const size_t dot = before.rfind('.');
  const std::string_view last = before.substr(dot == std::string_view::npos ? 0 : dot + 1);
  for (const Machine& machine : machines())
    if (machine.name == last) {
      evidence.named = &machine;
      evidence.named_reason = "the file's name says it";
    }
}

AssumedMachine assume_machine(const Module& module, const MachineHints& hints) {
  ChipEvidence evidence;
  gather_from_file_name(hints.file, evidence);
  gather_evidence(module, evidence);
  if (hints.plan && module.header.is_scheduled)
    for (const SpacePlan& space : hints.plan->spaces) {
      int64_t& most = evidence.in_use[space.space];
      most = std::max(most, space.total_bytes - space.temp_bytes + space.lower_bound_bytes);
    }
  const AssumedMachine out = infer_machine(evidence);
  if (out.machine) return out;
  return {find_machine("cpu"), "nothing names a TPU or a GPU", false, {}};
}

}  // namespace hilo
