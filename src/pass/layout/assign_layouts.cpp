// Gives every array the descending layout, untiled, in memory space 0; only what callers and
// custom calls see keeps the layout that they were promised, with copies in between.
//   bitcast(x) between other layouts => transpose(reshape(transpose(x))), which names the elements
// Assumes a module that verifies. Bitcasts of tiled arrays, or to types of another width, keep
// their layouts and get copies around them. Later passes may assume plain layouts elsewhere. Before
// fusion and whatever else asks for plain layouts.
#include <algorithm>

#include "pass/expand/formula.h"

namespace hilo {
namespace {

Shape plain_form(const Shape& shape) {
  if (shape.is_tuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.elements) elements.push_back(plain_form(element));
    return Shape::tuple(std::move(elements));
  }
  if (!shape.is_array()) return shape;
  Shape out = Shape::array(shape.type, shape.dims);
  out.dynamic = shape.dynamic;
  return out;
}

bool has_tiles(const Shape& shape) { return shape.has_layout && !shape.layout.tiles.empty(); }

class Assigner {
 public:
  explicit Assigner(Module& module) : module_(module), editor_(module) {}

  bool run() {
    const uint32_t count = static_cast<uint32_t>(module_.instructions.size());
    std::vector<ComputationId> computations = module_.post_order();
    of_bytes_.resize(count);
    for (ComputationId computation : computations) find_kept(computation);
    of_bytes_.resize(module_.instructions.size());
    for (ComputationId computation : computations)
      for (InstructionId id : operands_first(module_, computation))
        if (module_[id].op == Op::Bitcast && !of_bytes_[id.value]) spell_out(id);
    kept_.resize(module_.instructions.size());
    for (ComputationId computation : computations)
      for (InstructionId id : std::vector(module_[computation].instructions))
        if (!module_[id].removed) assign(id);
    keep_result();
    return changed_ || module_.instructions.size() != count;
  }

 private:
  // What keeps its layout: parameters of the entry, custom calls, elements of these, and bitcasts
  // of bytes.
  void find_kept(ComputationId computation) {
    kept_.resize(module_.instructions.size());
    for (InstructionId id : operands_first(module_, computation)) {
      const Op op = module_[id].op;
      bool keeps = (op == Op::Parameter && computation == module_.entry) || op == Op::CustomCall;
      if (op == Op::Bitcast) {
        const Shape &to = module_.shape(id), &from = module_.shape(module_.operand(id, 0));
        keeps = has_tiles(to) || has_tiles(from) || bits_of(to.type) != bits_of(from.type) ||
                !from.is_array() || !is_static(to) || editor_.is_pinned(id);
        of_bytes_[id.value] = keeps;
      }
      if (op == Op::GetTupleElement) keeps = is_kept(module_.operand(id, 0));
      if (keeps && !is_plain(module_.shape(id))) kept_[id.value] = true;
      if (op == Op::CustomCall || op == Op::Bitcast) keep_operands(id, keeps);
    }
  }

  // Values of other layouts go to these by copies.
  void keep_operands(InstructionId id, bool keeps) {
    if (!keeps) return;
    for (size_t i = 0; i < module_[id].operand_count; ++i) {
      const InstructionId operand = module_.operand(id, i);
      const Shape shape = module_.shape(operand);
      if (is_plain(shape) || !shape.is_array() || is_kept(operand)) continue;
      const InstructionId copy = editor_.add(id, Op::Copy, shape, std::array{operand});
      editor_.set_operand(id, i, copy);
      kept_.resize(module_.instructions.size());
      kept_[copy.value] = true;
      changed_ = true;
    }
  }
  bool is_kept(InstructionId id) const { return id.value < kept_.size() && kept_[id.value]; }

  // Dimensions from major to minor.
  static Dims physical_order(const Shape& shape) {
    Dims out = shape.layout.minor_to_major;
    if (!shape.has_layout) out = Layout::descending(shape.dims.size()).minor_to_major;
    std::ranges::reverse(out);
    return out;
  }

  void spell_out(InstructionId id) {
    Formula f(editor_, id);
    const Shape to = module_.shape(id), from = module_.shape(module_.operand(id, 0));
    const Dims order = physical_order(to);
    Dims sizes, place(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      sizes.push_back(to.dims[order[i]]);
      place[order[i]] = static_cast<int64_t>(i);
    }
    Term x = f.operand(0);
    if (from.type != to.type) x = f.bitcast_convert(x, to.type);
    const Term out = f.transpose(f.reshape(f.transpose(x, physical_order(from)), sizes), place);
    if (out.value == module_.operand(id, 0)) return;
    editor_.replace(id, out.value);
    changed_ = true;
  }

  void assign(InstructionId id) {
    const Shape shape = module_.shape(id);
    if (is_plain(shape)) return;
    changed_ = true;
    if (!is_kept(id)) return editor_.set_shape(id, plain_form(shape));
    // Users other than those that keep layouts read a plain copy.
    if (!shape.is_array()) return;
    InstructionId copy;
    for (InstructionId user : module_.users(id)) {
      if (keeps_operands(user)) continue;
      if (!copy) copy = editor_.add(id, Op::Copy, plain_form(shape), std::array{id});
      for (size_t i = 0; i < module_[user].operand_count; ++i)
        if (module_.operand(user, i) == id) editor_.set_operand(user, i, copy);
    }
    if (module_[module_[id].computation].root == id && module_[id].computation != module_.entry)
      module_[module_[id].computation].root =
          copy ? copy : editor_.add(id, Op::Copy, plain_form(shape), std::array{id});
  }
  bool keeps_operands(InstructionId id) const {
    const Op op = module_[id].op;
    return op == Op::CustomCall || (op == Op::GetTupleElement && is_kept(id)) ||
           (id.value < of_bytes_.size() && of_bytes_[id.value]);
  }

  // The entry gives what its header promises.
  void keep_result() {
    const auto& layout = module_.header.entry_computation_layout;
    const InstructionId root = module_[module_.entry].root;
    if (!layout || same_with_layout(layout->result, module_.shape(root))) return;
    const InstructionId given = in_form(root, layout->result);
    module_[module_.entry].root = given;
    changed_ = true;
  }
  InstructionId in_form(InstructionId value, const Shape& wanted) {
    const Shape shape = module_.shape(value);
    if (same_with_layout(shape, wanted)) return value;
    if (!wanted.is_tuple()) {
      Shape stated = shape;
      stated.has_layout = wanted.has_layout, stated.layout = wanted.layout;
      return editor_.add(value, Op::Copy, stated, std::array{value});
    }
    std::vector<InstructionId> elements;
    for (size_t i = 0; i < wanted.elements.size(); ++i) {
      const InstructionId element = module_[value].op == Op::Tuple
                                        ? module_.operand(value, i)
                                        : editor_.add_element(value, value, i);
      elements.push_back(in_form(element, wanted.elements[i]));
    }
    return editor_.add_tuple(value, elements);
  }

  Module& module_;
  Editor editor_;
  std::vector<bool> kept_, of_bytes_;  // of_bytes_: bitcasts that look at memory
  bool changed_ = false;
};

}  // namespace

Result<bool> assign_layouts(Module& module, const PassOptions&) { return Assigner(module).run(); }

}  // namespace hilo
