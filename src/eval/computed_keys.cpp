#include "eval/computed_keys.h"

#include <cstring>
#include <set>

#include "eval/block_builder.h"

namespace hilo {
namespace {

using Memory = std::vector<std::vector<std::byte>>;

const std::byte* gathered(const std::byte* from, const SortLine& line, int64_t bytes,
                          std::vector<std::byte>& memory) {
  from += line.base * bytes;
  if (line.step == 1) return from;
  memory.resize(line.count * bytes);
  for (int64_t i = 0; i < line.count; ++i)
    std::memcpy(memory.data() + i * bytes, from + i * line.step * bytes, bytes);
  return memory.data();
}

struct KeyProgram {
  BlockProgram blocks;
  std::vector<ElementType> types;                     // of the keys
  std::vector<std::pair<int64_t, int64_t>> operands;  // that they read: number, bytes

  std::vector<const std::byte*> run(std::span<const std::byte* const> given,
                                    const SortLine& line) const {
    thread_local Memory memory;
    memory.resize(std::max(memory.size(), types.size() + operands.size()));
    std::vector<const std::byte*> keys;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (size_t k = 0; k < types.size(); ++k) {
      memory[k].resize(line.count * storage_bytes(types[k]));
      keys.push_back(memory[k].data());
      outputs.push_back(memory[k].data());
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto [number, bytes] = operands[i];
      inputs.push_back(gathered(given[number], line, bytes, memory[types.size() + i]));
    }
    blocks.run(inputs, outputs, 0, line.count);
    return keys;
  }
};

}  // namespace

std::optional<ComputedSortKeys> find_computed_keys(const Module& module, ComputationId comparator,
                                                   std::span<const InstructionId> values) {
  KeyProgram out;
  const std::set<InstructionId> needed = instructions_under(module, values);
  std::vector<int> arguments, results;
  for (InstructionId parameter : module[comparator].parameters) {
    arguments.push_back(-1);
    if (!needed.contains(parameter)) continue;
    const ElementType type = module.shape(parameter).type;
    arguments.back() = out.blocks.add_source(type);
    out.operands.emplace_back((std::ssize(arguments) - 1) / 2, storage_bytes(type));
  }
  const auto added = add_values(out.blocks, module, comparator, arguments, values, results);
  if (!added || !*added || results.size() != values.size()) return std::nullopt;
  for (size_t k = 0; k < values.size(); ++k) {
    out.types.push_back(module.shape(values[k]).type);
    out.blocks.add_output(out.blocks.add_convert(results[k], out.types[k]));
  }
  out.blocks.finish();
  std::vector<ElementType> types = out.types;
  return ComputedSortKeys{std::move(types), [program = std::move(out)](auto operands, auto& line) {
                            return program.run(operands, line);
                          }};
}

}  // namespace hilo
