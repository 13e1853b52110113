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

bool keeps_places(const Elements& elements, InstructionId id) {
  const Module& module = elements.module;
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
    if (elements.array(value)) continue;
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

namespace {

// One loop nest over the elements of arrays of equal dimensions.
class ElementLoops {
 public:
  ElementLoops(Writer& w, std::span<const WrittenLeaf> leaves)
      : w_(w),
        module_(w.elements.module),
        leaves_(leaves),
        dims_(w.elements.leaf_shape(leaves[0].id, leaves[0].leaf).dims) {
    while (inner_ + 1 < dims_.size()) ++inner_;
    while (inner_ > 0 && dims_[inner_] == 1) --inner_;
    at_.resize(dims_.size(), int64(w.b, 0));
  }

  void write() {
    const bool flat = std::ranges::all_of(leaves_, [&](const WrittenLeaf& one) {
      return one.leaf == 0 && module_.shape(one.id).is_array() && keeps_places(w_.elements, one.id);
    });
    if (flat || dims_.empty()) return write_places();
    find_ends();
    if (element_count(dims_) == dims_[inner_]) write_line();
    else write_rows();
  }

 private:
  void find_ends() {
    std::vector<InstructionId> ids;
    for (const WrittenLeaf& one : leaves_)
      if (module_.shape(one.id).is_array()) ids.push_back(one.id);
    seams_.ends = {0, dims_[inner_]};
    if (!ids.empty()) seams_ = find_seams(module_, ids, inner_);
  }

  // In iterations of as many elements as are a whole number of vectors.
  int64_t set_count_of_places() {
    const int64_t count = element_count(dims_);
    const int64_t each = std::max<int64_t>(1, std::gcd(count, whole_lanes));
    w_.set_count(count / each, static_cast<double>(each));
    return each;
  }

  void write_places() {
    const int64_t each = set_count_of_places();
    if (each == whole_lanes) w_.set_loops_over("places");
    set_runs(*w_.function, each);
    loop(w_.b, multiply_index(w_.b, w_.begin, each), multiply_index(w_.b, w_.end, each),
         [&](llvm::Value* i) { store(Index::linear(w_.b, dims_, i)); });
  }

  // Of one dimension.
  void write_line() {
    const int64_t each = set_count_of_places();
    if (each % seams_.group != 0) seams_ = {1, {0, dims_[inner_]}};
    if (is_one_loop()) set_runs(*w_.function, each);
    llvm::Value* begin = multiply_index(w_.b, w_.begin, each / seams_.group);
    llvm::Value* end = multiply_index(w_.b, w_.end, each / seams_.group);
    for_each_loop([&](int64_t first, int64_t last, LoopBody body) {
      llvm::Value *from = begin, *to = end;
      if (first > 0)
        from = w_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, begin, int64(w_.b, first));
      if (last < seams_.ends.back())
        to = w_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, int64(w_.b, last));
      loop(w_.b, from, to, [&](llvm::Value* number) {
        w_.elements.bind_counter(number, first, last);
        body(number);
      });
    });
  }

  void write_rows() {
    const Dims outer(dims_.begin(), dims_.begin() + static_cast<int64_t>(inner_));
    w_.set_count(element_count(dims_) == 0 ? 0 : element_count(outer),
                 static_cast<double>(dims_[inner_]));
    if (is_one_loop()) set_runs(*w_.function, dims_[inner_]);
    loop(w_.b, w_.begin, w_.end, [&](llvm::Value* row) {
      const Index rows = Index::linear(w_.b, outer, row);
      for (size_t d = 0; d < inner_; ++d) at_[d] = rows.at(w_.b, d);
      for_each_loop([&](int64_t first, int64_t last, LoopBody body) {
        loop(w_.b, last - first, [&](llvm::Value* from_first) {
          w_.elements.bind_counter(from_first, 0, last - first);
          body(first == 0 ? from_first : add_index(w_.b, from_first, int64(w_.b, first)));
        });
      });
      const int64_t rest = dims_[inner_] % seams_.group;
      if (rest > 0) w_.elements.forget();
      for (int64_t i = 0; i < rest; ++i) store_at(int64(w_.b, dims_[inner_] - rest + i));
    });
  }

  bool is_one_loop() const { return seams_.group == 1 && seams_.ends.size() == 2; }

  // over(first, last, body) is to call the body with each number of a group in [first, last).
  void for_each_loop(llvm::function_ref<void(int64_t, int64_t, LoopBody)> over) {
    for (size_t i = 0; i + 1 < seams_.ends.size(); ++i) {
      if (i > 0) w_.elements.forget();
      over(seams_.ends[i], seams_.ends[i + 1], [&](llvm::Value* number) {
        llvm::Value* first = multiply_index(w_.b, number, seams_.group);
        for (int64_t r = 0; r < seams_.group; ++r)
          store_at(r == 0 ? first : add_index(w_.b, first, int64(w_.b, r)));
      });
    }
  }

  void store_at(llvm::Value* place) {
    at_[inner_] = place;
    store(Index(w_.b, dims_, at_));
  }

  void store(const Index& index) {
    std::vector<llvm::Value*> values;
    for (const WrittenLeaf& one : leaves_)
      values.push_back(w_.elements.at(one.id, index, one.leaf));
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const ElementType type = w_.elements.leaf_shape(leaves_[i].id, leaves_[i].leaf).type;
      if (w_.elements.error()) return;
      store_element(w_.b, type, leaves_[i].array, index.position(w_.b), values[i]);
    }
  }

  Writer& w_;
  const Module& module_;
  std::span<const WrittenLeaf> leaves_;
  const Dims dims_;
  size_t inner_ = 0;  // the last dimension of more than one place
  std::vector<llvm::Value*> at_;
  Seams seams_;
};

}  // namespace

void write_elements(Writer& w, std::span<const WrittenLeaf> leaves) {
  ElementLoops(w, leaves).write();
}

void write_elements(Writer& w, InstructionId id) {
  const WrittenLeaf leaf = {id, 0, w.results[0]};
  write_elements(w, {&leaf, 1});
}

}  // namespace hilo
