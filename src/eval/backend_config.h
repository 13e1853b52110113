// Values in a backend_config: JSON as XLA prints protos (64-bit integers as strings), or an MLIR
// attribute dictionary as typed FFI calls have (`{uplo = 76 : ui8, lower = true}`). Private to
// `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

class BackendConfig {
 public:
  static Result<BackendConfig> parse(const Call& call);
  static Result<BackendConfig> parse(std::string_view text);  // empty text: no values

  // The object under a key, or this one where there is none.
  BackendConfig inside(const std::string& key) const;
  bool has(const std::string& key) const;
  double number(const std::string& key, double otherwise) const;
  // Cut off towards zero, and to 2^52 on both sides; what is no number is 0.
  int64_t whole(const std::string& key, int64_t otherwise) const;
  bool flag(const std::string& key, bool otherwise) const;
  std::string text(const std::string& key, std::string otherwise) const;
  Dims dims(const std::string& key) const;  // empty where there is none
  // Of a list, or the one text that stands there; empty where there is none.
  std::vector<std::string> texts(const std::string& key) const;

 private:
  struct Values;
  std::shared_ptr<const Values> values_;
};

}  // namespace hilo
