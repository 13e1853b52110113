#include "emit/writer.h"

#include <algorithm>
#include <numeric>

#include "emit/function_passes.h"
#include "emit/op_functions.h"
#include "emit/seams.h"
#include "emit/streamed_stores.h"

namespace hilo {
namespace {

llvm::Function* make_function(llvm::Module& ir, const std::string& name, size_t arrays) {
  llvm::LLVMContext& context = ir.getContext();
  std::vector<llvm::Type*> types(arrays, llvm::PointerType::get(context, 0));
  types.resize(arrays + 2, llvm::Type::getInt64Ty(context));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* out = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, ir);
  for (size_t i = 0; i < arrays; ++i) {
    out->addParamAttr(static_cast<unsigned>(i), llvm::Attribute::NoAlias);
    out->addParamAttr(static_cast<unsigned>(i), llvm::Attribute::NoUndef);
  }
  out->addFnAttr(llvm::Attribute::NoUnwind);
  return out;
}

// Elements that are a whole number of vectors on every chip: a loop over a multiple of it has no
// rest, whose code would be longer than that of the vectors.
constexpr int64_t whole_lanes = 64;

// Where loops over dimension `dim` of all these begin and end.
std::vector<int64_t> ranges_of(const Module& module, std::span<const WrittenLeaf> leaves,
                               const Dims& dims, size_t dim) {
  std::vector<int64_t> out = {0};
  if (leaves.size() == 1)
    for (int64_t at : seams(module, leaves[0].id, dim)) out.push_back(at);
  out.push_back(dims[dim]);
  return out;
}

llvm::BasicBlock* first_block(llvm::Function* function) {
  return llvm::BasicBlock::Create(function->getContext(), "", function);
}

}  // namespace

Writer::Writer(const Module& module, llvm::Module& ir, const std::string& name, size_t arrays)
    : b(ir.getContext()),
      elements(module, b),
      function(make_function(ir, name, arrays)),
      begin(function->getArg(static_cast<unsigned>(arrays))),
      end(function->getArg(static_cast<unsigned>(arrays) + 1)) {
  b.SetInsertPoint(first_block(function));
}

void Writer::set_count(int64_t count, double steps_each) {
  count_ = count;
  steps_each_ = steps_each;
}

void Writer::set_loops_over(const char* what) { function->addFnAttr(loops_over_attribute, what); }

bool keeps_places(const Module& module, InstructionId id) {
  std::vector<InstructionId> seen, waiting = {id};
  const int64_t count = element_count(module.shape(id));
  while (!waiting.empty()) {
    const InstructionId value = waiting.back();
    waiting.pop_back();
    if (std::ranges::count(seen, value) > 0) continue;
    if (seen.size() > 200) return false;
    seen.push_back(value);
    const Op op = module[value].op;
    if (op == Op::Parameter || op == Op::GetTupleElement || op == Op::Constant) continue;
    const bool same = is_elementwise(op) || op == Op::Reshape || op == Op::Bitcast ||
                      op == Op::Copy || op == Op::BitcastConvert;
    const bool spread =
        op == Op::Broadcast && element_count(module.shape(module.operand(value, 0))) == 1;
    if (!same && !spread) return false;
    for (InstructionId operand : module.operands(value)) {
      const Shape& shape = module.shape(operand);
      if (!shape.is_array()) return false;
      if (same && element_count(shape) != count && !shape.dims.empty()) return false;
      if (element_count(shape) == count || !shape.dims.empty()) waiting.push_back(operand);
    }
  }
  return true;
}

void write_elements(Writer& w, std::span<const WrittenLeaf> leaves) {
  const Dims dims = w.elements.leaf_shape(leaves[0].id, leaves[0].leaf).dims;
  const int64_t count = element_count(dims);
  const auto store = [&](const Index& index) {
    std::vector<llvm::Value*> values;
    for (const WrittenLeaf& one : leaves) values.push_back(w.elements.at(one.id, index, one.leaf));
    for (size_t i = 0; i < leaves.size(); ++i) {
      const ElementType type = w.elements.leaf_shape(leaves[i].id, leaves[i].leaf).type;
      if (w.elements.error()) return;
      store_element(w.b, type, leaves[i].array, index.position(w.b), values[i]);
    }
  };
  const bool flat = std::ranges::all_of(leaves, [&](const WrittenLeaf& one) {
    return one.leaf == 0 && w.elements.module.shape(one.id).is_array() &&
           keeps_places(w.elements.module, one.id);
  });
  if (flat || dims.size() <= 1) {
    const int64_t each = std::max<int64_t>(1, std::gcd(count, whole_lanes));
    if (flat && each == whole_lanes) w.set_loops_over("places");
    set_runs(*w.function, each);
    w.set_count(count / each, static_cast<double>(each));
    return loop(w.b, multiply_index(w.b, w.begin, each), multiply_index(w.b, w.end, each),
                [&](llvm::Value* i) { store(Index::linear(w.b, dims, i)); });
  }
  size_t inner = dims.size() - 1;
  while (inner > 0 && dims[inner] == 1) --inner;
  const Dims outer(dims.begin(), dims.begin() + static_cast<int64_t>(inner));
  w.set_count(count == 0 ? 0 : element_count(outer), static_cast<double>(dims[inner]));
  const std::vector<int64_t> ranges = ranges_of(w.elements.module, leaves, dims, inner);
  if (ranges.size() == 2) set_runs(*w.function, dims[inner]);
  // As with windows, what a loop reads follows from the places it is over.
  else w.set_loops_over("windows");
  loop(w.b, w.begin, w.end, [&](llvm::Value* row) {
    const Index rows = Index::linear(w.b, outer, row);
    std::vector<llvm::Value*> at;
    for (size_t d = 0; d < inner; ++d) at.push_back(rows.at(w.b, d));
    at.resize(dims.size(), int64(w.b, 0));
    for (size_t i = 0; i + 1 < ranges.size(); ++i) {
      if (i > 0) w.elements.forget();
      loop(w.b, ranges[i + 1] - ranges[i], [&](llvm::Value* from_first) {
        at[inner] = ranges[i] == 0 ? from_first : add_index(w.b, from_first, int64(w.b, ranges[i]));
        store(Index(w.b, dims, at));
      });
    }
  });
}

void write_elements(Writer& w, InstructionId id) {
  const WrittenLeaf leaf = {id, 0, w.results[0]};
  write_elements(w, {&leaf, 1});
}

}  // namespace hilo
