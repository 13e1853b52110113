#include "wire/stablehlo/nesting.h"

#include <algorithm>

namespace hilo::mlir {
namespace {

constexpr uint16_t max_height = 1000, is_open = UINT16_MAX;

struct Step {
  uint32_t id;
  size_t next = 0;
  uint16_t height = 1;
};

AttributeId child_at(const Attribute& attribute, size_t i) {
  const size_t items = attribute.items.size();
  return i < items ? attribute.items[i] : attribute.fields[i - items].second;
}

// Walks below one attribute whose height is not known; heights: 0 not known, is_open on the path.
std::string walk(const std::vector<Attribute>& all, uint32_t root, std::vector<uint16_t>& heights) {
  std::vector<Step> path = {{root}};
  heights[root] = is_open;
  while (!path.empty()) {
    Step& step = path.back();
    const Attribute& at = all[step.id];
    if (step.next == at.items.size() + at.fields.size()) {
      if (step.height > max_height)
        return fmt::format("attribute {} nests deeper than {}", step.id, max_height);
      heights[step.id] = step.height;
      path.pop_back();
      continue;
    }
    const AttributeId child = child_at(at, step.next);
    const uint16_t height = child ? heights[child.value] : 1;
    if (height == is_open) return fmt::format("attribute {} holds itself", child.value);
    if (height == 0) {
      heights[child.value] = is_open;
      path.push_back({child.value});
      continue;
    }
    ++step.next;
    step.height = std::max<uint16_t>(step.height, height + 1);
  }
  return "";
}

}  // namespace

std::string nesting_fault(const Program& program) {
  std::vector<uint16_t> heights(program.attributes.size(), 0);
  for (uint32_t root = 0; root < heights.size(); ++root)
    if (heights[root] == 0)
      if (std::string fault = walk(program.attributes, root, heights); !fault.empty()) return fault;
  return "";
}

}  // namespace hilo::mlir
