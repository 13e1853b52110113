// The pieces of MLIR text. Private to write_text*.cpp.
#pragma once

#include "wire/stablehlo/from_module.h"
#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

std::string quoted_text(std::string_view text);
std::string symbol_text(std::string_view name);  // @name, quoted where it must be
std::string type_text(const Program& program, TypeId type);
// dense<[1, 2]> : tensor<2xi64>
std::string dense_text(const Program& program, const Attribute& attribute);
std::string number_text(ElementType type, double number);
// An attribute that is no op's own: of a dictionary, an argument, the module.
Result<std::string> attribute_text(const Program& program, const Attribute& attribute);
Result<std::string> dictionary_text(const Program& program, const Fields& fields);  // with braces
// The op's attributes as StableHLO's dialect groups them: a = 1 : i64, b = …; without braces.
Result<std::string> properties_text(const Program& program, const Operation& operation);
// Those that are not the op's own.
Fields discardable_fields(const Operation& operation);
bool is_elementwise(std::string_view stablehlo_name);

}  // namespace hilo::mlir
