// The printer: appends to one string. Forms: docs/hlo-text.md.
#pragma once

#include "text/text.h"

namespace hilo {

class Printer {
 public:
  Printer(const Module* module, const PrintStyle& style, std::string& out)
      : module_(module), style_(style), out_(out) {}

  Printer& text(std::string_view text) { return out_ += text, *this; }
  Printer& integer(int64_t value);
  // In double quotes; what is not printable ASCII as \n, \t, \", \' or three octal digits.
  Printer& quoted(std::string_view text);
  Printer& name(std::string_view name);  // with '%' where the style has it
  Printer& shape(ShapeId id);
  Printer& shape(const Shape& shape) { return append_text(out_, shape, true), *this; }
  // /*index=5*/ before each fifth element.
  void index_comment(size_t i);
  // The elements of a range, body(element) each, with `between` between them.
  template <class Range, class Body>
  Printer& list(const Range& range, std::string_view between, Body body) {
    bool first = true;
    for (const auto& element : range) {
      if (!first) text(between);
      first = false;
      body(element);
    }
    return *this;
  }
  Printer& integers(const Dims& values);  // 1,2,3
  // Of attributes, one for each type that a field may have.
  void value(bool value);
  void value(int64_t value) { integer(value); }
  void value(double value);
  void value(const std::string& value) { quoted(value); }
  void value(const Dims& value);
  void value(const Window& value);
  void value(const ConvolutionLabels& value);
  void value(const SliceDims& value);
  void value(const PaddingConfig& value);
  void value(const ReplicaGroups& value);
  void value(const SourceTargetPairs& value);
  void value(const SliceSizesList& value);
  void value(const OutputOperandAliases& value);
  void value(const LiteralRef& value);  // with its shape
  void value(const RawText& value) { text(value.text); }
  void value(const Shape& value) { shape(value); }
  void value(const std::vector<Shape>& value);
  void value(ComputationId value) { name((*module_)[value].name); }
  void value(const std::vector<ComputationId>& value);
  void value(const Precisions& value);
  template <class E>
    requires std::is_enum_v<E>
  void value(E value) {
    text(text_of_enum(value));
  }
  template <class T>
  void value(const std::optional<T>& value) {
    this->value(*value);
  }

  void frontend_attributes(const FrontendAttributes& attributes);
  void iota(const IotaDevices& iota);  // [4,2]T(1,0)
  void mesh(const Mesh& mesh);
  void axis(const AxisRef& axis);
  void axes(const std::vector<AxisRef>& axes, std::string_view between);  // {'x'}
  void sharding(const Sharding& sharding);
  void literal(const Literal& literal);

  void header();
  void stack_frames();
  void computation(ComputationId id);
  void instruction(const Instruction& instruction);

 private:
  void parameter_list(const Computation& computation);
  void operands(const Instruction& instruction);
  void attributes(const Instruction& instruction);
  void async_attributes(const Instruction& instruction, bool sugar);
  void common_attributes(const Instruction& instruction);
  void late_attributes(const Instruction& instruction, const Extra& extra);
  void metadata(const Metadata& metadata);
  // The op whose name stands in "X-start": of an async form whose computation is hidden.
  const Instruction* sugared(const Instruction& instruction) const;

  const Module* module_;
  const PrintStyle& style_;
  std::string& out_;
  std::vector<std::string> shapes_;  // printed once each
  std::vector<bool> hidden_;         // computations that sugar stands for

 public:
  // Finds the computations that "X-start" can stand for without loss.
  void find_sugar();
  bool is_hidden(ComputationId id) const { return id.value < hidden_.size() && hidden_[id.value]; }
};

}  // namespace hilo
