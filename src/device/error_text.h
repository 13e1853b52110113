// Errors and short lists as bytes that one process sends to another. Private to `device`.
#pragma once

#include <span>

#include "base/base.h"

namespace hilo {

std::string bytes_of(const Error& error);
Error error_of(std::string_view bytes);  // what is damaged is left out

// Numbers as they lie in memory: all processes of a job have the same byte order.
void put_number(std::string& to, int64_t value);
int64_t take_number(std::string_view& from);  // 0 where nothing is left

}  // namespace hilo
