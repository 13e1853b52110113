#include "analysis/shape_nodes.h"

namespace hilo {
namespace {

// Index entries of one shape together; deeper nesting of tuples would take memory without bound.
constexpr size_t max_index_entries = size_t{1} << 22;

// Children are laid out when a node's subtree begins, so a stack of (node, next element) is enough.
bool add_nodes(const Shape& root, ShapeNodes& out) {
  struct Level {
    uint32_t node;
    size_t next = 0;
  };
  std::vector<Level> stack;
  Dims index;
  size_t entries = 0;
  const auto open = [&](const Shape& shape) {
    out.indices.push_back(index);
    out.shapes.push_back(&shape);
    out.ends.push_back(0);
    out.first_child.push_back(static_cast<uint32_t>(out.children.size()));
    if (shape.is_tuple()) out.children.resize(out.children.size() + shape.elements.size());
    entries += index.size();
    stack.push_back({out.size() - 1});
  };
  open(root);
  while (!stack.empty()) {
    const uint32_t node = stack.back().node;
    const Shape& shape = *out.shapes[node];
    const size_t element = stack.back().next++;
    if (shape.is_tuple() && element < shape.elements.size()) {
      out.children[out.first_child[node] + element] = out.size();
      index.push_back(static_cast<int64_t>(element));
      open(shape.elements[element]);
      if (entries > max_index_entries) return false;
    } else {
      out.ends[node] = out.size();
      stack.pop_back();
      if (!index.empty()) index.pop_back();
    }
  }
  return true;
}

}  // namespace

uint32_t ShapeNodes::find(const Dims& index) const {
  uint32_t node = 0;
  for (int64_t element : index) {
    check(shapes[node]->is_tuple() && element >= 0 &&
              element < static_cast<int64_t>(shapes[node]->elements.size()),
          "ShapeNodes::find: no such part");
    node = child(node, static_cast<size_t>(element));
  }
  return node;
}

Result<NodeTable> NodeTable::make(const Module& module,
                                  std::span<const ComputationId> computations) {
  NodeTable out;
  out.module_ = &module;
  out.nodes_.resize(module.shapes.size());
  for (ComputationId computation : computations)
    for (InstructionId id : module[computation].instructions) {
      std::unique_ptr<ShapeNodes>& nodes = out.nodes_[module[id].shape.value];
      if (nodes) continue;
      nodes = std::make_unique<ShapeNodes>();
      if (add_nodes(module.shape(id), *nodes)) continue;
      Error error{ErrorKind::Limit, "tuples are nested too deeply", module.place(id)};
      return std::unexpected(std::move(error));
    }
  return out;
}

std::vector<std::vector<Dims>> NodeTable::take_indices() {
  std::vector<std::vector<Dims>> out(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i] && nodes_[i]->size() > 1) out[i] = std::move(nodes_[i]->indices);
  return out;
}

}  // namespace hilo
