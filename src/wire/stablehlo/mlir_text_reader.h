// MLIR text on its way to a Program. One pass: what aliases stand for may follow their uses.
#pragma once

#include "wire/stablehlo/mlir_text_cursor.h"
#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {

// "0x…" as bytes; none where it is no such string.
std::optional<std::string> bytes_of_hexadecimal(std::string_view text);

class TextReader {
 public:
  explicit TextReader(std::string_view text) : in_(text) {}
  Result<Program> read();

 private:
  // Values that one name stands for, as in %0:2.
  struct Names {
    ValueId first;
    size_t count = 0;
  };
  struct Definition {
    std::string_view name;
    size_t count = 1;
    size_t offset = 0;
  };
  // Types behind the colon of an op.
  struct Signature {
    std::vector<TypeId> types, results;
    bool is_function = false;  // types are those of the operands
  };
  struct Argument {
    std::string_view name;
    TypeId type;
    AttributeId location;
    Fields attributes;
    size_t offset = 0;
  };

  // mlir_text.cpp: the file, its aliases and resources.
  void read_alias();
  void read_resources();
  void read_resource_group(bool is_of_dialect);
  void check_aliases();
  OpId read_module();

  // mlir_text_types.cpp
  bool is_type();  // whether what follows can be nothing else
  TypeId type();
  TypeId named_type(std::string_view word);
  TypeId dialect_type();
  TypeId tensor_type();
  TypeId quantized_type();
  TypeId function_type();
  Dims bounds();
  Dims bounds_list();
  Dims bounds_of_extensions();
  std::vector<TypeId> type_list();   // without brackets
  std::vector<TypeId> type_group();  // one, or several in brackets

  // mlir_text_attributes.cpp
  AttributeId attribute(bool may_have_type = true);  // "1 : i32"; without: "1"
  AttributeId word_attribute();
  AttributeId number_attribute(bool may_have_type);
  AttributeId array_attribute();
  AttributeId dense_array();
  AttributeId symbol_attribute();
  AttributeId alias_attribute(std::string_view name);
  AttributeId unknown_attribute(std::string_view dialect);
  Fields dictionary();  // {a = 1, b}
  TypeId type_of_value(ElementType fallback, bool may_have_type);
  // Locations, the same file.
  AttributeId location();  // loc(…)
  AttributeId location_inside();
  AttributeId optional_location();
  // mlir_text_dense.cpp
  AttributeId dense();
  std::string dense_values(TypeId tensor, std::string_view text, Attribute& out);
  // mlir_text_structs.cpp
  AttributeId dialect_attribute(std::string_view name);
  AttributeId structure(std::string_view name);
  AttributeId accuracy();
  AttributeId convolution_dims();
  void convolution_layouts(Fields& fields);
  void convolution_side(Fields& fields, std::string_view side, std::array<char, 2> letters,
                        std::array<std::string_view, 2> names);
  Fields structure_fields();
  // mlir_text_sdy.cpp
  AttributeId sdy_attribute(std::string_view name);
  AttributeId sdy_mesh();
  AttributeId sdy_sharding();
  AttributeId sdy_dim();
  AttributeId sdy_shardings();  // [<…>, …]
  AttributeId sdy_manual_axes();
  std::vector<AttributeId> sdy_axes();  // {"x", "y":(1)2}
  std::vector<AttributeId> sdy_unreduced_axes(std::string_view& op);
  AttributeId sdy_axis();

  // mlir_text_operations.cpp
  OpId operation(std::string_view parent);
  OpId operation_of(std::string_view parent, std::string& name);
  std::string full_name(std::string_view word, std::string_view parent) const;
  void generic(Operation& op);
  void finish(Operation& op, const std::vector<Definition>& definitions,
              const Signature& signature);
  void complete_attributes(Operation& op);
  std::vector<Definition> definitions();
  ValueId use();
  std::vector<ValueId> uses();
  ValueId define(std::string_view name, TypeId type, size_t offset);
  Signature signature();
  RegionId region(std::string_view parent, std::vector<Argument> arguments = {});
  void block(RegionId into, std::string_view parent, std::vector<Argument>& arguments);
  Argument argument();
  std::vector<Argument> arguments();  // (%a: t, %b: t)
  void add_attributes(Operation& op, Fields fields);
  // mlir_text_pretty.cpp: the forms that are lists of operands and keys.
  void pretty(Operation& op, Signature& types);
  void items(Operation& op);
  bool item(Operation& op);
  void keyed(Operation& op, std::string_view key);
  AttributeId value_of(Form form);
  AttributeId free_value();
  AttributeId integer_list();
  AttributeId precisions();
  void slices(Operation& op);
  void bracketed(Operation& op);
  void exponent_and_mantissa(Operation& op);
  // Types of results where the text has them only once.
  void spread(const Operation& op, Signature& types);
  // mlir_text_special.cpp: those with a form of their own.
  bool special(Operation& op, Signature& types);
  void function(Operation& op);
  AttributeId function_results(Type& signature);
  void module(Operation& op);
  void constant(Operation& op, Signature& types);
  void cast(Operation& op, Signature& types);
  void convolution(Operation& op);
  void window(Operation& op);
  void while_loop(Operation& op, Signature& types);
  void reduce(Operation& op, Signature& types);
  void reducer(Operation& op, size_t inputs);
  void short_reducer(Operation& op, std::string_view name, const Signature& types);
  void scan(Operation& op, Signature& types);
  void sdy_mesh_op(Operation& op);
  void sdy_computation(Operation& op);

  TextCursor in_;
  Builder builder_;
  std::unordered_map<std::string_view, Names> values_;
  // What to undo when a region ends.
  std::vector<std::string_view> defined_;
  std::unordered_map<std::string_view, TypeId> type_aliases_;
  struct Alias {
    AttributeId id;
    bool is_defined = false;
    size_t offset = 0;
  };
  std::unordered_map<std::string_view, Alias> aliases_;
  int depth_ = 0;

  // Counts how deep text nests; what is too deep is a fault.
  class Nesting {
   public:
    Nesting(TextReader& reader, int limit) : reader_(reader) {
      if (++reader.depth_ > limit)
        reader.in_.fail_at(ErrorKind::Limit, reader.in_.offset(),
                           fmt::format("nests deeper than {}", limit));
    }
    ~Nesting() { --reader_.depth_; }

   private:
    TextReader& reader_;
  };
  static constexpr int max_depth = 400, max_regions = 200;
};

}  // namespace hilo::mlir
