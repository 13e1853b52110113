#include "emit/complex.h"
#include "emit/kernel_builder.h"
#include "emit/op_functions.h"

namespace hilo {
namespace {

// Starts are moved so that the update lies inside.
std::vector<llvm::Value*> starts(ElementEmitter& e, InstructionId id) {
  const Dims& dims = e.module.shape(id).dims;
  const Dims& sizes = e.module.shape(e.module.operand(id, 1)).dims;
  std::vector<llvm::Value*> out;
  for (size_t d = 0; d < dims.size(); ++d)
    out.push_back(clamp_index(e.b, e.index_operand(id, d + 2), 0, dims[d] - sizes[d]));
  return out;
}

}  // namespace

llvm::Value* element_DynamicUpdateSlice(ElementEmitter& e, InstructionId id, const Index& index,
                                        size_t) {
  Builder& b = e.b;
  const Dims& sizes = e.module.shape(e.module.operand(id, 1)).dims;
  if (element_count(sizes) == 0) return e.operand(id, 0, index);
  const std::vector<llvm::Value*> start = starts(e, id);
  llvm::Value* inside = b.getTrue();
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < sizes.size(); ++d) {
    at.push_back(index.at(b, d));
    if (sizes[d] == index.dims()[d]) continue;
    llvm::Value* from = b.CreateNSWSub(at.back(), start[d]);
    inside = b.CreateAnd(inside, is_in_bounds(b, from, sizes[d]));
    at.back() = clamp_index(b, from, 0, sizes[d] - 1);
  }
  llvm::Value* update = e.operand(id, 1, Index(b, sizes, std::move(at)));
  return select_held(b, e.module.shape(id).type, inside, update, e.operand(id, 0, index));
}

// In place only the update is written.
void write_DynamicUpdateSlice(KernelBuilder& w, InstructionId id) {
  if (!w.in_place) return write_elements(w, id);
  const Module& module = w.elements.module;
  const Shape& shape = module.shape(id);
  const Dims sizes = module.shape(module.operand(id, 1)).dims;
  size_t inner = sizes.empty() ? 0 : sizes.size() - 1;
  while (inner > 0 && sizes[inner] == 1) --inner;
  const Dims outer(sizes.begin(), sizes.begin() + static_cast<int64_t>(inner));
  const int64_t length = sizes.empty() ? 1 : sizes[inner];
  w.set_count(length == 0 ? 0 : element_count(outer));
  const std::vector<llvm::Value*> start = starts(w.elements, id);
  loop(w.b, w.begin, w.end, [&](llvm::Value* row) {
    const Index rows = Index::linear(w.b, outer, row);
    std::vector<llvm::Value*> at(sizes.size(), int64(w.b, 0));
    for (size_t d = 0; d < inner; ++d) at[d] = rows.at(w.b, d);
    loop(w.b, length, [&](llvm::Value* i) {
      if (!sizes.empty()) at[inner] = i;
      llvm::Value* value = w.elements.operand(id, 1, Index(w.b, sizes, at));
      std::vector<llvm::Value*> to;
      for (size_t d = 0; d < sizes.size(); ++d) to.push_back(add_index(w.b, start[d], at[d]));
      store_element(w.b, shape.type, w.results[0], Index(w.b, shape.dims, to).position(w.b), value);
    });
  });
}

}  // namespace hilo
