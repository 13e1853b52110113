#include "emit/element_emitter.h"

#include <algorithm>

#include "emit/bf16_rounding.h"
#include "emit/loops.h"
#include "emit/op_functions.h"
#include "emit/symbols.h"
#include "emit/vector_registers.h"

namespace hilo {
namespace {}  // namespace

void ElementEmitter::bind_arrays(InstructionId id, std::vector<llvm::Value*> arrays) {
  arrays_[id] = std::move(arrays);
}

void ElementEmitter::bind_scalars(InstructionId id, std::vector<llvm::Value*> values) {
  scalars_[id] = std::move(values);
}

void ElementEmitter::bind_row(InstructionId id, llvm::Value* array, size_t first) {
  rows_[id] = {array, first};
}

llvm::Value* ElementEmitter::load_of_row(InstructionId id, const Index& index) {
  const auto [array, first] = rows_.at(id);
  const Shape& shape = module.shape(id);
  std::vector<llvm::Value*> at;
  for (size_t d = first; d < shape.dims.size(); ++d) at.push_back(index.at(b, d));
  const Dims dims(shape.dims.begin() + static_cast<int64_t>(first), shape.dims.end());
  const ElementType type = is_in_array_of_bf16(array) ? ElementType::F32 : shape.type;
  return load(type, array, Index(b, dims, std::move(at)).position(b));
}

llvm::Value* ElementEmitter::Tile::place(Builder& b, const Index& index) const {
  llvm::Value* out = nullptr;
  for (size_t d = 0; d < steps.size(); ++d) {
    if (steps[d] == 0) continue;
    llvm::Value* at = index.at(b, d);
    if (first[d]) at = b.CreateNSWSub(at, first[d]);
    at = multiply_index(b, at, steps[d]);
    out = out ? add_index(b, out, at) : at;
  }
  return out ? out : int64(b, 0);
}

llvm::Value* ElementEmitter::load_of_tile(InstructionId id, const Index& index) {
  const Tile& tile = tiles_.at(id);
  const ElementType type =
      is_in_array_of_bf16(tile.array) ? ElementType::F32 : module.shape(id).type;
  return load(type, tile.array, tile.place(b, index));
}

llvm::Value* ElementEmitter::array(InstructionId id) const {
  while (!arrays_.contains(id)) {
    const Op op = module[id].op;
    if (const auto operand = parameters_.find(id); operand != parameters_.end())
      id = operand->second;
    else if ((op == Op::Bitcast || op == Op::Reshape) &&
             module.shape(module.operand(id, 0)).type == module.shape(id).type)
      id = module.operand(id, 0);
    else return nullptr;
  }
  const auto& arrays = arrays_.at(id);
  return arrays.size() == 1 ? arrays[0] : nullptr;
}

void ElementEmitter::bind_fusion(InstructionId fusion) {
  const ComputationId fused = module.attributes<FusionAttributes>(fusion).calls;
  const auto& parameters = module[fused].parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const InstructionId operand = module.operand(fusion, i);
    const auto [at, is_new] = parameters_.try_emplace(parameters[i], operand);
    check(is_new || at->second == operand, "ElementEmitter: a computation is fused once");
  }
}

const Shape& ElementEmitter::leaf_shape(InstructionId id, size_t leaf) const {
  const Shape* found = nullptr;
  size_t number = 0;
  for_each_leaf(module.shape(id), [&](const Shape& shape, std::span<const int64_t>) {
    if (number++ == leaf) found = &shape;
  });
  check(found, "Elements: no such leaf");
  return *found;
}

void ElementEmitter::bind_counter(llvm::Value* counter, int64_t begin, int64_t end) {
  const Affine parts = affine(counter);
  if (parts.base && parts.factor == 1)
    counters_.insert_or_assign(parts.base, Bounds{begin - parts.offset, end - 1 - parts.offset});
}

Bounds ElementEmitter::bounds(llvm::Value* place, int64_t size) const {
  const Affine parts = affine(place);
  if (!parts.base) return {parts.offset, parts.offset};
  const auto counter = counters_.find(parts.base);
  if (counter == counters_.end()) return {0, size - 1};
  const int64_t a = parts.offset + parts.factor * counter->second.first,
                c = parts.offset + parts.factor * counter->second.last;
  return {std::max<int64_t>(0, std::min(a, c)), std::min(size - 1, std::max(a, c))};
}

llvm::Value* ElementEmitter::read_where(llvm::Value* condition,
                                        llvm::function_ref<llvm::Value*()> make) {
  Cache cache = std::exchange(cache_, {});
  llvm::Value* outer =
      std::exchange(condition_, condition_ ? b.CreateAnd(condition_, condition) : condition);
  llvm::Value* made = make();
  condition_ = outer;
  cache_ = std::move(cache);
  return made;
}

bool ElementEmitter::reads_masked(llvm::Value* place, ElementType type) const {
  if (!counters_.contains(affine(place).base)) return false;
  return vector_registers(*b.GetInsertBlock()->getModule()).have_masks(storage_bytes(type));
}

int64_t ElementEmitter::register_bytes() const {
  return vector_registers(*b.GetInsertBlock()->getModule()).bytes;
}

llvm::Value* ElementEmitter::load(ElementType type, llvm::Value* array, llvm::Value* position) {
  if (!condition_ || !share_a_counter(condition_, position))
    return load_element(b, type, array, position);
  llvm::BasicBlock *before = b.GetInsertBlock(), *in = nullptr;
  llvm::Value* element = nullptr;
  where(b, condition_, [&] {
    element = load_element(b, type, array, position);
    in = b.GetInsertBlock();
  });
  llvm::PHINode* out = b.CreatePHI(element->getType(), 2);
  out->addIncoming(element, in);
  out->addIncoming(llvm::Constant::getNullValue(element->getType()), before);
  return out;
}

llvm::Value* ElementEmitter::index_operand(InstructionId id, size_t i) {
  const Shape& shape = module.shape(module.operand(id, i));
  llvm::Value* held =
      at(module.operand(id, i),
         Index(b, shape.dims, std::vector<llvm::Value*>(shape.dims.size(), int64(b, 0))));
  return as_index(b, shape.type, held);
}

llvm::Value* ElementEmitter::at(InstructionId id, const Index& index, size_t leaf) {
  if (llvm::Value* bound = load_of_bound(id, index, leaf)) return bound;
  Key key{id, leaf, index.key()};
  if (const auto known = cache_.find(key); known != cache_.end()) return known->second;
  llvm::Value* made =
      is_elementwise(module[id].op) ? make_elementwise(id, index) : make(id, index, leaf);
  cache_[std::move(key)] = made;
  return made;
}

llvm::Value* ElementEmitter::load_of_bound(InstructionId& id, const Index& index, size_t leaf) {
  const Shape& shape = leaf_shape(id, leaf);
  while (true) {
    if (const auto array = arrays_.find(id); array != arrays_.end())
      return load(shape.type, array->second[leaf], index.position(b));
    if (const auto scalar = scalars_.find(id); scalar != scalars_.end())
      return scalar->second[leaf];
    if (rows_.contains(id)) return load_of_row(id, index);
    if (tiles_.contains(id)) return load_of_tile(id, index);
    const auto outer = parameters_.find(id);
    if (outer == parameters_.end()) return nullptr;
    id = outer->second;
  }
}

llvm::Value* ElementEmitter::make(InstructionId id, const Index& index, size_t leaf) {
  const Op op = module[id].op;
  if (op == Op::Constant) return make_constant(id, index);
  const ElementFunction element = functions_of(op).element;
  check(element, "ElementEmitter: an element of it alone");
  return element(*this, id, index, leaf);
}

llvm::Value* ElementEmitter::make_constant(InstructionId id, const Index& index) {
  const auto& literal = module.attributes<ConstantAttributes>(id).literal.literal;
  check(literal && literal->shape().is_array(), "ElementEmitter: a constant has its value");
  if (literal->count() == 1) return constant_element(b, *literal, 0);
  llvm::Value* array = constant_array(*b.GetInsertBlock()->getModule(), id);
  return load(literal->type(), array, index.position(b));
}

llvm::Value* ElementEmitter::apply_elementwise(InstructionId id,
                                               std::span<llvm::Value* const> operands) {
  const Instruction& instruction = module[id];
  const ScalarFunction function = functions_of(instruction.op).scalar;
  const ElementType result = module.shape(id).type;
  check(function, "ElementEmitter: an elementwise op has its function");
  ScalarCall call{*this, b, instruction, result, result, {}};
  std::ranges::copy(operands, call.in);
  call.type = module.shape(module.operand(id, 0)).type;
  llvm::Value* held = function(call);
  const bool is_chosen =
      instruction.op == Op::Select && module.shape(module.operand(id, 1)).type == result;
  return is_chosen ? held : round_to(b, result, held);
}

// Operands that are elementwise too are made here and not by at(): the stack of calls does not grow
// with the length of a chain, which programs that unroll their loops make of any length. Scalar
// operands beside arrays (of clamp and select) stand for all elements.
llvm::Value* ElementEmitter::make_elementwise(InstructionId root, const Index& index) {
  struct Begun {
    InstructionId id;
    const Index* index;
    Key key;  // none of the root's, which at() keeps
    size_t ready = 0;
    llvm::Value* in[3] = {};
  };
  const Index scalar = Index::scalar(b);
  std::vector<Begun> begun;
  begun.push_back({root, &index, {}});
  while (true) {
    Begun& top = begun.back();
    const auto operands = module.operands(top.id);
    check(operands.size() <= std::size(top.in), "ElementEmitter: three operands at most");
    if (top.ready < operands.size()) {
      InstructionId operand = operands[top.ready];
      const bool uniform = module.shape(operand).dims.empty() && !top.index->dims().empty();
      const Index& place = uniform ? scalar : *top.index;
      llvm::Value*& in = top.in[top.ready++];
      if ((in = load_of_bound(operand, place, 0))) continue;
      Key key{operand, 0, place.key()};
      if (const auto known = cache_.find(key); known != cache_.end()) in = known->second;
      else if (is_elementwise(module[operand].op))
        begun.push_back({operand, &place, std::move(key)});
      else in = cache_[std::move(key)] = make(operand, place, 0);
      continue;
    }
    llvm::Value* made = apply_elementwise(top.id, std::span(top.in, operands.size()));
    if (begun.size() == 1) return made;
    cache_[std::move(top.key)] = made;
    begun.pop_back();
    begun.back().in[begun.back().ready - 1] = made;
  }
}

std::vector<llvm::Value*> ElementEmitter::apply(ComputationId computation,
                                                std::span<llvm::Value* const> arguments) {
  const Computation& applied = module[computation];
  Cache cache = std::exchange(cache_, {});
  size_t next = 0;
  for (InstructionId parameter : applied.parameters) scalars_[parameter] = {arguments[next++]};
  std::vector<llvm::Value*> out;
  const auto leaves = static_cast<size_t>(leaf_count(module.shape(applied.root)));
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    const Dims& dims = leaf_shape(applied.root, leaf).dims;
    const std::vector<llvm::Value*> zeros(dims.size(), int64(b, 0));
    out.push_back(at(applied.root, Index(b, dims, zeros), leaf));
  }
  for (InstructionId parameter : applied.parameters) scalars_.erase(parameter);
  cache_ = std::move(cache);
  return out;
}

}  // namespace hilo
