// Reshapes: tiles keep their elements where sizes divide, else they are exchanged between
// neighbours in row-major order.
#include <algorithm>

#include "pass/shard/whole_arrays.h"
#include "pass/shard/window_tiles.h"

namespace hilo {
namespace {

using Local = Result<std::vector<InstructionId>>;

// Dimensions of both sides, next to each other, that hold the same elements in the same order, and
// no fewer of them do: tiles of two groups are no neighbours in one row.
struct Group {
  size_t from_begin, from_end, to_begin, to_end;
};

std::vector<Group> groups_of(const Dims& from, const Dims& to) {
  std::vector<Group> out;
  for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    Group group{i, i, j, j};
    int64_t a = 1, b = 1;
    const auto grow = [&] {
      if (j == to.size() || (a <= b && i < from.size())) a *= from[i++];
      else b *= to[j++];
    };
    do grow();
    while (a != b);
    group.from_end = i, group.to_end = j;
    out.push_back(group);
  }
  return out;
}

int64_t product(const Dims& dims, size_t begin, size_t end) {
  int64_t out = 1;
  for (size_t i = begin; i < end; ++i) out *= dims[i];
  return out;
}

// The first dimension that has several elements.
size_t major_of(const Dims& dims, size_t begin, size_t end) {
  while (begin < end && dims[begin] == 1) ++begin;
  return begin;
}

class ReshapePartition {
 public:
  explicit ReshapePartition(OpPartition& op)
      : op_(op),
        from_(op.operand_shape(0)),
        to_(op.shape()),
        groups_(groups_of(from_.dims, to_.dims)) {}

  LocalForm form() {
    LocalForm out;
    out.may_shard = [this](size_t factor) { return is_shared(factor); };
    out.may_be_uneven = [this](size_t factor) { return is_major(factor); };
    out.sent_bytes = [this](const Roles& roles) { return sent_bytes(roles); };
    out.emit = [this](const LocalOperands& local) -> Local { return emit(local); };
    return out;
  }

 private:
  static bool holds(const DimensionFactors& dims, size_t factor) {
    return std::ranges::any_of(
        dims, [&](const auto& dim) { return std::ranges::count(dim, factor) > 0; });
  }
  bool is_shared(size_t factor) {
    return holds(op_.factors().operands[0], factor) && holds(op_.factors().results[0], factor);
  }

  // Whether its tiles are neighbours among the elements of a group.
  bool is_major(size_t factor) {
    const auto begins = [&](const DimensionFactors& factors, const Dims& dims, size_t begin,
                            size_t end) {
      const size_t dim = major_of(dims, begin, end);
      return dim < end && !factors[dim].empty() && factors[dim][0] == factor;
    };
    return std::ranges::any_of(groups_, [&](const Group& group) {
      return begins(op_.factors().operands[0], from_.dims, group.from_begin, group.from_end) &&
             begins(op_.factors().results[0], to_.dims, group.to_begin, group.to_end);
    });
  }

  // The whole array and a device's with one dimension a group, and what devices exchange in it.
  struct Flat {
    Shape whole, tile;
    AxisSharding sharding;
    Dims dims;
    std::vector<Halo> halos;
  };
  Flat flat(const AxisSharding& from, const AxisSharding& to) {
    const Dims local_from = local_dims(from_.dims, from), local_to = local_dims(to_.dims, to);
    Flat out{Shape::array(from_.type, {}),
             Shape::array(from_.type, {}),
             op_.partitioner().replicated(groups_.size()),
             {},
             {}};
    for (size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      const int64_t size = product(from_.dims, group.from_begin, group.from_end);
      const int64_t has = product(local_from, group.from_begin, group.from_end);
      const int64_t needs = product(local_to, group.to_begin, group.to_end);
      SubAxes& axes = out.sharding.dims[i].axes;
      for (size_t dim = group.from_begin; dim < group.from_end; ++dim)
        axes.insert(axes.end(), from.dims[dim].axes.begin(), from.dims[dim].axes.end());
      const int64_t tiles = axes_size(axes);
      out.whole.dims.push_back(size);
      out.tile.dims.push_back(has);
      if (tiles == 1 || (has == needs && has * tiles == size)) continue;
      out.dims.push_back(static_cast<int64_t>(i));
      out.halos.emplace_back(Dims{size}, windows(size, needs, tiles), has);
    }
    return out;
  }

  static RowWindows windows(int64_t size, int64_t rows, int64_t tiles) {
    RowWindows out{rows, false, {}};
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t begin = std::min(size, tile * rows);
      out.tiles.push_back({tile * rows, begin, std::min(size, begin + rows)});
    }
    return out;
  }

  double sent_bytes(const Roles& roles) {
    const Flat here = flat(sharding_under(op_, from_, op_.factors().operands[0], roles),
                           sharding_under(op_, to_, op_.factors().results[0], roles));
    return bytes_to_exchange(here.tile, here.dims, here.halos);
  }

  Local emit(const LocalOperands& local) {
    const Shard& operand = local.operands[0];
    const Flat here = flat(operand.sharding, local.results[0]);
    if (here.halos.empty()) return op_.clone(local.ids(), local.results);
    Shard rows{op_.code().reshape(operand.id, here.tile.dims), here.sharding, here.whole};
    for (size_t i = 0; i < here.halos.size(); ++i)
      rows.id = here.halos[i].exchange(op_, std::span(&rows, 1), static_cast<size_t>(here.dims[i]),
                                       std::nullopt);
    return op_.clone(std::array{rows.id}, local.results);
  }

  OpPartition& op_;
  const Shape from_, to_;
  const std::vector<Group> groups_;
};

}  // namespace

Result<Shards> partition_Reshape(OpPartition& op) {
  if (stays_whole(op)) return op.replicated();
  HILO_TRY(std::optional<Shards> whole, on_whole_arrays(op));
  if (whole) return *std::move(whole);
  ReshapePartition reshape(op);
  return op.by_factors(reshape.form());
}

}  // namespace hilo
