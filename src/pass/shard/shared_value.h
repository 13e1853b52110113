// Values that many hold and nobody changes: copies are one. Private to `pass/shard`.
#pragma once

#include <memory>

#include "ir/ir.h"

namespace hilo {

template <class T>
class Shared {
 public:
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  operator const T&() const { return *value_; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  bool operator==(const Shared& other) const { return *this == *other; }
  bool operator==(const T& other) const { return value_.get() == &other || *value_ == other; }

 private:
  std::shared_ptr<const T> value_;
};
using SharedSharding = Shared<AxisSharding>;
using GlobalShape = Shared<Shape>;

}  // namespace hilo
