// Results side by side as lanes of vectors. Private to `emit`.
#pragma once

#include "emit/index.h"

namespace hilo {

// Places in groups of so many lanes along one dimension. The last group along it are the lanes that
// end it, some of which are in the group before it too.
class LaneGroups {
 public:
  LaneGroups(Dims dims, size_t along, int64_t lanes);

  int64_t count() const { return element_count(groups_); }
  int64_t lanes() const { return lanes_; }
  size_t along() const { return along_; }
  // The place of a group's first lane, and of the one so far into the group.
  std::vector<llvm::Value*> first(Builder& b, llvm::Value* number) const;
  Index place(Builder& b, std::vector<llvm::Value*> first, llvm::Value* lane) const;

 private:
  Dims dims_, groups_;
  size_t along_;
  int64_t lanes_;
};

}  // namespace hilo
