#include "pass/readers_first.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <unordered_map>

namespace hilo {
namespace {

// How many of those that are ready to write are looked at for one that disturbs no reader.
constexpr size_t max_lookahead = 64;

class ReadersFirst {
 public:
  ReadersFirst(const Module& module, const Aliases& aliases, ComputationId computation)
      : module_(module), aliases_(aliases), computation_(module[computation]) {}

  std::vector<InstructionId> run() {
    find_overwritten();
    for (InstructionId id : computation_.instructions) add_node(id);
    for (InstructionId id : computation_.instructions)
      if (nodes_[id.value].missing == 0) add_ready(id);
    while (!readers_.empty() || !writers_.empty() || !last_.empty()) {
      const InstructionId id = next();
      nodes_[id.value].done = true;
      out_.push_back(id);
      for (InstructionId user : nodes_[id.value].after)
        if (--nodes_[user.value].missing == 0) add_ready(user);
    }
    return std::move(out_);
  }

 private:
  struct Node {
    size_t missing = 0;
    bool done = false;
    std::vector<InstructionId> after;
    std::vector<InstructionId> overwritten;  // instructions whose results it may write over
  };

  void find_overwritten() {
    for (InstructionId id : computation_.instructions) {
      for (const InPlace& pair : aliases_.in_place_of(id))
        nodes_[id.value].overwritten.push_back(
            module_.operand(id, static_cast<size_t>(pair.operand)));
      if (module_[id].op == Op::While) {
        const InstructionId carried = module_.operand(id, 0);
        const auto parts = module_[carried].op == Op::Tuple
                               ? module_.operands(carried)
                               : std::span<const InstructionId>(&carried, 1);
        std::vector<InstructionId>& overwritten = nodes_[id.value].overwritten;
        overwritten.assign(parts.begin(), parts.end());
        std::ranges::sort(overwritten);
        overwritten.erase(std::ranges::unique(overwritten).begin(), overwritten.end());
      }
    }
    if (module_[computation_.root].op != Op::Tuple) return;
    if (module_[computation_.root].computation == module_.entry)
      for (const BufferAlias& alias : module_.header.input_output_alias) {
        if (alias.output_index.empty()) continue;
        const auto index = static_cast<size_t>(alias.output_index.front());
        const InstructionId result = module_.operand(computation_.root, index);
        const InstructionId given = computation_.parameters[static_cast<size_t>(alias.parameter)];
        if (result != given) nodes_[result.value].overwritten.push_back(given);
      }
    if (computation_.parameters.size() != 1) return;
    // What a loop carries on is written over what came in.
    for (InstructionId user : module_.users(computation_.parameters[0])) {
      if (module_[user].op != Op::GetTupleElement) continue;
      const auto index =
          static_cast<size_t>(module_.attributes<GetTupleElementAttributes>(user).index);
      if (index >= module_.operands(computation_.root).size()) continue;
      const InstructionId result = module_.operand(computation_.root, index);
      if (result != user) nodes_[result.value].overwritten.push_back(user);
    }
  }

  void add_node(InstructionId id) {
    const auto operands = module_.operands(id);
    const auto& controls = module_.extra(module_[id]).control_predecessors;
    nodes_[id.value].missing = operands.size() + controls.size();
    for (InstructionId other : operands) nodes_[other.value].after.push_back(id);
    for (InstructionId other : controls) nodes_[other.value].after.push_back(id);
  }

  void add_ready(InstructionId id) {
    if (is_copied_result(id)) last_.push_back(id);
    else if (nodes_[id.value].overwritten.empty()) readers_.push(id);
    else writers_.push_back(id);
  }

  // A copy that is only handed on can wait for all others.
  bool is_copied_result(InstructionId id) const {
    if (module_[id].op != Op::Copy) return false;
    const InstructionId root = computation_.root;
    return std::ranges::all_of(module_.users(id), [&](InstructionId user) { return user == root; });
  }

  bool disturbs(InstructionId writer) {
    return std::ranges::any_of(nodes_[writer.value].overwritten, [&](InstructionId value) {
      return std::ranges::any_of(nodes_[value.value].after, [&](InstructionId reader) {
        return reader != writer && !nodes_[reader.value].done;
      });
    });
  }

  InstructionId next() {
    if (!readers_.empty()) {
      const InstructionId id = readers_.front();
      readers_.pop();
      return id;
    }
    return take_quiet(writers_.empty() ? last_ : writers_);
  }

  // The first that disturbs nobody, or else the first.
  InstructionId take_quiet(std::deque<InstructionId>& ready) {
    const auto last = ready.begin() + static_cast<ptrdiff_t>(std::min(ready.size(), max_lookahead));
    auto found =
        std::find_if(ready.begin(), last, [&](InstructionId writer) { return !disturbs(writer); });
    if (found == last) found = ready.begin();
    const InstructionId id = *found;
    ready.erase(found);
    return id;
  }

  const Module& module_;
  const Aliases& aliases_;
  const Computation& computation_;
  std::unordered_map<uint32_t, Node> nodes_;  // by instruction
  std::queue<InstructionId> readers_;         // ready, and writing over nothing
  std::deque<InstructionId> writers_;         // ready
  std::deque<InstructionId> last_;            // ready, and copies that are only handed on
  std::vector<InstructionId> out_;
};

}  // namespace

std::vector<InstructionId> readers_first(const Module& module, const Aliases& aliases,
                                         ComputationId computation) {
  return ReadersFirst(module, aliases, computation).run();
}

}  // namespace hilo
