// Any text that parses is verified, then the same module with one part after the other exchanged:
// mistakes that no text can hold. Only that verify ends is asked.
#include <cstdint>
#include <random>

#include "text/text.h"
#include "verify/verify.h"

namespace {

using namespace hilo;

InstructionId any_instruction(const Module& module, std::minstd_rand& random) {
  return {static_cast<uint32_t>(random() % module.instructions.size())};
}

void exchange_a_part(Module& module, std::minstd_rand& random) {
  const InstructionId id = any_instruction(module, random), other = any_instruction(module, random);
  Computation& computation = module.computations[random() % module.computations.size()];
  switch (random() % 8) {
    case 0:
    case 1:
    case 2:
      if (const size_t count = module[id].operand_count; count > 0)
        module.set_operand(id, random() % count, other);
      break;
    case 3: module[id].shape = module[other].shape; break;
    case 4:
      if (module[id].operand_count > 0) --module[id].operand_count;
      break;
    case 5: computation.root = random() % 4 == 0 ? InstructionId() : other; break;
    case 6:
      if (!computation.parameters.empty()) computation.parameters.back() = other;
      break;
    case 7: module.mutable_extra(id).control_predecessors.push_back(other); break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = parse(text, {.max_literal_bytes = 1 << 20});
  if (!module) return 0;
  (void)verify(*module);
  std::minstd_rand random(static_cast<uint32_t>(std::hash<std::string_view>()(text)));
  for (int i = 0; i < 8 && !module->instructions.empty(); ++i) {
    Module changed = *module;
    for (uint32_t k = 1 + random() % 3; k > 0; --k) exchange_a_part(changed, random);
    (void)verify(changed);
  }
  return 0;
}
