// Strings that live as long as a module. Copies of a module share what was there before the copy.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace hilo {

class StringArena {
 public:
  StringArena() = default;
  StringArena(const StringArena& other) : kept_(other.kept_) {}  // further strings go to new blocks
  StringArena& operator=(const StringArena& other) {
    kept_ = other.kept_;
    at_ = nullptr;
    left_ = 0;
    return *this;
  }
  StringArena(StringArena&&) = default;
  StringArena& operator=(StringArena&&) = default;

  std::string_view copy(std::string_view text);
  // Keeps a whole text (a file) alive; views into it stay good.
  std::string_view keep(std::shared_ptr<const std::string> text);

 private:
  std::vector<std::shared_ptr<const void>> kept_;
  char* at_ = nullptr;
  size_t left_ = 0;
};

}  // namespace hilo
