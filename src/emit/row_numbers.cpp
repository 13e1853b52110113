#include "emit/row_numbers.h"

#include <algorithm>
#include <map>

namespace hilo {
namespace {

using llvm::Value;

int lanes_of(const Value* vector) {
  return static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
}

// Lanes [first, first + count) of each so many lanes of two vectors laid side by side.
std::vector<int> parts(int lanes, int each, int first, int count) {
  std::vector<int> out;
  for (int i = 0; i < lanes; i += each)
    for (int k = 0; k < count; ++k) out.push_back(i + first + k);
  return out;
}

}  // namespace

std::vector<RowNumber> find_row_numbers(const ElementEmitter& e, const Rows& rows) {
  const Module& module = e.module;
  const auto count = element_count(rows.dims);
  std::map<InstructionId, size_t> known;  // what depends on reductions: after which one
  for (size_t step = 0; step < rows.reductions.size(); ++step) known[rows.reductions[step]] = step;
  std::vector<RowNumber> all;
  for (InstructionId id : module[module[rows.reductions[0]].computation].instructions) {
    const Instruction& instruction = module[id];
    if (instruction.removed || known.contains(id)) continue;
    std::optional<size_t> step;
    for (InstructionId operand : module.operands(id))
      if (const auto found = known.find(operand); found != known.end())
        step = std::max(step.value_or(0), found->second);
    if (!step) continue;
    known[id] = *step;
    const Shape& shape = module.shape(id);
    if (is_elementwise(instruction.op) && shape.is_array() && is_floating(shape.type) &&
        element_count(shape) == count)
      all.push_back({id, *step});
  }
  const auto number = [&](InstructionId id) { return std::ranges::find(all, id, &RowNumber::id); };
  std::vector<RowNumber> out;
  for (const RowNumber& one : all) {
    const auto users = module.users(one.id);
    const bool is_read = users.empty() || std::ranges::any_of(users, [&](InstructionId user) {
                           const auto at = number(user);
                           return at == all.end() || at->step != one.step;
                         });
    if (is_read) out.push_back(one);
  }
  return out;
}

Value* combined_each(const Reducer& reducer, Builder& b, std::vector<Value*> vectors) {
  const auto combined = [&](Value* x, Value* y, int lanes, int each) {
    const int half = each / 2;
    return reducer.combine(b.CreateShuffleVector(x, y, parts(lanes, each, 0, half)),
                           b.CreateShuffleVector(x, y, parts(lanes, each, half, half)));
  };
  for (int each = lanes_of(vectors[0]); each > 1; each /= 2) {
    const int lanes = lanes_of(vectors[0]);
    if (vectors.size() == 1) {
      vectors[0] = combined(vectors[0], vectors[0], lanes, each);
      continue;
    }
    for (size_t i = 0; i < vectors.size() / 2; ++i)
      vectors[i] = combined(vectors[2 * i], vectors[2 * i + 1], 2 * lanes, each);
    vectors.resize(vectors.size() / 2);
  }
  while (vectors.size() > 1) {
    const int lanes = 2 * lanes_of(vectors[0]);
    for (size_t i = 0; i < vectors.size() / 2; ++i)
      vectors[i] =
          b.CreateShuffleVector(vectors[2 * i], vectors[2 * i + 1], parts(lanes, lanes, 0, lanes));
    vectors.resize(vectors.size() / 2);
  }
  return vectors[0];
}

}  // namespace hilo
