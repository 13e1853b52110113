// Named values of the C API: those that we own and show, and those that a client gives. Private to
// `pjrt`.
#pragma once

#include <deque>
#include <vector>

#include "pjrt/error.h"

namespace hilo::pjrt {

class NamedValues {
 public:
  NamedValues() = default;
  NamedValues(const NamedValues&) = delete;
  NamedValues& operator=(const NamedValues&) = delete;

  void add(std::string name, std::string value);
  void add(std::string name, int64_t value);
  void add(std::string name, std::vector<int64_t> values);
  void add(std::string name, float value);
  const PJRT_NamedValue* data() const { return values_.data(); }
  size_t size() const { return values_.size(); }

 private:
  PJRT_NamedValue& append(std::string name, PJRT_NamedValue_Type type);

  std::vector<PJRT_NamedValue> values_;
  std::deque<std::string> texts_;  // which values point into
  std::deque<std::vector<int64_t>> lists_;
};

}  // namespace hilo::pjrt
