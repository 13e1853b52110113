#include "wire/stablehlo/vhlo_ops.h"

#include <algorithm>
#include <charconv>

namespace hilo::mlir {
namespace {

using enum Form;
using enum Fallback;

constexpr VhloOp ops[] = {
#define VHLO_OP(name, newest, ...) {#name, newest, {{__VA_ARGS__}}},
#include "wire/stablehlo/vhlo_ops.def"
#undef VHLO_OP
};
static_assert(std::ranges::is_sorted(ops, {}, &VhloOp::name));

}  // namespace

const VhloOp* find_vhlo_op(std::string_view name) {
  const auto* found = std::ranges::lower_bound(ops, name, {}, &VhloOp::name);
  return found != std::end(ops) && found->name == name ? found : nullptr;
}

const VhloOp* find_stablehlo_op(std::string_view name) {
  if (name == "func.func" || name == "func.call") return find_vhlo_op(name.substr(5));
  constexpr std::string_view dialect = "stablehlo.";
  if (!name.starts_with(dialect)) return nullptr;
  return find_vhlo_op(name.substr(dialect.size()));
}

VersionedOp find_versioned_op(std::string_view name) {
  const size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos) return {};
  int version = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + mark + 2, end, version);
  if (error != std::errc() || stop != end) return {};
  const VhloOp* op = find_vhlo_op(name.substr(0, mark));
  if (!op || version < 1 || version > op->newest) return {};
  return {op, version};
}

std::string stablehlo_name(const VhloOp& op) {
  const bool is_of_func = op.name == "func" || op.name == "call";
  return (is_of_func ? "func." : "stablehlo.") + std::string(op.name);
}

std::string_view text_of(Form form) {
  switch (form) {
    case I64:
    case I32: return "an integer";
    case F32: return "a float";
    case Bool: return "a boolean";
    case Text: return "a string";
    case Texts: return "a list of strings";
    case Config: return "a string or dictionary";
    case Form::Dictionary: return "a dictionary";
    case List: return "a list";
    case Arguments: return "a list of dictionaries";
    case Layouts: return "a list of layouts";
    case Constant: return "dense elements";
    case Numbers: return "a list of i64";
    case Pairs: return "pairs of i64";
    case Groups: return "groups of i64";
    case Flags: return "a list of booleans";
    case Precisions: return "a list of precisions";
    case Accuracy: return "an accuracy";
    case Any: return "an attribute";
    default: return "a name of its enum";
  }
}

std::string_view enumerator_of(Form form, uint64_t number) {
  static constexpr std::string_view directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  static constexpr std::string_view types[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED",
                                               "UNSIGNED"};
  static constexpr std::string_view versions[] = {
      "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
      "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
  static constexpr std::string_view transforms[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  static constexpr std::string_view algorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  static constexpr std::string_view distributions[] = {"", "UNIFORM", "NORMAL"};
  static constexpr std::string_view transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE",
                                                    "TRANSPOSE", "ADJOINT"};
  const auto at = [&](std::span<const std::string_view> names) {
    return number < names.size() ? names[number] : std::string_view();
  };
  switch (form) {
    case Direction: return at(directions);
    case ComparisonType: return at(types);
    case ApiVersion: return at(versions);
    case FftType: return at(transforms);
    case Algorithm: return at(algorithms);
    case Distribution: return at(distributions);
    case Transpose: return at(transposes);
    default: return {};
  }
}

std::string_view accuracy_mode_of(uint64_t number) {
  constexpr std::string_view names[] = {"DEFAULT", "HIGHEST", "TOLERANCE"};
  return number < std::size(names) ? names[number] : std::string_view();
}
std::string_view precision_of(uint64_t number) {
  constexpr std::string_view names[] = {"DEFAULT", "HIGH", "HIGHEST"};
  return number < std::size(names) ? names[number] : std::string_view();
}

}  // namespace hilo::mlir
