#include "pjrt/named_values.h"

namespace hilo::pjrt {

PJRT_NamedValue& NamedValues::append(std::string name, PJRT_NamedValue_Type type) {
  texts_.push_back(std::move(name));
  PJRT_NamedValue value{};
  value.struct_size = HILO_STRUCT_SIZE(PJRT_NamedValue, value_size);
  value.name = texts_.back().c_str();
  value.name_size = texts_.back().size();
  value.type = type;
  value.value_size = 1;
  return values_.emplace_back(value);
}

void NamedValues::add(std::string name, std::string value) {
  PJRT_NamedValue& out = append(std::move(name), PJRT_NamedValue_kString);
  texts_.push_back(std::move(value));
  out.string_value = texts_.back().c_str();
  out.value_size = texts_.back().size();
}

void NamedValues::add(std::string name, int64_t value) {
  append(std::move(name), PJRT_NamedValue_kInt64).int64_value = value;
}

void NamedValues::add(std::string name, std::vector<int64_t> values) {
  PJRT_NamedValue& out = append(std::move(name), PJRT_NamedValue_kInt64List);
  lists_.push_back(std::move(values));
  out.int64_array_value = lists_.back().data();
  out.value_size = lists_.back().size();
}

void NamedValues::add(std::string name, float value) {
  append(std::move(name), PJRT_NamedValue_kFloat).float_value = value;
}

}  // namespace hilo::pjrt
