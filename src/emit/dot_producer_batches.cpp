#include "emit/dot_producer_batches.h"

#include "emit/loop_limits.h"

namespace hilo {
namespace {

// Rows of elements in straight code that are whole vectors on every chip; the others have a loop of
// their own.
constexpr int64_t rows_at_once = KernelLimits::widest_lanes;

class ProductOfParts {
 public:
  ProductOfParts(KernelBuilder& w, InstructionId id)
      : w_(w), b_(w.b), module_(w.elements.module), id_(id) {}

  void write(const Side& lhs, const Side& rhs,
             llvm::function_ref<void(const Side&, const Side&)> product) {
    loop(b_, w_.begin, w_.end, [&](llvm::Value* batch) {
      batch_ = batch;
      const Side left = side_of_batch(lhs, 0);
      const bool is_one = !lhs.array && !rhs.array && source(0) == source(1);
      const Side right = is_one ? of_batch(rhs, left.array) : side_of_batch(rhs, 1);
      write_alone(product, left, right);
    });
    w_.set_count(lhs.batch.count);
    w_.set_max_chunk(0);
    w_.set_block(1, lhs.own.count * rhs.own.count);
  }

 private:
  InstructionId source(size_t operand) const {
    InstructionId id = module_.operand(id_, operand);
    while (module_[id].op == Op::Reshape || module_[id].op == Op::Bitcast)
      id = module_.operand(id, 0);
    return id;
  }

  static Side of_batch(const Side& side, llvm::Value* array) {
    return {side.type, array, {}, side.own, side.depth};
  }

  Side side_of_batch(const Side& side, size_t operand) {
    llvm::Type* type = stored_type(b_, side.type);
    if (side.array)
      return of_batch(side, b_.CreateInBoundsGEP(type, side.array,
                                                 multiply_index(b_, batch_, side.batch.stride)));
    llvm::Value* frame = frame_array(b_, type, side.own.count * side.depth.count);
    make_part(module_.operand(id_, operand), frame);
    return of_batch(side, frame);
  }

  // The elements of one batch, in their order.
  void make_part(InstructionId made, llvm::Value* frame) {
    const Shape& shape = module_.shape(made);
    const auto batches =
        module_.attributes<DotAttributes>(id_).lhs_batch_dims.size();  // the leading ones
    const auto behind = shape.dims.begin() + static_cast<int64_t>(batches);
    const Index batch = Index::linear(b_, Dims(shape.dims.begin(), behind), batch_);
    const int64_t rows = behind[0], row = behind[1];
    std::vector<llvm::Value*> at;
    for (size_t d = 0; d < batches; ++d) at.push_back(batch.at(b_, d));
    at.resize(batches + 2);
    const auto store = [&](llvm::Value* place) {
      at.back() = place;
      llvm::Value* element = w_.elements.at(made, Index(b_, shape.dims, at));
      llvm::Value* to = add_index(b_, multiply_index(b_, at[batches], row), place);
      store_element(b_, shape.type, frame, to, element);
    };
    const int64_t whole = rows / rows_at_once * rows_at_once;
    const auto make_row = [&](llvm::Value* r) {
      at[batches] = r;
      w_.elements.forget();
      if (row < KernelLimits::short_row)
        for (int64_t i = 0; i < row; ++i) store(int64(b_, i));
      else
        loop(b_, row, [&](llvm::Value* place) {
          w_.elements.forget();
          store(place);
        });
    };
    loop(b_, whole, make_row);
    loop(b_, rows - whole, [&](llvm::Value* r) { make_row(add_index(b_, r, int64(b_, whole))); });
    w_.elements.forget();
  }

  // As all iterations of a step whose results are those of this batch.
  void write_alone(llvm::function_ref<void(const Side&, const Side&)> product, const Side& lhs,
                   const Side& rhs) {
    llvm::Value *begin = w_.begin, *end = w_.end, *results = w_.results[0];
    const ElementType type = module_.shape(id_).type;
    llvm::Value* at = multiply_index(b_, batch_, lhs.own.count * rhs.own.count);
    w_.results[0] = b_.CreateInBoundsGEP(stored_type(b_, type), results, at);
    w_.begin = int64(b_, 0);
    w_.writes_all = true;
    product(lhs, rhs);
    w_.writes_all = false;
    std::tie(w_.begin, w_.end, w_.results[0]) = std::tuple(begin, end, results);
  }

  KernelBuilder& w_;
  Builder& b_;
  const Module& module_;
  const InstructionId id_;
  llvm::Value* batch_ = nullptr;
};

}  // namespace

void write_producer_batches(KernelBuilder& w, InstructionId id, const Side& lhs, const Side& rhs,
                            llvm::function_ref<void(const Side&, const Side&)> product) {
  ProductOfParts(w, id).write(lhs, rhs, product);
}

}  // namespace hilo
