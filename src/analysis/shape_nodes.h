// Private to analysis. The parts of a shape as numbers: node 0 is the whole, the elements of a
// tuple follow it in pre-order, so that the parts of one element are a contiguous range.
#pragma once

#include <memory>

#include "ir/ir.h"

namespace hilo {

struct ShapeNodes {
  std::vector<Dims> indices;
  std::vector<const Shape*> shapes;
  std::vector<uint32_t> ends;  // one past the last node of the part
  std::vector<uint32_t> first_child, children;

  uint32_t size() const { return static_cast<uint32_t>(ends.size()); }
  uint32_t child(uint32_t node, size_t element) const {
    return children[first_child[node] + element];
  }
  uint32_t find(const Dims& index) const;  // must exist
};

// The nodes of all shapes that instructions of the given computations have.
class NodeTable {
 public:
  static Result<NodeTable> make(const Module& module, std::span<const ComputationId> computations);
  const ShapeNodes& operator[](InstructionId id) const {
    return *nodes_[(*module_)[id].shape.value];
  }
  // Moves the indices out, by shape; empty for shapes of one node.
  std::vector<std::vector<Dims>> take_indices();

 private:
  const Module* module_ = nullptr;
  std::vector<std::unique_ptr<ShapeNodes>> nodes_;  // by shape
};

}  // namespace hilo
