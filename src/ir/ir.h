// Front door of `ir`: the opcode table and the Module. A Module owns everything in flat vectors
// addressed by ids, so that a clone is a copy and nothing dangles. Instructions keep the order of
// the file in their computation; that order is the schedule when the module says is_scheduled.
#pragma once

#include <unordered_map>
#include <variant>

#include "ir/attributes.h"
#include "ir/combiner.h"
#include "ir/extra.h"
#include "ir/op.h"
#include "ir/sharding/device_tiles.h"
#include "ir/string_arena.h"

namespace hilo {

struct Instruction {
  std::string_view name;  // without '%'; in the module's arena
  Op op = Op::Tuple;
  bool removed = false;  // a tombstone until Module::compact
  ShapeId shape;
  ComputationId computation;
  uint32_t first_operand = 0, operand_count = 0;  // in the module's operand slots
  AttributesId attributes;                        // index in the pool of the op's attribute struct
  ExtraId extra;
  MetadataId metadata;
  UseId first_use;
};

struct Computation {
  std::string_view name;
  InstructionId root;
  std::vector<InstructionId> instructions;  // in the order of the file
  std::vector<InstructionId> parameters;    // by number
  std::string_view execution_thread = "main";
};

struct BufferAlias {
  Dims output_index;
  int64_t parameter = 0;
  Dims parameter_index;
  bool must_alias = false;
  bool operator==(const BufferAlias&) const = default;
};
struct BufferDonor {
  int64_t parameter = 0;
  Dims parameter_index;
  bool operator==(const BufferDonor&) const = default;
};

struct EntryLayout {
  std::vector<Shape> parameters;
  Shape result;
  bool operator==(const EntryLayout&) const = default;
};

// Ids count from 1. parent_frame_id is the printed one, the proto's + 1: 1 means no parent.
struct StackFrameTables {
  struct Location {
    int64_t file_name_id = 0, function_name_id = 0, line = 0, end_line = 0, column = 0,
            end_column = 0;
    bool operator==(const Location&) const = default;
  };
  struct Frame {
    int64_t file_location_id = 0, parent_frame_id = 1;
    bool operator==(const Frame&) const = default;
  };
  std::vector<std::string> file_names, function_names;
  std::vector<Location> locations;
  std::vector<Frame> frames;
  bool operator==(const StackFrameTables&) const = default;
};

struct ModuleHeader {
  std::string name;
  bool is_scheduled = false;
  std::vector<BufferAlias> input_output_alias;
  std::vector<BufferDonor> buffer_donor;
  bool alias_passthrough_params = false;
  std::optional<EntryLayout> entry_computation_layout;
  std::vector<bool> allow_spmd_sharding_propagation_to_parameters;
  std::vector<bool> allow_spmd_sharding_propagation_to_output;
  int64_t replica_count = 1, num_partitions = 1;
  FrontendAttributes frontend_attributes;
  std::string origin_recovery_table, debug_attributes;  // as they stood, braces included
  StackFrameTables stack_frames;
  std::vector<std::pair<std::string, std::string>> unknown;  // attributes nobody knows, kept
  bool operator==(const ModuleHeader&) const = default;
};

// Interned shapes.
class ShapeTable {
 public:
  ShapeId intern(const Shape& shape);
  ShapeId intern(Shape&& shape);
  const Shape& operator[](ShapeId id) const { return shapes_[id.value]; }
  size_t size() const { return shapes_.size(); }
  void reserve(size_t shapes) { shapes_.reserve(shapes); }

 private:
  ShapeId find(const Shape& shape, size_t hash) const;  // or none
  ShapeId append(Shape shape, size_t hash);

  void place(uint32_t id);  // into slots_
  void grow();

  std::vector<Shape> shapes_;
  std::vector<size_t> hashes_;   // of the shapes
  std::vector<uint32_t> slots_;  // open addressing: a shape's number + 1, 0 where free
};

class Module {
 public:
  // Defaulted in module_copy.cpp: some forty vectors, which no other file should write code for.
  Module();
  Module(const Module& other);
  Module(Module&& other) noexcept;
  Module& operator=(const Module& other);
  Module& operator=(Module&& other) noexcept;
  ~Module();

  ModuleHeader header;
  ComputationId entry;
  std::vector<Instruction> instructions;
  std::vector<Computation> computations;  // in the order of the file
  ShapeTable shapes;
  std::vector<Extra> extras;
  std::vector<Metadata> metadata;
  StringArena strings;
  std::string file;         // where it was read from, for messages
  std::string_view source;  // the text it was parsed from, kept in `strings`; else empty

  // Where an instruction stands: file, line and column of its name in `source`, names, op.
  Place place(InstructionId id) const;

  Instruction& operator[](InstructionId id) { return instructions[id.value]; }
  const Instruction& operator[](InstructionId id) const { return instructions[id.value]; }
  Computation& operator[](ComputationId id) { return computations[id.value]; }
  const Computation& operator[](ComputationId id) const { return computations[id.value]; }
  const Shape& shape(InstructionId id) const { return shapes[(*this)[id].shape]; }
  const Shape& shape(const Instruction& instruction) const { return shapes[instruction.shape]; }
  const Extra& extra(const Instruction& instruction) const;  // the empty Extra when none
  Extra& mutable_extra(InstructionId id);                    // made when missing; never shared
  const Metadata& metadata_of(const Instruction& instruction) const;  // empty when none

  std::span<const InstructionId> operands(const Instruction& instruction) const {
    return {operands_.data() + instruction.first_operand, instruction.operand_count};
  }
  std::span<const InstructionId> operands(InstructionId id) const { return operands((*this)[id]); }
  InstructionId operand(InstructionId id, size_t i) const { return operands(id)[i]; }

  // The attributes of an instruction; A must be the struct that ops.def names for its op.
  template <class A>
  const A& attributes(const Instruction& instruction) const {
    return std::get<std::vector<A>>(pools_)[instruction.attributes.value];
  }
  template <class A>
  const A& attributes(InstructionId id) const {
    return attributes<A>((*this)[id]);
  }
  template <class A>
  A& mutable_attributes(InstructionId id) {
    return std::get<std::vector<A>>(pools_)[(*this)[id].attributes.value];
  }
  template <class A>
  A& mutable_attributes(AttributesId id) {
    return std::get<std::vector<A>>(pools_)[id.value];
  }
  template <class A>
  AttributesId add_attributes(A attributes) {
    auto& pool = std::get<std::vector<A>>(pools_);
    pool.push_back(std::move(attributes));
    return {static_cast<uint32_t>(pool.size() - 1)};
  }

  // Attributes that no instruction has yet: the op's defaults, or those at `from` once more.
  AttributesId default_attributes(Op op);
  AttributesId copy_attributes(Op op, AttributesId from);

  // Building. Names are copied; an empty or taken name is made unique by a number.
  ComputationId add_computation(std::string_view name);
  // Appends; ids must be this module's. Attributes are default-made for the op unless given after.
  InstructionId add_instruction(ComputationId computation, Op op, const Shape& shape,
                                std::span<const InstructionId> operands,
                                std::string_view name = "");
  template <class A>
    requires requires { A::fields(); }
  InstructionId add_instruction(ComputationId computation, Op op, const Shape& shape,
                                std::span<const InstructionId> operands, A attributes,
                                std::string_view name = "") {
    InstructionId id = add_instruction(computation, op, shape, operands, name);
    mutable_attributes<A>(id) = std::move(attributes);
    return id;
  }
  void reserve(size_t instructions, size_t operands);
  // For readers: nothing but the flat vectors is touched; no name is checked, no attributes made.
  InstructionId append_raw(Instruction instruction, std::span<const InstructionId> operands);

  // Users of a value, each once for each operand slot that it stands in.
  std::vector<InstructionId> users(InstructionId id) const;
  bool has_users(InstructionId id) const { return static_cast<bool>((*this)[id].first_use); }
  void set_operand(InstructionId user, size_t i, InstructionId value);
  void replace_all_uses(InstructionId old_value, InstructionId new_value);  // and the root
  void remove(InstructionId id);                                            // must have no users
  void compact();  // drops tombstones; ids change

  // Computations that an instruction calls, in the order of its fields.
  std::vector<ComputationId> called(const Instruction& instruction) const;
  // Which of an instruction's ids leads nowhere: "shape", "attributes", "called computation" ...;
  // "" where all lead somewhere. Only who builds modules by hand can get them wrong.
  std::string_view lost_id(const Instruction& instruction) const;
  // Puts others, as many, in the place of what `called` gives.
  void set_called(InstructionId id, std::span<const ComputationId> computations);
  std::vector<ComputationId> post_order() const;  // from the entry, callees before callers
  InstructionId find(ComputationId computation, std::string_view name) const;  // or none; linear
  ComputationId find_computation(std::string_view name) const;

 private:
  struct Use {
    InstructionId user;
    UseId next, previous;
  };
  void link(uint32_t slot);
  void unlink(uint32_t slot);

  std::vector<InstructionId> operands_;
  std::vector<Use> uses_;    // one for each operand slot
  std::tuple<std::monostate  // only so that each row of the list can begin with a comma
#define ATTRIBUTES(X) , std::vector<X##Attributes>
#include "ir/attributes.def"
#undef ATTRIBUTES
             >
      pools_;
};

// Calls body(std::type_identity<XAttributes>()) for the op's attribute struct.
template <class Body>
decltype(auto) visit_attributes_type(Op op, Body&& body) {
  switch (op) {
#define OP(name, text, operands, attributes, op_class, types, ...) \
  case Op::name: return body(std::type_identity<attributes##Attributes>());
#include "ir/ops.def"
#undef OP
  }
  fail_check("visit_attributes_type: no such op", std::source_location::current());
}

// What differs first between two modules: header, computations and instructions in order with
// names, shapes, operands, attributes and extras. Ids do not count. Empty: nothing.
std::string difference(const Module& a, const Module& b);

// The shape that the op's rules give for these operands and attributes; layouts are the descending
// ones. Floating operands that the rules want of one type are seen in the widest of theirs, and
// what is stated may be of any floating width: see widened_shapes. An error says what does not fit.
// Ops whose shape is free (parameter, constant, custom-call, fusion, rng...) give the shape that
// the instruction states.
Result<Shape> infer_shape(const Module& module, const Instruction& instruction);
bool can_infer_shape(Op op);  // without the stated shape

// In which shapes an op computes that mixes widths of floats, as those of TPU modules do: the
// widest type of what its rule wants of one type and of what it states, into which operands are
// converted before; the result is rounded once, to the stated shape. What moves elements has them
// in the result's type at once, which is the same. Layouts are the stated ones.
struct WidenedShapes {
  std::vector<Shape> operands;
  Shape result;
};
// Nothing where no width is mixed, or no shape can be inferred.
std::optional<WidenedShapes> widened_shapes(const Module& module, const Instruction& instruction);

}  // namespace hilo
