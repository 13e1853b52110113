// Applies rules from a worklist: a value is looked at again when it is new, when an operand of it
// changed, and when it became the only user of one.
#include <algorithm>
#include <deque>

#include "rewrite/order.h"
#include "rewrite/rule.h"

namespace hilo {
namespace {

// Builds the terms of a result. Numbers take the type of the operand beside them.
class Builder {
 public:
  Builder(Editor& editor, const Pattern& pattern, const Match& match)
      : editor_(editor), pattern_(pattern), match_(match) {}

  // Values that ops are put on have the root's dimensions, and what is made has its layout.
  bool fits() const {
    if (pattern_.root().kind != PatternNode::Kind::Apply) return true;
    const Shape& root = match_.shape();
    const bool plain = is_plain(root);
    for (int i = 0; i < pattern_.count; ++i) {
      const PatternNode& node = pattern_.nodes[i];
      if (node.kind == PatternNode::Kind::Apply || node.slot == PatternNode::none) continue;
      const Shape& shape = editor_.module().shape(match_[letter_of(node.slot)]);
      if (shape.dims != root.dims) return false;
      if (plain ? !is_plain(shape) : !(shape.layout == root.layout && shape.type == root.type))
        return false;
    }
    return true;
  }

  InstructionId build() { return term(0, match_.shape()); }

 private:
  static char letter_of(int slot) {
    return static_cast<char>(slot < 26 ? 'a' + slot : 'A' + slot - 26);
  }

  InstructionId term(int at, Shape beside) {
    using Kind = PatternNode::Kind;
    const PatternNode& node = pattern_.nodes[at];
    if (node.kind == Kind::Apply) return application(at, node);
    if (node.kind == Kind::Number) return editor_.add_splat(match_.root(), beside, node.number);
    if (node.kind == Kind::Ones) return editor_.add_splat(match_.root(), beside, -1);
    check(node.slot != PatternNode::none, "a result of a rule: what cannot be made");
    return match_[letter_of(node.slot)];
  }

  InstructionId application(int at, const PatternNode& node) {
    std::array<InstructionId, 3> operands;
    std::array<int, 3> places;
    for (int i = 0, next = at + 1; i < node.operands; ++i) {
      places[i] = next;
      next += pattern_.nodes[next].size;
    }
    // Numbers last: their type is that of what stands beside them.
    const auto is_number = [&](int i) {
      return pattern_.nodes[places[i]].slot == PatternNode::none &&
             pattern_.nodes[places[i]].kind != PatternNode::Kind::Apply;
    };
    for (int i = 0; i < node.operands; ++i)
      if (!is_number(i)) operands[i] = term(places[i], match_.shape());
    for (int i = 0; i < node.operands; ++i)
      if (is_number(i)) operands[i] = term(places[i], shape_beside(node, operands));
    const std::span<const InstructionId> given(operands.data(), node.operands);
    Shape shape = match_.shape();
    if (node.op != Op::Convert) shape.type = type_of(node, given);
    if (node.op != Op::Compare) return editor_.add(match_.root(), node.op, shape, given);
    return editor_.add(match_.root(), node.op, shape, given,
                       CompareAttributes{static_cast<ComparisonDirection>(node.direction)});
  }

  Shape shape_beside(const PatternNode& node, std::span<const InstructionId> operands) const {
    for (size_t i = node.op == Op::Select ? 1 : 0; i < static_cast<size_t>(node.operands); ++i)
      if (operands[i]) return editor_.module().shape(operands[i]);
    return match_.shape();
  }

  ElementType type_of(const PatternNode& node, std::span<const InstructionId> operands) const {
    if (node.op == Op::Compare || node.op == Op::IsFinite) return ElementType::Pred;
    const ElementType type = editor_.module().shape(operands.back()).type;
    if (node.op == Op::Complex) return complex_type_of(type);
    const bool is_part = node.op == Op::Real || node.op == Op::Imag || node.op == Op::Abs;
    return is_part ? real_type_of(type) : type;
  }

  Editor& editor_;
  const Pattern& pattern_;
  const Match& match_;
};

class Driver {
 public:
  Driver(Editor& editor, std::span<const RuleTable> tables, const RewriteOptions& options)
      : editor_(editor), options_(options), rules_(op_count) {
    for (RuleTable table : tables)
      for (const RewriteRule& rule : table)
        for (size_t i = 0; i < rules_.size(); ++i) {
          const PatternNode& root = rule.pattern.root();
          const Op op = static_cast<Op>(i);
          if (root.elementwise ? is_elementwise(op) : root.op == op) rules_[i].push_back(&rule);
        }
  }

  bool run(ComputationId computation) {
    for (InstructionId id : operands_first(editor_.module(), computation)) enqueue(id);
    // Rules end by themselves; should two of them undo each other, this does.
    size_t steps = 1000 + 64 * queue_.size();
    bool changed = false;
    while (!queue_.empty() && steps-- > 0) {
      const InstructionId id = queue_.front();
      queue_.pop_front();
      queued_[id.value] = false;
      if (editor_.module()[id].removed || !rewrite(id)) continue;
      changed = true;
      for (InstructionId touched : editor_.take_touched()) enqueue(touched);
    }
    queue_.clear();
    return changed;
  }

 private:
  void enqueue(InstructionId id) {
    if (queued_.size() <= id.value) queued_.resize(editor_.module().instructions.size());
    if (queued_[id.value]) return;
    queued_[id.value] = true;
    queue_.push_back(id);
  }

  bool rewrite(InstructionId id) {
    if (editor_.is_pinned(id)) return false;
    for (const RewriteRule* rule : rules_[static_cast<size_t>(editor_.module()[id].op)])
      if (apply(*rule, id)) return true;
    return false;
  }

  bool apply(const RewriteRule& rule, InstructionId id) {
    Match match(editor_, id);
    if (!keeps_enough(rule, id) || !matches(rule, match)) return false;
    const size_t before = editor_.module().instructions.size();
    const InstructionId result = build_result(editor_, rule, match);
    const bool replaces = result && editor_.can_replace(id, result) &&
                          (!options_.may_fire || options_.may_fire(rule.name));
    if (!replaces) {
      for (size_t i = editor_.module().instructions.size(); i-- > before;)
        if (!editor_.module().instructions[i].removed)
          editor_.remove_unused({static_cast<uint32_t>(i)});
      editor_.take_touched();
      return false;
    }
    editor_.replace(id, result);
    if (options_.fired) options_.fired(rule.name);
    return true;
  }

  bool keeps_enough(const RewriteRule& rule, InstructionId id) const {
    if (rule.keeps <= options_.keeps) return true;
    const Module& module = editor_.module();
    const auto operands = module.operands(id);
    const ElementType type = module.shape(operands.empty() ? id : operands.back()).type;
    return !is_floating(type) && !is_complex(type) && !is_floating(module.shape(id).type);
  }

  Editor& editor_;
  const RewriteOptions& options_;
  std::vector<std::vector<const RewriteRule*>> rules_;  // by op
  std::deque<InstructionId> queue_;
  std::vector<bool> queued_;
};

}  // namespace

InstructionId build_result(Editor& editor, const RewriteRule& rule, const Match& match) {
  if (rule.result.build) return rule.result.build(editor, match);
  Builder builder(editor, rule.result.pattern, match);
  return builder.fits() ? builder.build() : InstructionId{};
}

bool apply_rules(Module& module, std::span<const RuleTable> tables, const RewriteOptions& options) {
  Editor editor(module);
  Driver driver(editor, tables, options);
  bool changed = false;
  for (ComputationId id : open_computations(module)) changed |= driver.run(id);
  return changed;
}

}  // namespace hilo
