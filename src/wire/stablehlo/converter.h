// The state of a conversion, and the one op that a handler converts. Private to to_module*.cpp.
#pragma once

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "text/text.h"
#include "wire/legal_name.h"
#include "wire/stablehlo/known_values.h"
#include "wire/stablehlo/origins.h"
#include "wire/stablehlo/to_module.h"

namespace hilo::mlir {

struct Step;
using Handler = Result<void> (*)(Step&);

// What an op does with values of quantised types, by the specification, and what it asks of their
// types (to_module_quantised_rules.cpp). It takes them as the numbers that they stand for, if not
// said otherwise, with one scale for all elements.
enum class Quantised : uint8_t {
  None,         // it takes none
  Alike,        // types that differ in scales alone
  Sum,          // the same storage and expressed types; scales along a dimension, too
  Equal,        // one type
  Moved,        // one type; scales along a dimension that moves, too
  Pairs,        // result i of the type of operand i
  StoredPairs,  // the same, as they are stored
  Reduced,      // results of the types that the region takes
  Product,      // a kernel or right side that is quantised, also along a dimension
  Free,         // any types
  Any,          // any types, also with scales along a dimension
  Stored,       // the same, as they are stored
};

// One row of stablehlo_ops.def.
struct Row {
  std::string_view name;
  int operands, results;  // -1: any number
  Handler handler;
  Op op;  // where the handler serves several
  Quantised quantised;

  bool takes_numbers() const {
    return quantised != Quantised::Stored && quantised != Quantised::StoredPairs;
  }
  bool takes_axes() const {
    return quantised == Quantised::Sum || quantised == Quantised::Moved ||
           quantised == Quantised::Product || quantised == Quantised::Any ||
           quantised == Quantised::Stored;
  }
};
const Row* find_row(std::string_view name);

// A computation as it is built, and what its values are called outside.
struct Scope {
  ComputationId computation;
  std::unordered_map<ValueId, InstructionId> values;
  std::unordered_map<InstructionId, InstructionId> sunk;  // copies of instructions around
};

// In Shardy's words for each value, with the same in tiles as far as these can say it; or in tiles
// alone.
struct SaidSharding {
  Sharding tiles;
  std::vector<AxisSharding> per_value;
};

class Converter {
 public:
  Converter(const Program& program, std::span<const Shape> argument_shapes,
            const ParseOptions& options);
  Result<Module> convert();

  const Program& program;
  const ParseOptions& options;
  Module module;
  KnownValues known;

  // Types (to_module_types.cpp). Shapes of open dimensions have Shape::unbounded.
  Result<Shape> shape_of(TypeId type);
  bool has_open_dims(TypeId type);

  // Building.
  ComputationId begin_computation(std::string_view name);
  InstructionId append(Scope& scope, Op op, std::span<const InstructionId> operands,
                       AttributesId attributes, const Shape& shape, const Origin& origin);
  InstructionId add_parameter(Scope& scope, const Shape& shape, const Origin& origin);
  // Infers the shape; what is stated must fit it.
  Result<InstructionId> add(Scope& scope, Op op, std::span<const InstructionId> operands,
                            AttributesId attributes, const Shape* stated, const Origin& origin);
  Result<InstructionId> tuple(Scope& scope, std::span<const InstructionId> values,
                              const Origin& origin);  // of one value: the value
  // The n values in what tuple() gives.
  Result<std::vector<InstructionId>> untuple(Scope& scope, InstructionId value, size_t n,
                                             const Origin& origin);

  // Regions (to_module_region.cpp).
  Result<const Block*> only_block(RegionId region) const;
  // The values that the block's last op hands over.
  Result<std::vector<InstructionId>> convert_block(Scope& scope, const Block& block);
  // What a region uses of the values around it, in the order of use.
  const std::vector<ValueId>& captured(RegionId region);
  Result<InstructionId> find_value(const Scope& scope, ValueId value) const;
  // Copies into the scope what is computed from constants alone in so many steps; else nothing.
  std::optional<InstructionId> sink(Scope& scope, InstructionId value, int steps);

  // Functions (to_module.cpp).
  struct Function {
    ComputationId computation;
    size_t results = 0;
  };
  Result<Function> function(const std::string& name, std::span<const InstructionId> arguments);
  // Of a custom call, which states no arguments.
  Result<Function> declared(const std::string& name);

  Origins origins;

  // Shardings (to_module_sharding.cpp).
  Result<AxisSharding> sharding_of(const Attribute& sharding);  // "sdy.sharding" of one value
  // Of an op or an argument: sdy.sharding or mhlo.sharding.
  Result<std::optional<SaidSharding>> sharding_in(const Attribute* sdy, const Attribute* mhlo);
  Result<std::optional<SaidSharding>> sharding_in(const Attribute& dictionary) {
    return sharding_in(program.find(dictionary, "sdy.sharding"),
                       program.find(dictionary, "mhlo.sharding"));
  }
  void set_sharding(InstructionId value, const SaidSharding& said);
  Result<SharedMesh> mesh_of(const Attribute& mesh);  // a symbol or "sdy.mesh"
  // The value behind a custom call that says its sharding.
  Result<InstructionId> marked(Scope& scope, InstructionId value, std::string_view target,
                               const SaidSharding& said, const Origin& origin);
  ShardyMeshes meshes;
  OpId module_operation;  // whose functions these are

  Error at(const Operation& operation, Error error) const;
  Warning warning(const Operation& operation, std::string message) const {
    Error here = at(operation, {ErrorKind::Structure, std::move(message), {}});
    return {std::move(here.message), std::move(here.place)};
  }
  // Ends with an error where regions and calls are nested too deep.
  Result<void> enter();
  void leave() { --depth_; }

 private:
  struct FunctionInfo {
    OpId operation;
    bool is_open = false;  // has values with open dimensions
    int state = 0;         // of the search for open dimensions: 0 unseen, 1 in it, 2 done
  };
  OpId innermost_module() const;
  Result<void> collect_functions();
  bool find_open(FunctionInfo& function);
  bool has_open_values(RegionId region, int depth);
  Result<Function> convert_function(const FunctionInfo& info, const std::string& name,
                                    std::span<const Shape> shapes,
                                    std::span<const InstructionId> arguments);
  Result<void> convert_main(FunctionInfo& info);
  Result<void> add_mesh(const std::string& name, const Operation& operation);
  Result<void> read_header();
  Result<InstructionId> add_argument(Scope& scope, const Operation& function, size_t index,
                                     const Shape& shape);
  Result<InstructionId> with_result_sharding(Scope& scope, const Operation& function, size_t index,
                                             InstructionId value);
  Result<void> say_result_shardings(const Operation& function, const Function& made);
  Result<void> read_argument_attributes(const Operation& function, size_t results);
  void order_computations();
  Result<void> convert_operation(Scope& scope, const Operation& operation);
  Result<InstructionId> unquantised(Step& step, size_t i);
  std::string unique_computation(std::string_view name);

  std::span<const Shape> argument_shapes_;
  std::vector<std::optional<Shape>> shapes_;  // by TypeId
  std::unordered_map<std::string, FunctionInfo> functions_;
  std::map<std::string, Function> converted_;  // by name, shapes and known values
  std::unordered_set<std::string> in_progress_;
  std::unordered_map<RegionId, std::vector<ValueId>> captured_;
  std::unordered_set<std::string> computation_names_;
  int depth_ = 0, type_depth_ = 0;
};

// An op as its handler sees it. Accessors of attributes say what is missing or of another kind.
struct Step {
  Converter& converter;
  Scope& scope;
  const Operation& operation;
  const Row& row;
  Origin origin;
  std::vector<InstructionId> operands = {};
  const Attribute* attributes = nullptr;                // a dictionary in the place of the op's own
  std::set<std::string, std::less<>>* asked = nullptr;  // gets the names of attributes looked for

  const Program& program() const { return converter.program; }
  Module& module() { return converter.module; }
  size_t count() const { return operands.size(); }
  const Shape& shape(size_t operand) const { return converter.module.shape(operands[operand]); }
  size_t result_count() const { return operation.results.size(); }
  const Type& result_type(size_t i) const;
  Result<Shape> stated(size_t i = 0);    // dimensions may be open
  Result<Shape> concrete(size_t i = 0);  // an error where they are

  const Attribute* find(std::string_view name) const;
  Result<int64_t> integer(std::string_view name) const;
  Result<int64_t> integer(std::string_view name, int64_t otherwise) const;
  Result<bool> flag(std::string_view name, bool otherwise = false) const;
  Result<double> number(std::string_view name) const;
  Result<Dims> dims(std::string_view name) const;
  Result<Dims> dims(std::string_view name, Dims otherwise) const;
  Result<std::string> text(std::string_view name) const;  // of a String, Symbol or Enum
  Result<std::string> text(std::string_view name, std::string otherwise) const;
  template <class E>
  Result<E> enumeration(std::string_view name) const;

  template <class... Args>
  std::unexpected<Error> misfit(fmt::format_string<Args...> text, Args&&... args) const {
    return fail(ErrorKind::Shape, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> text, Args&&... args) const {
    if (converter.options.warnings)
      converter.options.warnings->push_back(
          converter.warning(operation, fmt::format(text, std::forward<Args>(args)...)));
  }
  Result<void> need_array(size_t operand) const;
  Result<void> need_regions(size_t count) const;
  Result<void> need_operands(size_t at_least) const;

  // Instructions. Without a stated shape the inferred one is taken.
  Result<InstructionId> add(Op op, std::span<const InstructionId> from,
                            const Shape* stated = nullptr);
  Result<InstructionId> add(Op op, std::initializer_list<InstructionId> from,
                            const Shape* stated = nullptr) {
    return add(op, std::span(from.begin(), from.size()), stated);
  }
  template <class A>
    requires requires { A::fields(); }
  Result<InstructionId> add(Op op, std::span<const InstructionId> from, A attributes,
                            const Shape* stated = nullptr) {
    return converter.add(scope, op, from, module().add_attributes(std::move(attributes)), stated,
                         origin);
  }
  template <class A>
    requires requires { A::fields(); }
  Result<InstructionId> add(Op op, std::initializer_list<InstructionId> from, A attributes,
                            const Shape* stated = nullptr) {
    return add(op, std::span(from.begin(), from.size()), std::move(attributes), stated);
  }
  Result<InstructionId> constant(Literal literal);
  Result<InstructionId> reshape(InstructionId value, Dims dims);
  Result<InstructionId> broadcast(InstructionId value, Dims dims, Dims result);
  Result<InstructionId> convert(InstructionId value, ElementType type);
  Result<InstructionId> like(InstructionId scalar, const Shape& shape);  // a scalar broadcast

  // Hands over what the op says of shardings and frontend attributes.
  Result<void> annotate(InstructionId value);
  // The op's instruction, whose value or whose tuple's elements are the results; annotated.
  Result<void> give(InstructionId value);
  Result<void> give(size_t result, InstructionId value);

  // A computation of scalars: a reducer, comparator and the like. Captured values must be computed
  // from constants.
  Result<ComputationId> scalars(size_t region);
};

Result<FrontendAttributes> frontend_attributes_of(const Program& program,
                                                  const Attribute& dictionary);
// As MLIR prints it: 3 : i64, "text", dense<[1, 2]> : tensor<2xi64>.
Result<std::string> text_of_attribute(const Program& program, const Attribute& attribute,
                                      int depth = 0);
Result<Literal> literal_of(const Program& program, const Attribute& attribute, const Shape& shape);
Result<Dims> integers_of(const Program& program, const Attribute& attribute);
// real = (stored - zero_point) * scale, and back.
Result<InstructionId> dequantise(Step& step, InstructionId value, const Quantization& type);
Result<InstructionId> quantise(Step& step, InstructionId value, const Quantization& type);
const Quantization* quantization_of(const Program& program, TypeId type);
// The rules of quantised types: of elements, of a tensor of them, of an op.
Result<void> check_quantisation(const Quantization& type);
Result<void> check_quantisation(const Quantization& type, const Dims& dims);
Result<void> check_quantised(const Step& step);

template <class E>
Result<E> Step::enumeration(std::string_view name) const {
  HILO_TRY(const std::string wanted, text(name));
  static constexpr auto texts = enum_texts(std::type_identity<E>());
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts[i].text == wanted) return static_cast<E>(i);
  return misfit("the attribute {} has no value '{}'", name, wanted);
}

}  // namespace hilo::mlir
