// How exact a result must be: an attribute of StableHLO, and the text that HLO has for it. Private
// to to_module*.cpp and from_module*.cpp.
#pragma once

#include "wire/stablehlo/mlir_builder.h"

namespace hilo::mlir {

// {tolerance={atol=1,rtol=0.5,ulps=2}} or {mode=highest}; empty where nothing is asked for. Only a
// tolerance has numbers: others are an error.
Result<std::string> text_of_accuracy(const Program& program, const Attribute& accuracy);
// None where the text says something else.
std::optional<AttributeId> accuracy_of(Builder& builder, std::string_view text);

}  // namespace hilo::mlir
