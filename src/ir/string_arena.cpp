#include "ir/string_arena.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace hilo {

std::string_view StringArena::copy(std::string_view text) {
  if (text.size() > left_) {
    constexpr size_t block_bytes = 1 << 16;
    const size_t bytes = std::max(block_bytes, text.size());
    std::shared_ptr<char[]> block(new char[bytes]);
    at_ = block.get();
    left_ = bytes;
    kept_.push_back(std::move(block));
  }
  char* start = at_;
  if (!text.empty()) std::memcpy(start, text.data(), text.size());
  at_ += text.size();
  left_ -= text.size();
  return {start, text.size()};
}

std::string_view StringArena::keep(std::shared_ptr<const std::string> text) {
  std::string_view view = *text;
  kept_.push_back(std::move(text));
  return view;
}

}  // namespace hilo
