#include "wire/npy_header.h"

#include <algorithm>
#include <charconv>

namespace hilo {
namespace {

struct Descr {
  std::string_view text;  // without the byte order
  ElementType type;
};
constexpr Descr descrs[] = {
    {"b1", ElementType::Pred}, {"?", ElementType::Pred},    {"i1", ElementType::S8},
    {"i2", ElementType::S16},  {"i4", ElementType::S32},    {"i8", ElementType::S64},
    {"u1", ElementType::U8},   {"u2", ElementType::U16},    {"u4", ElementType::U32},
    {"u8", ElementType::U64},  {"f2", ElementType::F16},    {"f4", ElementType::F32},
    {"f8", ElementType::F64},  {"c8", ElementType::C64},    {"c16", ElementType::C128},
    {"V2", ElementType::BF16}, {"f1", ElementType::F8E5M2}, {"V1", ElementType::U8},
};
struct Named {
  std::string_view text;
  ElementType type;
};
// ml_dtypes' own names, which some writers put in place of a descr.
constexpr Named names[] = {
    {"bfloat16", ElementType::BF16},
    {"float8_e3m4", ElementType::F8E3M4},
    {"float8_e4m3", ElementType::F8E4M3},
    {"float8_e4m3fn", ElementType::F8E4M3FN},
    {"float8_e4m3b11fnuz", ElementType::F8E4M3B11FNUZ},
    {"float8_e4m3fnuz", ElementType::F8E4M3FNUZ},
    {"float8_e5m2", ElementType::F8E5M2},
    {"float8_e5m2fnuz", ElementType::F8E5M2FNUZ},
    {"float8_e8m0fnu", ElementType::F8E8M0FNU},
    {"float4_e2m1fn", ElementType::F4E2M1FN},
    {"float6_e2m3fn", ElementType::F6E2M3FN},
    {"float6_e3m2fn", ElementType::F6E3M2FN},
};

// A reader of the few Python literals that NumPy's header may hold.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<NpyHeader> parse() {
    NpyHeader header;
    bool seen[3] = {};
    HILO_DO(expect('{'));
    while (!accept('}')) {
      HILO_TRY(const std::string_view key, string());
      HILO_DO(expect(':'));
      constexpr std::string_view keys[] = {"descr", "fortran_order", "shape"};
      const size_t which = std::find(keys, keys + 3, key) - keys;
      if (which == 3 || seen[which]) return bad("one of each of descr, fortran_order and shape");
      seen[which] = true;
      HILO_DO(which == 0 ? descr(header) : which == 1 ? order(header) : shape(header));
      if (!accept(',') && !next_is('}')) return bad("',' or '}'");
    }
    if (!seen[0] || !seen[1] || !seen[2]) return bad("descr, fortran_order and shape");
    skip_space();
    if (at_ != text_.size()) return bad("the end");
    return header;
  }

 private:
  std::unexpected<Error> bad(std::string_view expected) const {
    return fail(ErrorKind::Format, "npy header: expected {} at byte {}", expected, at_);
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\0'))
      ++at_;
  }
  bool next_is(char wanted) {
    skip_space();
    return at_ < text_.size() && text_[at_] == wanted;
  }
  bool accept(char wanted) {
    const bool is = next_is(wanted);
    at_ += is;
    return is;
  }
  bool accept(std::string_view word) {
    skip_space();
    const bool is = text_.substr(at_).starts_with(word);
    if (is) at_ += word.size();
    return is;
  }
  Result<void> expect(char wanted) {
    if (!accept(wanted)) return bad(std::string_view(&wanted, 1));
    return {};
  }
  Result<std::string_view> string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return bad("a quoted string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return bad("a closing quote");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }
  Result<void> descr(NpyHeader& header) {
    if (next_is('[')) return fail(ErrorKind::Unsupported, "npy: structured arrays");
    HILO_TRY(std::string_view text, string());
    const std::string whole(text);
    for (const Named& named : names)
      if (named.text == text) header.type = named.type;
    if (header.type != ElementType::Invalid) return {};
    if (!text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos) {
      header.swapped = text[0] == '>';
      text.remove_prefix(1);
    }
    for (const Descr& known : descrs)
      if (known.text == text) header.type = known.type;
    if (header.type == ElementType::Invalid)
      return fail(ErrorKind::Unsupported, "npy: element type '{}'", whole);
    return {};
  }
  Result<void> order(NpyHeader& header) {
    header.fortran_order = accept("True");
    if (!header.fortran_order && !accept("False")) return bad("True or False");
    return {};
  }
  Result<void> shape(NpyHeader& header) {
    HILO_DO(expect('('));
    while (!accept(')')) {
      skip_space();
      int64_t size = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) return bad("a dimension");
      at_ = static_cast<size_t>(end - text_.data());
      accept('L');
      header.dims.push_back(size);
      if (!accept(',') && !next_is(')')) return bad("',' or ')'");
    }
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text) { return HeaderParser(text).parse(); }

std::string_view npy_descr(ElementType type) {
  switch (type) {
    case ElementType::Pred: return "|b1";
    case ElementType::S16: return "<i2";
    case ElementType::S32: return "<i4";
    case ElementType::S64: return "<i8";
    case ElementType::U32: return "<u4";
    case ElementType::U64: return "<u8";
    case ElementType::F16: return "<f2";
    case ElementType::F32: return "<f4";
    case ElementType::F64: return "<f8";
    case ElementType::C64: return "<c8";
    case ElementType::C128: return "<c16";
    case ElementType::U16:
    case ElementType::BF16: return "<u2";
    default: return kind_of(type) == TypeKind::Signed ? "|i1" : "|u1";
  }
}

}  // namespace hilo
