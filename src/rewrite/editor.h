// The hand with which passes change a module: what it makes has a name of its own, the metadata of
// what it stands for, and is removed again when nobody uses it. Shown through rewrite.h.
#pragma once

#include "rewrite/effects.h"

namespace hilo {

class Editor {
 public:
  explicit Editor(Module& module);
  Module& module() { return module_; }
  const Module& module() const { return module_; }
  const Effects& effects() const { return effects_; }

  // Whether control dependences hold the instruction where it is.
  bool is_pinned(InstructionId id) const { return id.value < pinned_.size() && pinned_[id.value]; }
  // Whether replace() may put one for the other: shapes and layouts are equal (a missing layout is
  // the descending one), nothing pins the old one, and no sharding is lost.
  bool can_replace(InstructionId old_value, InstructionId new_value) const;

  // Adding invalidates references to instructions, shapes and attributes of the module.
  // New instructions stand in the computation of `like` and have its metadata. They are put before
  // their first user when the pass has ended.
  InstructionId add(InstructionId like, Op op, const Shape& shape,
                    std::span<const InstructionId> operands);
  template <class A>
    requires requires { A::fields(); }
  InstructionId add(InstructionId like, Op op, const Shape& shape,
                    std::span<const InstructionId> operands, A attributes) {
    const InstructionId id = add(like, op, shape, operands);
    module_.mutable_attributes<A>(id) = std::move(attributes);
    return id;
  }
  // The shape is inferred; its layout is the descending one.
  template <class A = NoneAttributes>
  InstructionId add_inferred(InstructionId like, Op op, std::span<const InstructionId> operands,
                             A attributes = {}) {
    const InstructionId id = add(like, op, Shape::scalar(ElementType::Pred), operands);
    if constexpr (!std::is_same_v<A, NoneAttributes>)
      module_.mutable_attributes<A>(id) = std::move(attributes);
    infer(id);
    return id;
  }
  InstructionId add_constant(InstructionId like, Literal literal);
  // An array of the shape with one number everywhere: a constant and its broadcast.
  InstructionId add_splat(InstructionId like, Shape shape, double number);
  InstructionId add_splat(InstructionId like, Shape shape, const Literal& scalar);
  InstructionId add_element(InstructionId like, InstructionId tuple, int64_t index);
  InstructionId add_tuple(InstructionId like, std::span<const InstructionId> elements);
  InstructionId add_parameter(ComputationId computation, InstructionId like, const Shape& shape);
  // The same instruction with other operands, perhaps in another computation. Control
  // predecessors are not copied.
  InstructionId clone(InstructionId original, ComputationId into,
                      std::span<const InstructionId> operands);
  // All of a computation but its parameters, which become `arguments`. Returns its result.
  InstructionId clone_body(ComputationId from, ComputationId into,
                           std::span<const InstructionId> arguments);
  ComputationId clone_computation(ComputationId from);

  // All users of the old value, the root included, get the new one, which takes over sharding and
  // frontend attributes when it is new. Then the old one is removed when it may be.
  void replace(InstructionId old_value, InstructionId new_value);
  // The same for an old value whose effects live on in copies: it is removed in any case.
  void replace_moved(InstructionId old_value, InstructionId new_value);
  void set_operand(InstructionId user, size_t i, InstructionId value);
  void set_root(ComputationId computation, InstructionId value);
  void set_shape(InstructionId id, const Shape& shape) {
    module_[id].shape = module_.shapes.intern(shape);
  }
  // Removes the value if nobody uses it and it has no effect, and what only it used.
  void remove_unused(InstructionId id);
  bool is_unused(InstructionId id) const;
  uint32_t use_count(InstructionId id) const { return uses_[id.value]; }

  std::string_view fresh_name(std::string_view like);
  // Instructions that were made, or whose operands changed, since the last call.
  std::vector<InstructionId> take_touched() { return std::exchange(touched_, {}); }

 private:
  InstructionId append(Instruction instruction, std::span<const InstructionId> operands);
  void infer(InstructionId id);
  void move_uses(InstructionId old_value, InstructionId new_value);
  void remove(InstructionId id, std::vector<InstructionId>& freed);
  bool is_new(InstructionId id) const { return id.value >= first_new_; }

  Module& module_;
  Effects effects_;
  uint32_t first_new_;
  uint64_t next_number_ = 1;
  std::vector<bool> pinned_;
  std::vector<uint32_t> uses_;  // by value
  std::vector<InstructionId> touched_;
};

// Whether two shapes are equal when a missing layout is the descending one.
bool same_with_layout(const Shape& a, const Shape& b);
// Dimensions in descending order, and no tiles, memory space or packing: what arrays have before
// layouts are assigned. Tuples: all their arrays.
bool is_plain(const Shape& shape);
// The value of a constant, or null: for other ops, and constants whose text was elided.
const Literal* constant_of(const Module& module, InstructionId id);
// One element of the type with the number's value, rounded to the type.
Literal scalar_of(ElementType type, double number);
// How many instructions that the entry reaches call each computation, by computation.
std::vector<int> count_callers(const Module& module);
// Calls `body` with each computation id among the attributes of an instruction, to be changed.
void for_each_callee(Module& module, InstructionId id,
                     const std::function<void(ComputationId&)>& body);

}  // namespace hilo
