// Types of MLIR's text: builtin ones, StableHLO's and quantised ones; others are kept as text.
#include "wire/stablehlo/mlir_text_reader.h"

namespace hilo::mlir {
namespace {

struct NamedElement {
  std::string_view name;
  ElementType element;
};
using E = ElementType;
// Signless integers are signed; i1 is Pred.
constexpr NamedElement elements[] = {{"i1", E::Pred},
                                     {"i2", E::S2},
                                     {"i4", E::S4},
                                     {"i8", E::S8},
                                     {"i16", E::S16},
                                     {"i32", E::S32},
                                     {"i64", E::S64},
                                     {"si2", E::S2},
                                     {"si4", E::S4},
                                     {"si8", E::S8},
                                     {"si16", E::S16},
                                     {"si32", E::S32},
                                     {"si64", E::S64},
                                     {"ui1", E::U1},
                                     {"ui2", E::U2},
                                     {"ui4", E::U4},
                                     {"ui8", E::U8},
                                     {"ui16", E::U16},
                                     {"ui32", E::U32},
                                     {"ui64", E::U64},
                                     {"bf16", E::BF16},
                                     {"f16", E::F16},
                                     {"f32", E::F32},
                                     {"f64", E::F64},
                                     {"f4E2M1FN", E::F4E2M1FN},
                                     {"f6E2M3FN", E::F6E2M3FN},
                                     {"f6E3M2FN", E::F6E3M2FN},
                                     {"f8E3M4", E::F8E3M4},
                                     {"f8E4M3", E::F8E4M3},
                                     {"f8E4M3FN", E::F8E4M3FN},
                                     {"f8E4M3B11FNUZ", E::F8E4M3B11FNUZ},
                                     {"f8E4M3FNUZ", E::F8E4M3FNUZ},
                                     {"f8E5M2", E::F8E5M2},
                                     {"f8E5M2FNUZ", E::F8E5M2FNUZ},
                                     {"f8E8M0FNU", E::F8E8M0FNU}};

ElementType element_of(std::string_view word) {
  for (const auto& [name, element] : elements)
    if (name == word) return element;
  return E::Invalid;
}

bool is_odd_number(std::string_view word) {
  if (word == "tf32" || word == "f80" || word == "f128") return true;
  const size_t digits = word.starts_with("i")                              ? 1
                        : word.starts_with("si") || word.starts_with("ui") ? 2
                                                                           : 0;
  return digits != 0 && word.size() > digits &&
         word.find_first_not_of("0123456789", digits) == std::string_view::npos;
}

}  // namespace

bool TextReader::is_type() {
  const char next = in_.next();
  if (next == '!' || next == '(') return true;
  const std::string_view word = in_.peek_word();
  return element_of(word) != E::Invalid || is_odd_number(word) || word == "tensor" ||
         word == "tuple" || word == "index" || word == "none" || word == "complex" ||
         word == "memref" || word == "vector";
}

TypeId TextReader::type() {
  const Nesting nesting(*this, max_depth);
  if (in_.failed()) return {};
  const char next = in_.next();
  if (next == '!') return dialect_type();
  if (next == '(') return function_type();
  const std::string_view word = in_.peek_word();
  if (!is_type()) {
    in_.fail("expected a type, found {}", in_.found());
    return {};
  }
  in_.word();
  return named_type(word);
}

TypeId TextReader::named_type(std::string_view word) {
  if (const ElementType element = element_of(word); element != E::Invalid)
    return builder_.scalar(element);
  if (word == "tensor") return tensor_type();
  if (word == "index") return builder_.intern({.kind = TypeKind::Index});
  if (word == "none") return builder_.none();
  if (word == "tuple") {
    in_.expect("<");
    Type out{.kind = TypeKind::Tuple};
    if (!in_.peek('>')) out.types = type_list();
    in_.expect(">");
    return builder_.intern(std::move(out));
  }
  if (word == "complex") {
    in_.expect("<");
    const TypeId part = type();
    in_.expect(">");
    if (in_.failed()) return {};
    const ElementType real = builder_.program[part].element;
    if (real == E::F32 || real == E::F64) return builder_.scalar(complex_type_of(real));
    return builder_.other("complex");
  }
  if (in_.peek('<')) return builder_.other(std::string(word) + std::string(in_.balanced()));
  return builder_.other(std::string(word));
}

TypeId TextReader::dialect_type() {
  const std::string_view name = in_.name('!');
  if (name == "stablehlo.token" || name == "mhlo.token")
    return builder_.intern({.kind = TypeKind::Token});
  if (name == "quant.uniform") return quantized_type();
  if (name == "stablehlo.future") {
    Type out{.kind = TypeKind::Future};
    in_.expect("<");
    if (!in_.peek('>')) out.types = type_list();
    in_.expect(">");
    return builder_.intern(std::move(out));
  }
  if (const auto found = type_aliases_.find(name); found != type_aliases_.end())
    return found->second;
  std::string text(name);
  if (in_.peek('<')) text += in_.balanced();
  else if (name.find('.') == std::string_view::npos) in_.fail("no type is called '!{}'", name);
  return builder_.other(std::move(text));
}

// tensor<2x?xf32, encoding>
TypeId TextReader::tensor_type() {
  in_.expect("<");
  Type out{.kind = TypeKind::Tensor};
  if (in_.accept('*')) {
    in_.go_to(in_.text().rfind('<', in_.offset()));
    return builder_.other("tensor" + std::string(in_.balanced()));
  }
  while (!in_.failed()) {
    const char next = in_.next();
    if (next == '?') {
      in_.accept('?');
      out.dims.push_back(Type::dynamic);
    } else if (TextCursor::is_digit(next)) {
      out.dims.push_back(in_.integer());
    } else {
      break;
    }
    in_.expect("x");
  }
  out.element_type = type();
  if (in_.accept(',')) {
    if (in_.accept("#stablehlo.bounds")) out.bounds = bounds();
    else if (in_.accept("#stablehlo.type_extensions")) out.bounds = bounds_of_extensions();
    else attribute();
    if (!out.bounds.empty() && out.bounds.size() != out.dims.size())
      in_.fail("{} bounds for {} dimensions", out.bounds.size(), out.dims.size());
  }
  in_.expect(">");
  if (in_.failed()) return {};
  const TypeKind element = builder_.program[out.element_type].kind;
  if (element == TypeKind::Tensor || element == TypeKind::Tuple || element == TypeKind::Token)
    in_.fail("elements of a tensor are numbers");
  return builder_.intern(std::move(out));
}

Dims TextReader::bounds_list() {
  Dims out;
  do {
    out.push_back(in_.accept('?') ? Type::dynamic : in_.integer());
  } while (in_.accept(','));
  return out;
}

Dims TextReader::bounds() {
  in_.expect("<");
  Dims out = bounds_list();
  in_.expect(">");
  return out;
}

// <bounds = [4, ?]>, as StableHLO printed them before 1.0.
Dims TextReader::bounds_of_extensions() {
  in_.expect("<");
  in_.expect_word("bounds");
  in_.expect("=");
  in_.expect("[");
  Dims out = bounds_list();
  in_.expect("]");
  in_.expect(">");
  return out;
}

// !quant.uniform<i8<-128:127>:f32:1, {0.1:3, 0.2}>
TypeId TextReader::quantized_type() {
  auto out = std::make_shared<Quantization>();
  in_.expect("<");
  const std::string_view word = in_.word();
  const bool is_unsigned = word.starts_with("u"), is_short = is_unsigned && !word.starts_with("ui");
  out->storage = element_of(is_short ? fmt::format("ui{}", word.substr(1)) : std::string(word));
  constexpr int max_bits = 32;
  if (out->storage == E::Invalid || !is_integral(out->storage) || word.starts_with("si") ||
      bits_of(out->storage) > max_bits) {
    in_.fail("'{}' stores no quantised values", word);
    return {};
  }
  const int bits = bits_of(out->storage);
  out->max = static_cast<int64_t>((uint64_t{1} << (bits - !is_unsigned)) - 1);
  out->min = is_unsigned ? 0 : -out->max - 1;
  if (in_.accept('<')) {
    out->min = in_.integer();
    in_.expect(":");
    out->max = in_.integer();
    in_.expect(">");
  }
  in_.expect(":");
  const TypeId expressed = type();
  if (in_.failed()) return {};
  out->expressed = builder_.program[expressed].element;
  if (in_.accept(':')) out->axis = in_.integer();
  in_.expect(",");
  const auto scale = [&] {
    const std::string digits(in_.number());
    out->scales.push_back(std::strtod(digits.c_str(), nullptr));
    if (digits.empty()) in_.fail("expected a scale, found {}", in_.found());
    out->zero_points.push_back(in_.accept(':') ? in_.integer() : 0);
  };
  if (in_.accept('{')) {
    do scale();
    while (in_.accept(','));
    in_.expect("}");
  } else {
    scale();
  }
  in_.expect(">");
  return builder_.intern({.kind = TypeKind::Quantized, .quantization = std::move(out)});
}

TypeId TextReader::function_type() {
  Type out{.kind = TypeKind::Function, .types = type_group()};
  out.inputs = out.types.size();
  in_.expect("->");
  for (const TypeId result : type_group()) out.types.push_back(result);
  return builder_.intern(std::move(out));
}

std::vector<TypeId> TextReader::type_list() {
  std::vector<TypeId> out;
  do {
    out.push_back(type());
  } while (in_.accept(','));
  return out;
}

std::vector<TypeId> TextReader::type_group() {
  if (!in_.accept('(')) return {type()};
  std::vector<TypeId> out;
  if (!in_.peek(')')) out = type_list();
  in_.expect(")");
  return out;
}

}  // namespace hilo::mlir
