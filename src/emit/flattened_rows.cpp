#include "emit/flattened_rows.h"

#include <algorithm>
#include <numeric>

#include "analysis/analysis.h"
#include "emit/index_tables.h"
#include "emit/loop_limits.h"

namespace hilo {
namespace {

// Elements of f32 that fill vectors of any chip, two of the widest.
constexpr int64_t whole_lanes = 32;
// Shorter rows are straight code; of longer ones what is no whole vector is little.
constexpr int64_t shortest = KernelLimits::min_lanes;
constexpr int64_t longest = 128;
// Blocks that are worth their tables.
constexpr int64_t fewest_blocks = 4;

// Whether the values are made of what arrays hold at places that follow from theirs, by at least
// one costly step.
bool are_costly(const ElementEmitter& e, std::vector<InstructionId> seen) {
  bool out = false;
  for (size_t i = 0; i < seen.size(); ++i) {
    const InstructionId id = seen[i];
    const Op op = e.module[id].op;
    const Shape& shape = e.module.shape(id);
    if (!shape.is_array() || is_complex(shape.type) || seen.size() > SearchBudget::max_visited)
      return false;
    if (e.array(id) || op == Op::Constant || op == Op::Parameter) continue;
    const bool rearranges_one = has_trait(op, TraitRearranges) && e.module[id].operand_count == 1;
    if (!is_elementwise(op) && !rearranges_one && op != Op::Iota) return false;
    out = out || (is_elementwise(op) && !has_trait(op, TraitCheap));
    for (InstructionId operand : e.module.operands(id))
      if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
  }
  return out;
}

int64_t rows_of_whole_vectors(int64_t size) { return whole_lanes / std::gcd(size, whole_lanes); }

}  // namespace

std::optional<FlattenedRows> find_flattened_rows(const ElementEmitter& elements,
                                                 const std::vector<InstructionId>& ids,
                                                 const Dims& dims, std::optional<size_t> first) {
  FlattenedRows out{first.value_or(innermost_dim(dims)), 1, 0};
  for (size_t d = out.first; d < dims.size(); ++d) out.size *= dims[d];
  const auto fits = [&] {
    out.count = rows_of_whole_vectors(out.size);
    return out.first > 0 && dims[out.first - 1] >= out.count;
  };
  while (!fits() || (!first && out.size < shortest)) {
    if (first || out.first <= 1) return std::nullopt;
    out.size *= dims[--out.first];
  }
  const bool is_whole = out.size % (whole_lanes / 2) == 0;
  if (out.size < shortest || out.size > longest || is_whole ||
      out.size * out.count > max_table_entries ||
      element_count(dims) < fewest_blocks * out.size * out.count)
    return std::nullopt;
  const auto is_byte = [&](InstructionId id) {
    return storage_bytes(elements.module.shape(id).type) < 2;
  };
  if (!are_costly(elements, ids) || std::ranges::any_of(ids, is_byte)) return std::nullopt;
  return out;
}

bool has_whole_blocks(const Dims& outer, int64_t count) { return outer.back() % count == 0; }

void for_blocks_of_rows(KernelBuilder& w, const Dims& outer, int64_t count,
                        llvm::function_ref<void(const BlockOfRows& block)> body) {
  const int64_t line = outer.back(), blocks = (line + count - 1) / count;
  Dims split(outer.begin(), outer.end() - 1);
  split.push_back(blocks);
  w.set_count(element_count(split));
  loop(w.b, w.begin, w.end, [&](llvm::Value* number) {
    const Index at = Index::linear(w.b, split, number);
    BlockOfRows block;
    for (size_t d = 0; d + 1 < split.size(); ++d) block.at.push_back(at.at(w.b, d));
    llvm::Value* own = multiply_index(w.b, at.at(w.b, split.size() - 1), count);
    block.start =
        has_whole_blocks(outer, count) ? own : lesser_index(w.b, own, int64(w.b, line - count));
    block.shared = w.b.CreateNSWSub(own, block.start);
    std::vector<llvm::Value*> row = block.at;
    row.push_back(block.start);
    block.first = Index(w.b, outer, row).position(w.b);
    body(block);
  });
}

void loop_over_rows(KernelBuilder& w, const Dims& dims, const FlattenedRows& rows,
                    const BlockOfRows& block,
                    llvm::function_ref<void(const Index& place, llvm::Value* number)> body) {
  w.elements.forget();
  Dims of_block(dims.begin() + static_cast<int64_t>(rows.first) - 1, dims.end());
  of_block[0] = rows.count;
  loop(w.b, element_count(of_block), [&](llvm::Value* number) {
    const Index in_block = Index::linear(w.b, of_block, number);
    std::vector<llvm::Value*> at = block.at;
    for (size_t d = 0; d < of_block.size(); ++d) at.push_back(in_block.at(w.b, d));
    at[rows.first - 1] = add_index(w.b, block.start, at[rows.first - 1]);
    body(Index(w.b, dims, at), number);
  });
  w.elements.forget();
}

void write_flattened_rows(KernelBuilder& w, std::span<const WrittenLeaf> leaves, const Dims& dims,
                          const FlattenedRows& rows) {
  w.set_loop_kind(LoopsOver::FlattenedRows);
  const Dims outer(dims.begin(), dims.begin() + static_cast<int64_t>(rows.first));
  const bool is_whole = has_whole_blocks(outer, rows.count);
  std::vector<llvm::Value*> arrays;
  for (const WrittenLeaf& leaf : leaves) {
    llvm::Type* type = stored_type(w.b, w.elements.leaf_shape(leaf.id, leaf.leaf).type);
    arrays.push_back(is_whole ? leaf.array : frame_array(w.b, type, rows.count * rows.size));
  }
  const int64_t blocks = (outer.back() + rows.count - 1) / rows.count;
  w.set_block(blocks, outer.back() * rows.size);
  const auto write = [&](const BlockOfRows& block) {
    loop_over_rows(w, dims, rows, block, [&](const Index& place, llvm::Value* number) {
      std::vector<llvm::Value*> values;
      for (const WrittenLeaf& leaf : leaves)
        values.push_back(w.elements.at(leaf.id, place, leaf.leaf));
      for (size_t i = 0; i < leaves.size(); ++i)
        store_element(w.b, w.elements.leaf_shape(leaves[i].id, leaves[i].leaf).type, arrays[i],
                      is_whole ? place.position(w.b) : number, values[i]);
    });
    if (is_whole) return;
    llvm::Value* row = add_index(w.b, block.first, block.shared);
    llvm::Value* left = w.b.CreateNSWSub(int64(w.b, rows.count), block.shared);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const int64_t bytes =
          rows.size * storage_bytes(w.elements.leaf_shape(leaves[i].id, leaves[i].leaf).type);
      const auto at = [&](llvm::Value* array, llvm::Value* number) {
        return w.b.CreateInBoundsGEP(w.b.getInt8Ty(), array, multiply_index(w.b, number, bytes));
      };
      w.b.CreateMemCpy(at(leaves[i].array, row), llvm::Align(1), at(arrays[i], block.shared),
                       llvm::Align(1), multiply_index(w.b, left, bytes));
    }
  };
  for_blocks_of_rows(w, outer, rows.count, write);
}

}  // namespace hilo
