// The attributes of a typed FFI call: the text of an MLIR dictionary as handlers get it. Private to
// `pjrt`.
#pragma once

#include <deque>
#include <memory>

#include "pjrt/ffi_abi.h"
#include "shape/shape.h"

namespace hilo::pjrt {

// `{index = 0 : ui64, name = "a", sizes = array<i64: 1, 2>}`, sorted by name. i1 is a pred, iN a
// sN, a plain whole number a s64 and a plain other one a f64.
class FfiAttributes {
 public:
  // Empty text: none. Format for what is no such dictionary, Unsupported for other types.
  static Result<std::unique_ptr<FfiAttributes>> parse(std::string_view text);
  const XLA_FFI_Attrs& attributes() const { return all_.back(); }

 private:
  friend class FfiAttributesReader;
  template <class T>
  void* keep(T value) {
    auto kept = std::make_shared<T>(std::move(value));
    kept_.push_back(kept);
    return kept.get();
  }

  std::deque<std::shared_ptr<void>> kept_;  // what pointers lead to
  std::deque<XLA_FFI_Attrs> all_;           // dictionaries, inner ones first
};

}  // namespace hilo::pjrt
