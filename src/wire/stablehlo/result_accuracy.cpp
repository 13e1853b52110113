#include "wire/stablehlo/result_accuracy.h"

#include "wire/braced_text.h"
#include "wire/hlo.pb.h"

namespace hilo::mlir {

Result<std::string> text_of_accuracy(const Program& program, const Attribute& accuracy) {
  const auto field = [&](std::string_view name) -> const Attribute& {
    static const Attribute none;
    const Attribute* found = program.find(accuracy, name);
    return found ? *found : none;
  };
  const double atol = field("atol").number, rtol = field("rtol").number;
  const int64_t ulps = field("ulps").integer;
  const std::string& mode = field("mode").text;
  proto::ResultAccuracy out;
  if (mode == "TOLERANCE") {
    proto::ResultAccuracy::Tolerance& to = *out.mutable_tolerance();
    to.set_atol(atol), to.set_rtol(rtol), to.set_ulps(ulps);
    return print_braced(out, ",");
  }
  if (atol != 0 || rtol != 0 || ulps != 0)
    return fail(ErrorKind::Shape,
                "a result_accuracy of mode {} has no tolerances; found atol {}, rtol {}, ulps {}",
                mode, atol, rtol, ulps);
  if (mode != "HIGHEST") return "";
  out.set_mode(proto::ResultAccuracy::HIGHEST);
  return print_braced(out, ",");
}

std::optional<AttributeId> accuracy_of(Builder& builder, std::string_view text) {
  proto::ResultAccuracy from;
  if (!read_braced(text, from)) return std::nullopt;
  const bool has_tolerance = from.has_tolerance();
  if (!has_tolerance && from.mode() != proto::ResultAccuracy::HIGHEST) return std::nullopt;
  const TypeId f64 = builder.scalar(ElementType::F64);
  return builder.structure("result_accuracy",
                           {{"atol", builder.number(from.tolerance().atol(), f64)},
                            {"rtol", builder.number(from.tolerance().rtol(), f64)},
                            {"ulps", builder.integer(from.tolerance().ulps())},
                            {"mode", builder.enumerator(has_tolerance ? "TOLERANCE" : "HIGHEST")}});
}

}  // namespace hilo::mlir
