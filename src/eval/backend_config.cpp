#include "eval/backend_config.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace hilo {

struct BackendConfig::Values {
  nlohmann::json json;
};

namespace {

using nlohmann::json;

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

// Position of `wanted` outside of strings and brackets, or npos.
size_t find_outside(std::string_view text, char wanted) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    if (c == wanted && depth == 0) return i;
    quoted = c == '"';
    depth += (c == '{' || c == '[' || c == '<' || c == '(') -
             (c == '}' || c == ']' || c == '>' || c == ')');
  }
  return std::string_view::npos;
}

// `32 : i64`, `1.0 : f64`, `true`, `"text"`, `array<i64: 1, 2>`.
json attribute_value(std::string_view text) {
  text = trim(text.substr(0, find_outside(text, ':')));
  if (text.starts_with('"') && text.ends_with('"') && text.size() >= 2)
    return std::string(text.substr(1, text.size() - 2));
  if (text == "true" || text == "false") return text == "true";
  if (text.starts_with("array<") && text.ends_with('>')) {
    text = text.substr(0, text.size() - 1);
    json list = json::array();
    for (size_t at = text.find(':'); at < text.size();) {
      const size_t comma = std::min(text.find(',', at + 1), text.size());
      list.push_back(
          std::strtoll(std::string(text.substr(at + 1, comma - at - 1)).c_str(), {}, 10));
      at = comma;
    }
    return list;
  }
  const std::string number(text);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (end != number.c_str() && *end == 0) return value;
  return number;
}

json attribute_dictionary(std::string_view text) {
  json out = json::object();
  text = trim(text);
  if (!text.starts_with('{') || !text.ends_with('}') || text.size() < 2) return json(nullptr);
  text = text.substr(1, text.size() - 2);
  while (!trim(text).empty()) {
    const size_t comma = std::min(find_outside(text, ','), text.size());
    const std::string_view entry = text.substr(0, comma);
    const size_t equal = find_outside(entry, '=');
    if (equal == std::string_view::npos) return json(nullptr);
    out[std::string(trim(entry.substr(0, equal)))] = attribute_value(entry.substr(equal + 1));
    text = comma < text.size() ? text.substr(comma + 1) : std::string_view();
  }
  return out;
}

double number_of(const json& value, double otherwise) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_string()) return otherwise;
  char* end = nullptr;
  const std::string& text = value.get_ref<const std::string&>();
  const double number = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == 0 ? number : otherwise;
}

int64_t whole_of(double number) {
  constexpr double limit = 0x1p52;
  return number == number ? static_cast<int64_t>(std::clamp(number, -limit, limit)) : 0;
}

const json& at_key(const json& object, const std::string& key) {
  static const json none;
  auto found = object.find(key);
  return found != object.end() ? *found : none;
}

}  // namespace

Result<BackendConfig> BackendConfig::parse(std::string_view text) {
  BackendConfig out;
  auto values = std::make_shared<Values>();
  values->json = json::object();
  if (!trim(text).empty()) {
    values->json = json::parse(text, nullptr, false);
    if (values->json.is_discarded()) values->json = attribute_dictionary(text);
    if (!values->json.is_object())
      return fail(ErrorKind::Format,
                  "backend_config is neither a JSON object nor a dictionary of "
                  "attributes");
  }
  out.values_ = std::move(values);
  return out;
}

Result<BackendConfig> BackendConfig::parse(const Call& call) {
  Result<BackendConfig> out = parse(call.module.extra(call.instruction).backend_config);
  if (!out) return call.error(out.error().kind, out.error().message);
  return out;
}

BackendConfig BackendConfig::inside(const std::string& key) const {
  const json& value = at_key(values_->json, key);
  if (!value.is_object()) return *this;
  BackendConfig out;
  out.values_ = std::make_shared<Values>(Values{value});
  return out;
}

bool BackendConfig::has(const std::string& key) const { return values_->json.contains(key); }

double BackendConfig::number(const std::string& key, double otherwise) const {
  return number_of(at_key(values_->json, key), otherwise);
}

int64_t BackendConfig::whole(const std::string& key, int64_t otherwise) const {
  return whole_of(number(key, static_cast<double>(otherwise)));
}

bool BackendConfig::flag(const std::string& key, bool otherwise) const {
  return number(key, otherwise ? 1 : 0) != 0;
}

std::string BackendConfig::text(const std::string& key, std::string otherwise) const {
  const json& value = at_key(values_->json, key);
  return value.is_string() ? value.get<std::string>() : otherwise;
}

std::vector<std::string> BackendConfig::texts(const std::string& key) const {
  std::vector<std::string> out;
  const json& value = at_key(values_->json, key);
  if (value.is_string()) out.push_back(value.get<std::string>());
  if (value.is_array())
    for (const json& one : value)
      if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

Dims BackendConfig::dims(const std::string& key) const {
  Dims out;
  const json& value = at_key(values_->json, key);
  if (value.is_array())
    for (const json& one : value) out.push_back(whole_of(number_of(one, 0)));
  return out;
}

}  // namespace hilo
