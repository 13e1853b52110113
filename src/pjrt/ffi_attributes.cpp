#include "pjrt/ffi_attributes.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "pjrt/error.h"

namespace hilo::pjrt {
namespace {

constexpr int max_depth = 32;

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '.' || c == '-' || c == '+';
}

// i1, i64, si8, ui8, f32, bf16 ...
std::optional<ElementType> type_of(std::string_view text) {
  if (text == "i1") return ElementType::Pred;
  if (text.starts_with("ui")) return element_type_of("u" + std::string(text.substr(2)));
  if (text.starts_with("si")) text.remove_prefix(1);
  if (text.starts_with("i")) return element_type_of("s" + std::string(text.substr(1)));
  return element_type_of(text);
}

struct Entry {
  std::string name;
  XLA_FFI_AttrType type;
  void* value;
};

// The numbers of one type, one after another.
struct Numbers {
  ElementType type = ElementType::S64;
  std::vector<std::byte> bytes;
  size_t count = 0;
};

}  // namespace

class FfiAttributesReader {
 public:
  FfiAttributesReader(std::string_view text, FfiAttributes& to) : rest_(text), to_(to) {}

  Result<void> read() {
    HILO_DO(dictionary(0));
    skip_space();
    return rest_.empty() ? Result<void>() : unexpected("the end");
  }

 private:
  std::unexpected<Error> unexpected(std::string_view wanted) const {
    return fail(ErrorKind::Format, "attributes of a custom call: {} was expected before '{}'",
                wanted, rest_.substr(0, 20));
  }
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(std::string_view text) {
    skip_space();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  Result<void> need(std::string_view text) {
    return take(text) ? Result<void>() : unexpected(text);
  }
  std::string_view word() {
    skip_space();
    size_t length = 0;
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    const std::string_view out = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return out;
  }
  // After its first quote.
  Result<std::string> text() {
    std::string out;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '\\' && rest_.size() >= 3) {
        rest_.remove_prefix(1);
        int code = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 2, code, 16);
        if (error == std::errc() && end == rest_.data() + 2) {
          out.push_back(static_cast<char>(code));
          rest_.remove_prefix(2);
          continue;
        }
        constexpr std::string_view names = "nt", values = "\n\t";
        const size_t known = names.find(rest_[0]);
        out.push_back(known == std::string_view::npos ? rest_[0] : values[known]);
      } else {
        out.push_back(rest_[0]);
      }
      rest_.remove_prefix(1);
    }
    HILO_DO(need("\""));
    return out;
  }

  Result<void> dictionary(int depth) {
    if (depth > max_depth) return fail(ErrorKind::Limit, "attributes nest deeper than {}", depth);
    HILO_DO(need("{"));
    std::vector<Entry> entries;
    while (!take("}")) {
      if (!entries.empty()) HILO_DO(need(","));
      HILO_TRY(Entry entry, one(depth));
      entries.push_back(std::move(entry));
    }
    std::ranges::sort(entries, {}, &Entry::name);
    show(std::move(entries));
    return {};
  }

  Result<Entry> one(int depth) {
    Entry out;
    if (take("\"")) {
      HILO_TRY(out.name, text());
    } else {
      out.name = word();
    }
    if (out.name.empty()) return unexpected("a name");
    if (!take("=")) {  // of a unit attribute
      out.type = XLA_FFI_AttrType_SCALAR;
      out.value = scalar(ElementType::Pred, true);
      return out;
    }
    HILO_DO(value(out, depth));
    return out;
  }

  Result<void> value(Entry& to, int depth) {
    skip_space();
    if (rest_.starts_with("{")) {
      HILO_DO(dictionary(depth + 1));
      to.type = XLA_FFI_AttrType_DICTIONARY;
      to.value = to_.keep(to_.all_.back());
      return {};
    }
    if (take("\"")) {
      HILO_TRY(std::string read, text());
      auto* kept = static_cast<std::string*>(to_.keep(std::move(read)));
      to.type = XLA_FFI_AttrType_STRING;
      to.value = to_.keep(XLA_FFI_ByteSpan{kept->data(), kept->size()});
      return {};
    }
    to.type = XLA_FFI_AttrType_ARRAY;
    if (take("array<")) return typed_array(to);
    if (take("dense<")) return dense(to);
    if (take("[")) {
      Numbers numbers;
      HILO_DO(list(numbers, "]", true));
      return array(to, std::move(numbers));
    }
    return number(to);
  }

  // array<i64: 1, 2>
  Result<void> typed_array(Entry& to) {
    Numbers numbers;
    HILO_TRY(numbers.type, type());
    if (!take(">")) {
      HILO_DO(need(":"));
      HILO_DO(list(numbers, ">", false));
    }
    return array(to, std::move(numbers));
  }

  // dense<[1, 2]> : tensor<2xi64>; of one dimension, or one value for all elements.
  Result<void> dense(Entry& to) {
    const std::string_view start = rest_;
    const size_t end = rest_.find('>');
    if (end == std::string_view::npos) return unexpected("'>'");
    rest_.remove_prefix(end + 1);
    HILO_DO(need(":"));
    HILO_DO(need("tensor<"));
    const std::string_view shape = rest_.substr(0, rest_.find('>'));
    const size_t x = shape.rfind('x');
    if (x == std::string_view::npos)
      return fail(ErrorKind::Unsupported, "attribute tensor<{}>", shape);
    Numbers numbers;
    int64_t count = 0;
    std::from_chars(shape.data(), shape.data() + x, count);
    const std::optional<ElementType> element = type_of(shape.substr(x + 1));
    if (!element || !is_array(*element) || shape.find('x') != x || count < 0)
      return fail(ErrorKind::Unsupported, "attribute tensor<{}>", shape);
    numbers.type = *element;
    rest_.remove_prefix(shape.size());
    HILO_DO(need(">"));
    const std::string_view after = rest_;
    rest_ = start.substr(0, end + 1);
    const bool is_list = take("[");
    HILO_DO(list(numbers, is_list ? "]" : ">", false));
    constexpr int64_t max_splat = 1 << 20;
    if (!is_list && numbers.count == 1 && count <= max_splat) {
      const std::vector<std::byte> first = numbers.bytes;
      for (; static_cast<int64_t>(numbers.count) < count; ++numbers.count)
        numbers.bytes.insert(numbers.bytes.end(), first.begin(), first.end());
    }
    rest_ = after;
    return array(to, std::move(numbers));
  }

  Result<ElementType> type() {
    const std::string_view name = word();
    const std::optional<ElementType> out = type_of(name);
    if (out && is_array(*out)) return *out;
    return fail(ErrorKind::Unsupported, "attributes of a custom call: type '{}'", name);
  }

  // Numbers up to `end`; with `are_typed` each may say its type behind itself.
  Result<void> list(Numbers& to, std::string_view end, bool are_typed) {
    while (!take(end)) {
      if (to.count > 0) HILO_DO(need(","));
      const std::string_view digits = word();
      if (are_typed && take(":")) {
        HILO_TRY(to.type, type());
      }
      HILO_DO(append(to, digits));
    }
    return {};
  }

  Result<void> append(Numbers& to, std::string_view digits) {
    return visit_storage(to.type, [&]<class T>(std::type_identity<T>) -> Result<void> {
      HILO_TRY(const T value, number_of<T>(digits));
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      to.bytes.insert(to.bytes.end(), bytes, bytes + sizeof(T));
      ++to.count;
      return {};
    });
  }

  template <class T>
  Result<T> number_of(std::string_view digits) const {
    if (digits == "true" || digits == "false") {
      if constexpr (std::is_same_v<T, bool>) return digits == "true";
    }
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      T out = 0;
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), out);
      if (error == std::errc() && end == digits.end()) return out;
    } else if constexpr (requires(double x) { static_cast<T>(static_cast<float>(x)); }) {
      double out = 0;
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), out);
      if (error == std::errc() && end == digits.end()) return static_cast<T>(out);
    }
    return fail(ErrorKind::Format, "attributes of a custom call: '{}' is no {}", digits,
                text_of(element_type<T>));
  }

  Result<void> number(Entry& to) {
    const std::string_view digits = word();
    Numbers numbers;
    if (digits == "true" || digits == "false") {
      numbers.type = ElementType::Pred;
    } else if (take(":")) {
      HILO_TRY(numbers.type, type());
    } else if (digits.find_first_of(".e") != std::string_view::npos) {
      numbers.type = ElementType::F64;
    }
    HILO_DO(append(numbers, digits));
    to.type = XLA_FFI_AttrType_SCALAR;
    auto* kept = static_cast<std::vector<std::byte>*>(to_.keep(std::move(numbers.bytes)));
    to.value =
        to_.keep(XLA_FFI_Scalar{static_cast<uint32_t>(proto_number(numbers.type)), kept->data()});
    return {};
  }

  Result<void> array(Entry& to, Numbers numbers) {
    auto* kept = static_cast<std::vector<std::byte>*>(to_.keep(std::move(numbers.bytes)));
    to.value = to_.keep(XLA_FFI_Array{static_cast<uint32_t>(proto_number(numbers.type)),
                                      numbers.count, kept->data()});
    return {};
  }

  void* scalar(ElementType type, bool value) {
    return to_.keep(XLA_FFI_Scalar{static_cast<uint32_t>(proto_number(type)), to_.keep(value)});
  }

  void show(std::vector<Entry> entries) {
    std::vector<XLA_FFI_AttrType> types;
    std::vector<XLA_FFI_ByteSpan*> names;
    std::vector<void*> values;
    for (Entry& entry : entries) {
      auto* name = static_cast<std::string*>(to_.keep(std::move(entry.name)));
      types.push_back(entry.type);
      names.push_back(
          static_cast<XLA_FFI_ByteSpan*>(to_.keep(XLA_FFI_ByteSpan{name->data(), name->size()})));
      values.push_back(entry.value);
    }
    const auto data = [&]<class T>(std::vector<T> from) {
      return static_cast<std::vector<T>*>(to_.keep(std::move(from)))->data();
    };
    to_.all_.push_back({HILO_STRUCT_SIZE(XLA_FFI_Attrs, attrs), nullptr, std::ssize(entries),
                        data(std::move(types)), data(std::move(names)), data(std::move(values))});
  }

  std::string_view rest_;
  FfiAttributes& to_;
};

Result<std::unique_ptr<FfiAttributes>> FfiAttributes::parse(std::string_view text) {
  auto out = std::make_unique<FfiAttributes>();
  HILO_DO(FfiAttributesReader(text.empty() ? "{}" : text, *out).read());
  return out;
}

}  // namespace hilo::pjrt
