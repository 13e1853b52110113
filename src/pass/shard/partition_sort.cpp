// sort and topk. Other dimensions are local. Of the rows that topk orders each device finds the
// best of its tile, and the best of these are the result: equal elements stay in the order of the
// tiles, which is that of their numbers.
#include "pass/shard/partition_sort.h"

#include <algorithm>

#include "pass/shard/device_parts.h"
#include "pass/shard/factor_list.h"
#include "pass/shard/identity_element.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

// The type's element that comes last, and after which only equal ones come: of floats in total
// order the NaN whose bits are all set.
std::optional<Literal> last_in_order(ElementType type, bool largest) {
  if (!is_floating(type)) return identity_element(largest ? Op::Maximum : Op::Minimum, type);
  if (bits_of(type) < 16) return std::nullopt;  // ordered as floats of another type
  Literal out = Literal::zeros(Shape::scalar(type));
  std::ranges::fill(out.mutable_raw(), std::byte{0xff});
  if (!largest) out.mutable_raw().back() = std::byte{0x7f};
  return out;
}

class TopKPartition {
 public:
  TopKPartition(OpPartition& op, int64_t k, bool largest)
      : op_(op),
        array_(op.operand_shape(0)),
        last_(array_.rank() - 1),
        k_(k),
        filling_(last_in_order(array_.type, largest)) {}

  Result<Shards> run() {
    FactorList list(op_.module(), op_.id());
    for (int64_t dim = 0; dim < last_; ++dim)
      list.share(Kind::Pass, {operand_dim(0, dim), result_dim(0, dim), result_dim(1, dim)});
    row_ = list.share(Kind::Permutation, {operand_dim(0, last_)});
    op_.set_factors(list.finish());
    LocalForm form;
    form.may_shard = [this](size_t factor) {
      return factor == row_ || op_.factors().factors[factor].kind == Kind::Pass;
    };
    form.even_alone = [this](size_t factor) { return factor == row_ && !filling_; };
    form.operations = static_cast<double>(element_count(array_));
    form.sent_bytes = [this](const Roles& roles) {
      const SubAxes& axes = roles.axes[row_];
      const int64_t tiles = axes_size(axes);
      const int64_t tile = (array_.dims.back() + tiles - 1) / tiles;
      return bytes_to_gather(op_, roles, axes, std::min(k_, tile));
    };
    form.emit = [this](const LocalOperands& local) { return emit(local); };
    return op_.by_factors(form);
  }

 private:
  Result<std::vector<InstructionId>> emit(const LocalOperands& local) {
    const SubAxes& axes = local.roles.axes[row_];
    Shard tile = local.operands[0];
    if (axes.empty()) return best(tile.id, k_);
    LocalCode code = op_.code();
    const auto row = static_cast<size_t>(last_);
    if (filling_) tile.id = op_.masked(tile, std::array{row}, code.constant(*filling_));
    std::vector<InstructionId> found = best(tile.id, std::min(k_, code.dims(tile.id)[row]));
    const InstructionId offset =
        code.convert(op_.offset(tile.sharding, array_, row), code.type(found[1]));
    found[1] = code.binary(Op::Add, found[1], code.broadcast(offset, code.dims(found[1]), {}));
    for (size_t i = 0; i < found.size(); ++i) {
      Shape shape = *local.question.results[i].shape;
      shape.dims.back() = code.dims(found[i]).back();
      HILO_TRY(const InstructionId parts,
               gathered_parts(op_, {found[i], local.results[i], std::move(shape)}, axes));
      found[i] = side_by_side(code, parts);
    }
    const std::vector<InstructionId> of_found = best(found[0], k_);
    return std::vector{of_found[0], taken(code, found[1], of_found[1])};
  }

  // The instruction of so many elements of the array's rows.
  std::vector<InstructionId> best(InstructionId array, int64_t k) {
    const InstructionId out = op_.partitioner().clone(op_.id(), std::array{array});
    Module& module = op_.module();
    module.mutable_extra(out).sharding = nullptr;
    Dims dims = module.shape(array).dims;
    dims.back() = k;
    Shape shape = op_.shape();
    for (size_t i : {0, 1}) shape.elements[i] = Shape::array(shape.elements[i].type, dims);
    op_.editor().set_shape(out, shape);
    if (module[out].op == Op::TopK) module.mutable_attributes<TopKAttributes>(out).k = k;
    else module.mutable_attributes<CustomCallAttributes>(out).operand_layout_constraints.reset();
    return op_.partitioner().split(out);
  }

  // [devices, rows, n] as [rows, devices n].
  InstructionId side_by_side(LocalCode& code, InstructionId parts) const {
    Dims order, dims = code.dims(parts);
    for (int64_t dim = 1; dim <= last_; ++dim) order.push_back(dim);
    order.insert(order.end(), {0, last_ + 1});
    parts = code.transpose(parts, std::move(order));
    dims.back() *= dims[0];
    dims.erase(dims.begin());
    return code.reshape(parts, std::move(dims));
  }

  // Of each row the elements at these numbers.
  InstructionId taken(LocalCode& code, InstructionId rows, InstructionId numbers) {
    GatherAttributes gather;
    for (int64_t dim = 0; dim < last_; ++dim) gather.operand_batching_dims.push_back(dim);
    gather.start_indices_batching_dims = gather.operand_batching_dims;
    gather.collapsed_slice_dims = gather.start_index_map = {last_};
    gather.index_vector_dim = last_ + 1;
    gather.slice_sizes.assign(static_cast<size_t>(last_ + 1), 1);
    return op_.editor().add_inferred(code.like(), Op::Gather, std::array{rows, numbers},
                                     std::move(gather));
  }

  OpPartition& op_;
  const Shape array_;
  const int64_t last_, k_;
  const std::optional<Literal> filling_;
  size_t row_ = 0;  // factor
};

}  // namespace

Result<Shards> partition_Sort(OpPartition& op) { return op.by_factors(); }

Result<Shards> partition_top_k(OpPartition& op, int64_t k, bool largest) {
  return TopKPartition(op, k, largest).run();
}

Result<Shards> partition_TopK(OpPartition& op) {
  const auto& a = op.attributes<TopKAttributes>();
  return partition_top_k(op, a.k, a.largest);
}

}  // namespace hilo
