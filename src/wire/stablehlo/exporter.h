// The state of a conversion from a module, and the one instruction that a handler converts. Private
// to from_module*.cpp.
#pragma once

#include <set>
#include <unordered_map>

#include "wire/stablehlo/from_module.h"
#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

// Of an instruction: its leaves in order, as tuples are taken apart.
using Leaves = std::vector<ValueId>;

// A block as it is built, and the values of the instructions of its computation.
struct Target {
  BlockId block;
  std::unordered_map<InstructionId, Leaves> values;
};

class Exporter {
 public:
  Exporter(const Module& module, Release release, std::vector<Warning>* warnings)
      : module(module), release(release), warnings_(warnings) {}
  Result<Program> run();

  const Module& module;
  const Release release;
  Builder builder;

  Result<TypeId> type_of(const Shape& shape);  // tuples stay tuples
  Result<std::vector<TypeId>> leaf_types(const Shape& shape);
  TypeId array_type(ElementType type, Dims dims) {
    return builder.tensor(builder.scalar(type), std::move(dims));
  }
  ValueId new_value(TypeId type, std::string_view name, AttributeId location = {});
  BlockId new_block();
  RegionId region_of(BlockId block);

  // Converts the computation's instructions to the block's end; the leaves of its root. Parameter i
  // has the values `parameters[i]`.
  Result<Leaves> convert(ComputationId computation, BlockId block, std::vector<Leaves> parameters);
  // A region whose block has the leaves of the computation's parameters as arguments and returns
  // those of its root.
  Result<RegionId> region(ComputationId computation);
  // The same without arguments: parameters are these values from around it.
  Result<RegionId> region(ComputationId computation, std::vector<Leaves> parameters);
  OpId append(BlockId block, Operation operation);
  // The name of the function that is the computation; it is written once.
  std::string function(ComputationId computation);

  AttributeId location_of(const Instruction& instruction);
  void warn(std::string_view what, const Instruction& instruction);  // once for each text

 private:
  Result<void> write_function(ComputationId computation);
  void describe_module(Operation& to);
  Result<void> describe_entry(Fields& function, size_t arguments, size_t results);
  Result<void> convert_instruction(Target& target, InstructionId id);
  AttributeId frame_location(int64_t frame, int depth);
  void warn_of_header();
  std::string unique_symbol(std::string_view name);

  std::vector<Warning>* warnings_;
  std::set<std::string, std::less<>> warned_;
  std::unordered_map<ComputationId, std::string> functions_;
  std::vector<ComputationId> wanted_;  // functions that are not written yet
  std::set<std::string> symbols_;
  std::unordered_map<uint32_t, AttributeId> locations_;  // by MetadataId
  BlockId top_;
  int depth_ = 0;
};

// An instruction as its handler sees it.
struct Site {
  Exporter& exporter;
  Target& target;
  InstructionId id;
  std::string_view name;  // of the op in StableHLO, where the table has one

  const Module& module() const { return exporter.module; }
  Builder& builder() { return exporter.builder; }
  const Instruction& instruction() const { return module()[id]; }
  const Shape& shape() const { return module().shape(id); }
  const Shape& operand_shape(size_t i) const { return module().shape(module().operand(id, i)); }
  size_t count() const { return instruction().operand_count; }
  const Leaves& leaves(size_t operand) const {
    return target.values.at(module().operand(id, operand));
  }
  Leaves all_leaves(size_t from = 0) const;  // of all operands
  template <class A>
  const A& attributes() const {
    return module().attributes<A>(id);
  }

  // Appends an op; the values of its results. Attributes that are missing have their fallbacks.
  Result<Leaves> emit(std::string_view op, std::span<const ValueId> operands,
                      std::vector<TypeId> results, Fields attributes = {},
                      std::vector<RegionId> regions = {});
  // The instruction as this op: results are its leaves.
  Result<void> become(std::string_view op, std::span<const ValueId> operands,
                      Fields attributes = {}, std::vector<RegionId> regions = {});
  Result<void> become(Fields attributes = {}, std::vector<RegionId> regions = {});
  void give(Leaves values) { target.values[id] = std::move(values); }

  std::unexpected<Error> unsupported(std::string_view why) const {
    return fail(ErrorKind::Unsupported, "{}", why);
  }
  AttributeId numbers(const Dims& dims) { return builder().numbers(dims); }
  AttributeId integer(int64_t value) { return builder().integer(value); }
  AttributeId integer32(int64_t value) {
    return builder().integer(value, builder().scalar(ElementType::S32));
  }
  AttributeId precisions(const Precisions& precisions);
  // Values moved by transpose and reshape, where they change something.
  Result<ValueId> transposed(ValueId value, const Dims& permutation);
  Result<ValueId> reshaped(ValueId value, Dims dims);
  Result<ValueId> converted(ValueId value, ElementType type);
  Result<ValueId> integers(const Dims& values, ElementType type);  // a constant of one dimension
};

using Writer = Result<void> (*)(Site&);
// One row of from_module_ops.def.
struct WriterRow {
  Op op;
  std::string_view name;  // "": the handler knows
  Writer handler;
};
const WriterRow* find_writer(Op op);

Result<void> write_elementwise(Site&);
#define WRITE(op, name, function) Result<void> write_##function(Site&);
#include "wire/stablehlo/from_module_ops.def"
#undef WRITE

std::unexpected<Error> fail_mixed_widths();
// Before StableHLO 1.1.0, gather and scatter have no batching dimensions: indices into them become
// part of the index vectors.
bool has_batching_dims(const Site& site);
// `batching`: dimensions of the indices, which are operand `operand`.
Result<ValueId> add_batch_indices(Site& site, size_t operand, const Dims& batching,
                                  int64_t index_vector_dim);
// Fields of windows, under the names that the op has for its dilations.
void add_window(Site& site, const Window& window, std::string_view base, std::string_view dilation,
                Fields& fields);
// What extra says of shardings and frontend attributes.
void annotate(Builder& builder, const Extra& extra, Fields& fields);
// {a = 1 : i64, b = "text"} as MLIR prints it; none where it is something else.
std::optional<AttributeId> parse_dictionary(Builder& builder, std::string_view text);

}  // namespace hilo::mlir
