#include "eval/computed_keys.h"

#include <cstring>
#include <set>

#include "eval/block_builder.h"

namespace hilo {
namespace {

using Memory = std::vector<std::vector<std::byte>>;
Memory& key_memory() {  // of a thread that is kept
  thread_local Memory memory;
  return memory;
}

const std::byte* gathered(const std::byte* from, const Line& line, int64_t bytes,
                          std::vector<std::byte>& memory) {
  from += line.base * bytes;
  if (line.step == 1) return from;
  memory.resize(line.count * bytes);
  for (int64_t i = 0; i < line.count; ++i)
    std::memcpy(memory.data() + i * bytes, from + i * line.step * bytes, bytes);
  return memory.data();
}

}  // namespace

std::optional<ComputedKeys> ComputedKeys::make(const Module& module, ComputationId comparator,
                                               std::span<const InstructionId> values) {
  ComputedKeys out;
  const std::set<InstructionId> needed = instructions_under(module, values);
  std::vector<int> arguments, results;
  for (InstructionId parameter : module[comparator].parameters) {
    arguments.push_back(-1);
    if (!needed.contains(parameter)) continue;
    const ElementType type = module.shape(parameter).type;
    arguments.back() = out.program_.add_source(type);
    out.operands_.emplace_back((std::ssize(arguments) - 1) / 2, storage_bytes(type));
  }
  const auto added = add_values(out.program_, module, comparator, arguments, values, results);
  if (!added || !*added || results.size() != values.size()) return std::nullopt;
  for (size_t k = 0; k < values.size(); ++k) {
    out.types_.push_back(module.shape(values[k]).type);
    out.program_.add_output(out.program_.add_convert(results[k], out.types_[k]));
  }
  out.program_.finish();
  return out;
}

void ComputedKeys::fill(std::span<const std::byte* const> operands, const Line& line) const {
  Memory& memory = key_memory();
  memory.resize(std::max(memory.size(), types_.size() + operands_.size()));
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (size_t k = 0; k < types_.size(); ++k) {
    memory[k].resize(line.count * storage_bytes(types_[k]));
    outputs.push_back(memory[k].data());
  }
  for (size_t i = 0; i < operands_.size(); ++i) {
    const auto [number, bytes] = operands_[i];
    inputs.push_back(gathered(operands[number], line, bytes, memory[types_.size() + i]));
  }
  program_.run(inputs, outputs, 0, line.count);
}

const std::byte* ComputedKeys::at(size_t k) const { return key_memory()[k].data(); }

}  // namespace hilo
