// Values of attribute fields, one form for each type. Forms: docs/hlo-text.md.
#include <algorithm>
#include <charconv>

#include "text/print.h"

namespace hilo {

void Printer::value(bool value) { text(value ? "true" : "false"); }

void Printer::value(double value) {
  char digits[32];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void Printer::value(const Dims& value) { text("{").integers(value).text("}"); }

void Printer::value(const SliceDims& value) {
  const bool strided = std::any_of(value.dims.begin(), value.dims.end(),
                                   [](const SliceDim& dim) { return dim.stride != 1; });
  text("{").list(value.dims, ", ", [&](const SliceDim& dim) {
    text("[").integer(dim.start).text(":").integer(dim.limit);
    if (strided) text(":").integer(dim.stride);
    text("]");
  });
  text("}");
}

void Printer::value(const PaddingConfig& value) {
  const bool interior = std::any_of(value.dims.begin(), value.dims.end(),
                                    [](const PaddingDim& dim) { return dim.interior != 0; });
  list(value.dims, "x", [&](const PaddingDim& dim) {
    integer(dim.low).text("_").integer(dim.high);
    if (interior) text("_").integer(dim.interior);
  });
}

void Printer::value(const SourceTargetPairs& value) {
  text("{").list(value.pairs, ",", [&](const auto& pair) {
    text("{").integer(pair.first).text(",").integer(pair.second).text("}");
  });
  text("}");
}

void Printer::value(const SliceSizesList& value) {
  text("{").list(value.lists, ",", [&](const Dims& sizes) { this->value(sizes); }).text("}");
}

void Printer::value(const OutputOperandAliases& value) {
  text("{").list(value, ", ", [&](const OutputOperandAlias& alias) {
    this->value(alias.output_index);
    text(": (").integer(alias.operand).text(", ");
    this->value(alias.operand_index);
    text(")");
  });
  text("}");
}

void Printer::value(const LiteralRef& value) {
  if (!value.literal) return;
  shape(value.literal->shape()).text(" ");
  if (value.elided) text("{...}");
  else literal(*value.literal);
}

void Printer::value(const std::vector<Shape>& value) {
  text("{").list(value, ", ", [&](const Shape& element) { shape(element); }).text("}");
}

void Printer::value(const std::vector<ComputationId>& value) {
  text("{").list(value, ", ", [&](ComputationId id) { this->value(id); }).text("}");
}

void Printer::value(const Precisions& value) {
  text("{").list(value, ",", [&](Precision precision) { this->value(precision); }).text("}");
}

void Printer::frontend_attributes(const FrontendAttributes& attributes) {
  text("{").list(attributes, ",", [&](const auto& entry) {
    text(entry.first).text("=");
    if (entry.second.is_dictionary) text(entry.second.text);
    else quoted(entry.second.text);
  });
  text("}");
}

}  // namespace hilo
