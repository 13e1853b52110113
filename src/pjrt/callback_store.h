// The key-value store of who creates a client. Private to `pjrt`.
#pragma once

#include "device/device.h"
#include "pjrt/error.h"

namespace hilo::pjrt {

// By the callbacks of a call, while that lasts.
class CallbackStore : public KeyValueStore {
 public:
  explicit CallbackStore(const PJRT_Client_Create_Args& args) : args_(args) {}
  bool is_there() const { return args_.kv_get_callback && args_.kv_put_callback; }
  Result<void> put(const std::string& key, const std::string& value) override;
  Result<std::string> get(const std::string& key, double timeout_s) override;

 private:
  Result<std::string> try_get(const std::string& key);

  const PJRT_Client_Create_Args& args_;
};

}  // namespace hilo::pjrt
