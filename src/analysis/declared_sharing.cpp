// Sharing that the compiler of a TPU module wrote down: backend_config says
// "aliasing_operands":{"lists":[{"indices":["0","12"]},...]}, where numbers below the count of
// operands are operands, and the others, less that count, leaves of the result.
#include <charconv>

#include "analysis/in_place.h"

namespace hilo {
namespace {

constexpr std::string_view lists_key = "\"aliasing_operands\":{\"lists\":[";
constexpr std::string_view indices_key = "\"indices\":[";

// The numbers up to the next ']', which are taken off the text.
std::vector<int64_t> take_numbers(std::string_view& text) {
  std::vector<int64_t> out;
  while (!text.empty() && text.front() != ']') {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && number >= 0) out.push_back(number);
    text.remove_prefix(error == std::errc() ? static_cast<size_t>(end - text.data()) : 1);
  }
  return out;
}

int64_t leaf_number(const Shape& shape, const Dims& index) {
  int64_t number = 0, found = -1;
  for_each_leaf(shape, [&](const Shape&, std::span<const int64_t> leaf) {
    if (std::equal(leaf.begin(), leaf.end(), index.begin(), index.end())) found = number;
    ++number;
  });
  return found;
}

}  // namespace

bool declares_sharing(const Module& module, InstructionId operand, InstructionId user,
                      const Dims& user_index) {
  std::string_view text = module.extra(module[user]).backend_config;
  const size_t start = text.find(lists_key);
  if (start == std::string_view::npos) return false;
  text.remove_prefix(start + lists_key.size());
  const auto operands = module.operands(user);
  const int64_t count = static_cast<int64_t>(operands.size());
  const int64_t leaf = leaf_number(module.shape(user), user_index);
  while (text.starts_with('{') || text.starts_with(',')) {
    const size_t next = text.find(indices_key);
    if (next == std::string_view::npos || text.find(']') < next) return false;
    text.remove_prefix(next + indices_key.size());
    bool reads = false, writes = false;
    for (int64_t number : take_numbers(text)) {
      reads |= number < count && operands[static_cast<size_t>(number)] == operand;
      writes |= leaf >= 0 && number - count == leaf;
    }
    if (reads && writes) return true;
    text.remove_prefix(std::min<size_t>(text.size(), 2));  // "]}"
  }
  return false;
}

}  // namespace hilo
