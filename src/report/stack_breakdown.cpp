#include "report/stack_breakdown.h"

#include <algorithm>
#include <map>

namespace hilo {
namespace {

using Path = std::vector<std::string>;

// Calls may multiply without bound; what is beyond is left out of the tree. Names of more parts
// than anybody gives stay whole.
constexpr size_t max_paths = 1024, max_calls = 128, max_parts = 256;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Takes a run of letters, digits and '_' off the front.
std::string_view take_word(std::string_view& text) {
  const size_t end =
      static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_word) - text.begin());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// Takes ['a/b'] off the front and appends a and b.
bool take_key(std::string_view& text, Path& out) {
  if (!text.starts_with("['")) return false;
  const size_t end = text.find('\'', 2);
  if (end == std::string_view::npos || end == 2 || text.substr(end, 2) != "']") return false;
  std::string_view key = text.substr(2, end - 2);
  for (size_t slash; (slash = key.find('/')) != std::string_view::npos;
       key.remove_prefix(slash + 1))
    out.emplace_back(key.substr(0, slash));
  out.emplace_back(key);
  text.remove_prefix(end + 2);
  return true;
}

// "params['layer/fc'].value" in its parts; anything else is one part.
Path parts_of(std::string_view name) {
  std::string_view rest = name;
  Path out = {std::string(take_word(rest))};
  if (out[0].empty() || (out[0][0] >= '0' && out[0][0] <= '9')) return {std::string(name)};
  bool has_keys = false;
  for (;;) {
    if (take_key(rest, out)) {
      has_keys = true;
    } else if (rest.size() > 1 && rest[0] == '.' && is_word(rest[1])) {
      rest.remove_prefix(1);
      out.emplace_back(take_word(rest));
    } else {
      const bool whole = !rest.empty() || !has_keys || out.size() > max_parts;
      return whole ? Path{std::string(name)} : out;
    }
  }
}

class Tree {
 public:
  Tree() : nodes_(1) {}
  void add(const Path& path, int64_t bytes) {
    uint32_t node = 0;
    for (const std::string& part : path) {
      const auto [at, is_new] =
          nodes_[node].children.try_emplace(part, static_cast<uint32_t>(nodes_.size()));
      node = at->second;
      if (is_new) nodes_.emplace_back().name = part;
    }
    nodes_[node].own += bytes;
  }
  std::string print();

 private:
  struct Node {
    std::string name;
    int64_t own = 0, total = 0;
    std::map<std::string, uint32_t> children;
  };
  std::vector<uint32_t> sorted_children(uint32_t node) const;
  void print(uint32_t node, const std::string& prefix, bool is_last, std::string& out);

  std::vector<Node> nodes_;
  int64_t remaining_ = 0;
};

std::string with_spaces(int64_t number) {
  std::string out = std::to_string(number);
  for (size_t i = out.size(); i > 3;) out.insert(i -= 3, " ");
  return out;
}

std::vector<uint32_t> Tree::sorted_children(uint32_t node) const {
  std::vector<uint32_t> out;
  for (const auto& [name, child] : nodes_[node].children)
    if (nodes_[child].total != 0) out.push_back(child);
  std::stable_sort(out.begin(), out.end(),
                   [&](uint32_t a, uint32_t b) { return nodes_[a].total > nodes_[b].total; });
  return out;
}

void Tree::print(uint32_t index, const std::string& prefix, bool is_last, std::string& out) {
  const Node& node = nodes_[index];
  std::string inner = prefix;
  if (index != 0) {
    remaining_ -= node.own;
    const double share =
        100.0 * static_cast<double>(node.total) / static_cast<double>(nodes_[0].total);
    const std::string_view branch = prefix == "  " ? "  " : is_last ? "└── " : "├── ";
    out +=
        fmt::format("{}{}{} ({:.1f}%, total: {} bytes, current: {} bytes, remaining: {} bytes)\n",
                    prefix, branch, node.name, share, with_spaces(node.total),
                    with_spaces(node.own), with_spaces(remaining_));
    inner += is_last ? "    " : "│   ";
  }
  const std::vector<uint32_t> children = sorted_children(index);
  for (uint32_t child : children) print(child, inner, child == children.back(), out);
}

std::string Tree::print() {
  for (size_t i = nodes_.size(); i-- > 0;) {  // children come after their parents
    nodes_[i].total = nodes_[i].own;
    for (const auto& [name, child] : nodes_[i].children) nodes_[i].total += nodes_[child].total;
  }
  remaining_ = nodes_[0].total;
  std::string out = fmt::format("  Stack trace breakdown for peak usage: {} bytes\n",
                                with_spaces(nodes_[0].total));
  print(0, "  ", true, out);
  return out;
}

// The paths that lead to instructions, found from the inside out.
class Paths {
 public:
  explicit Paths(const Module& module) : module_(module), callers_(module.computations.size()) {
    for (ComputationId computation : module.post_order())
      for (InstructionId id : module[computation].instructions)
        for (ComputationId callee : module.called(module[id])) {
          auto& callers = callers_[callee.value];
          if (callers.empty() || callers.back() != id) callers.push_back(id);
        }
  }
  std::vector<Path> to(InstructionId id) {
    found_.clear();
    reversed_.clear();
    extend(id, 0);
    return std::move(found_);
  }

 private:
  void extend(InstructionId id, size_t calls) {
    const Instruction& instruction = module_[id];
    const std::string_view op_name = module_.metadata_of(instruction).op_name;
    const Path parts = parts_of(op_name.empty() ? instruction.name : op_name);
    const size_t before = reversed_.size();
    reversed_.insert(reversed_.end(), parts.rbegin(), parts.rend());
    reversed_.emplace_back(module_[instruction.computation].name);
    const auto& callers = callers_[instruction.computation.value];
    if (callers.empty() || calls == max_calls) {
      found_.emplace_back(reversed_.rbegin(), reversed_.rend());
    } else {
      for (InstructionId caller : callers)
        if (found_.size() < max_paths) extend(caller, calls + 1);
    }
    reversed_.resize(before);
  }

  const Module& module_;
  std::vector<std::vector<InstructionId>> callers_;  // by computation
  std::vector<Path> found_;
  Path reversed_;
};

}  // namespace

std::string stack_breakdown(const Module& module, const Aliases& aliases,
                            std::span<const std::pair<ValueId, int64_t>> values) {
  Paths paths(module);
  Tree tree;
  for (const auto& [value, bytes] : values) {
    const Position& definition = aliases[value].definition();
    const std::string index =
        name_of(module, aliases[value]).substr(module[definition.instruction].name.size());
    std::vector<Path> all = paths.to(definition.instruction);
    const int64_t count = static_cast<int64_t>(all.size());
    for (int64_t i = 0; i < count; ++i) {
      Path& path = all[static_cast<size_t>(i)];
      if (!definition.index.empty()) path.back() += index;
      tree.add(path, bytes / count + (i < bytes % count ? 1 : 0));
    }
  }
  return tree.print();
}

}  // namespace hilo
