// Halo exchange as instructions: the device's own rows and those that it receives, one behind
// another where they stand alike on all devices, else each written where the device's window has
// it.
#include <algorithm>

#include "pass/shard/halo.h"

namespace hilo {
namespace {

// Rows of a local array, and at which row of the window they stand; on devices that need none of
// them, nowhere.
struct Rows {
  InstructionId value;
  std::vector<std::optional<int64_t>> positions;  // by tile
};

class Exchange {
 public:
  Exchange(OpPartition& op, const Halo& halo, std::span<const Shard> arrays, size_t dim)
      : op_(op),
        code_(op.code()),
        halo_(halo),
        arrays_(arrays),
        dim_(dim),
        sharding_(arrays[0].sharding),
        grid_(sharding_, arrays[0].shape.dims) {}

  InstructionId run(std::optional<InstructionId> padding) {
    int64_t before = 0;
    for (size_t array = 0; array < arrays_.size(); ++array) {
      add_own(array, before);
      for (const HaloRound& round : halo_.rounds())
        if (round.array == array) add_received(round);
      before += halo_.sizes()[array];
    }
    const auto sorted = sorted_alike();
    const InstructionId out = sorted ? in_a_row(*sorted) : written();
    return padding && halo_.reads_padding() ? padded(out, *padding) : out;
  }

 private:
  using Tile = RowWindows::Tile;
  int64_t tiles() const { return std::ssize(halo_.windows().tiles); }
  int64_t rows_of(InstructionId value) const { return code_.dims(value)[dim_]; }
  const Tile& window(int64_t tile) const { return halo_.windows().tiles[tile]; }

  void add_own(size_t array, int64_t before) {
    const int64_t size = halo_.sizes()[array], rows = rows_of(arrays_[array].id);
    Rows out{arrays_[array].id, {}};
    for (int64_t tile = 0; tile < tiles(); ++tile) {
      const int64_t first = before + tile * rows;
      const int64_t last = before + std::min(size, (tile + 1) * rows);
      const bool reads = std::max(first, window(tile).begin) < std::min(last, window(tile).end);
      out.positions.push_back(reads ? std::optional(first - window(tile).start) : std::nullopt);
    }
    add(std::move(out));
  }

  void add_received(const HaloRound& round) {
    const InstructionId tile = arrays_[round.array].id;
    Rows out{{}, std::vector<std::optional<int64_t>>(tiles())};
    std::vector<std::optional<int64_t>> first(tiles());
    for (const HaloRound::Transfer& one : round.transfers) {
      first[one.source] = one.row - one.source * rows_of(tile);
      out.positions[one.target] = one.position;
    }
    const InstructionId sent =
        is_one(first) ? code_.slice_rows(tile, dim_, *one_of(first), *one_of(first) + round.rows)
                      : code_.rows_from(tile, dim_, number(first), round.rows);
    out.value = code_.permute(sent, pairs(round), op_.partitioner().next_channel());
    add(std::move(out));
  }

  void add(Rows rows) {
    if (std::ranges::any_of(rows.positions, [](const auto& at) { return at.has_value(); }))
      rows_.push_back(std::move(rows));
  }

  // Between devices that differ in their tile of the dimension alone.
  std::vector<std::pair<int64_t, int64_t>> pairs(const HaloRound& round) const {
    std::vector<std::optional<int64_t>> source(tiles());
    for (const auto& one : round.transfers) source[one.target] = one.source;
    std::vector<std::pair<int64_t, int64_t>> out;
    for (int64_t device = 0; device < grid_.devices(); ++device) {
      Dims tile = grid_.tile_of(device);
      if (!source[tile[dim_]]) continue;
      tile[dim_] = *source[tile[dim_]];
      out.push_back({grid_.holder(tile, device), device});
    }
    return out;
  }

  static std::optional<int64_t> one_of(const std::vector<std::optional<int64_t>>& numbers) {
    const auto found = std::ranges::find_if(numbers, [](const auto& at) { return at.has_value(); });
    return found == numbers.end() ? std::nullopt : *found;
  }
  static bool is_one(const std::vector<std::optional<int64_t>>& numbers) {
    return std::ranges::all_of(numbers,
                               [&](const auto& at) { return !at || at == one_of(numbers); });
  }

  // 0 on devices without a number.
  InstructionId number(const std::vector<std::optional<int64_t>>& by_tile) {
    Dims numbers;
    for (const auto& one : by_tile) numbers.push_back(one.value_or(0));
    return number_by_tile(code_, sharding_, dim_, numbers);
  }

  // By position, where all rows have one each and no two overlap.
  std::optional<std::vector<Rows>> sorted_alike() const {
    const auto is_alike = [](const Rows& rows) { return is_one(rows.positions); };
    if (!std::ranges::all_of(rows_, is_alike)) return std::nullopt;
    std::vector<Rows> out = rows_;
    std::ranges::sort(out, {}, [](const Rows& rows) { return *one_of(rows.positions); });
    for (size_t i = 1; i < out.size(); ++i)
      if (*one_of(out[i - 1].positions) + rows_of(out[i - 1].value) > *one_of(out[i].positions))
        return std::nullopt;
    return out;
  }

  InstructionId in_a_row(std::span<const Rows> sorted) {
    const int64_t length = halo_.windows().length;
    std::vector<InstructionId> out;
    int64_t filled = 0;
    for (const Rows& one : sorted) {
      const int64_t at = *one_of(one.positions), first = std::max<int64_t>(at, 0);
      const int64_t last = std::min(at + rows_of(one.value), length);
      if (first >= last) continue;
      add_zeros(first - filled, out);
      out.push_back(code_.slice_rows(one.value, dim_, first - at, last - at));
      filled = last;
    }
    add_zeros(length - filled, out);
    return code_.concatenate(out, static_cast<int64_t>(dim_));
  }

  void add_zeros(int64_t rows, std::vector<InstructionId>& out) {
    if (rows > 0) out.push_back(code_.zeros(code_.type(arrays_[0].id), dims_with(rows)));
  }

  Dims dims_with(int64_t rows) const {
    Dims dims = code_.dims(arrays_[0].id);
    dims[dim_] = rows;
    return dims;
  }

  // Rows beyond those that are read are those of the array, or padding of its last tile, over which
  // the next array is written. What a device does not need goes into a margin.
  InstructionId written() {
    int64_t margin = 0;
    for (const Rows& one : rows_) margin = std::max(margin, rows_of(one.value));
    const int64_t length = halo_.windows().length;
    const Dims whole = dims_with(length + 2 * margin);
    InstructionId out = code_.zeros(code_.type(arrays_[0].id), whole);
    std::vector<InstructionId> starts(whole.size(), code_.number(0));
    for (const Rows& one : rows_) {
      std::vector<std::optional<int64_t>> at = one.positions;
      for (auto& position : at)
        if (position) *position += margin;
      starts[dim_] = number(at);
      out = code_.update(out, one.value, starts);
    }
    return code_.slice_rows(out, dim_, margin, margin + length);
  }

  InstructionId padded(InstructionId value, InstructionId padding) {
    const Dims dims = code_.dims(value), length = {halo_.windows().length};
    std::vector<std::optional<int64_t>> starts;
    for (const Tile& tile : halo_.windows().tiles) starts.push_back(tile.start);
    const InstructionId index = code_.binary(Op::Add, code_.iota(ElementType::S32, length, 0),
                                             code_.broadcast(number(starts), length, {}));
    std::optional<InstructionId> is_inside;
    const auto require = [&](int64_t bound, ComparisonDirection direction) {
      const InstructionId one =
          code_.compare(index, code_.broadcast(code_.number(bound), length, {}), direction);
      is_inside = is_inside ? code_.binary(Op::And, *is_inside, one) : one;
    };
    if (halo_.first_row() < 0) require(0, ComparisonDirection::Ge);
    if (halo_.last_row() > halo_.rows()) require(halo_.rows(), ComparisonDirection::Lt);
    return code_.select_each(code_.broadcast(*is_inside, dims, {static_cast<int64_t>(dim_)}), value,
                             code_.broadcast(padding, dims, {}));
  }

  OpPartition& op_;
  LocalCode code_;
  const Halo& halo_;
  std::span<const Shard> arrays_;
  const size_t dim_;
  const AxisSharding& sharding_;
  const DeviceTiles grid_;
  std::vector<Rows> rows_;
};

}  // namespace

InstructionId number_by_tile(LocalCode& code, const AxisSharding& sharding, size_t dim,
                             std::span<const int64_t> numbers) {
  const int64_t step = numbers.size() > 1 ? numbers[1] - numbers[0] : 0;
  bool is_linear = true;
  for (size_t i = 1; i < numbers.size(); ++i) is_linear &= numbers[i] - numbers[i - 1] == step;
  if (is_linear && step == 0) return code.number(numbers[0]);
  if (is_linear) {
    const InstructionId tile = code.coordinate(*sharding.mesh, sharding.dims[dim].axes);
    const InstructionId moved = code.scaled(tile, step);
    return numbers[0] == 0 ? moved : code.binary(Op::Add, moved, code.number(numbers[0]));
  }
  const DeviceTiles grid(sharding, Dims(sharding.dims.size(), 0));
  std::vector<Dims> table;
  for (int64_t device = 0; device < grid.devices(); ++device)
    table.push_back({numbers[grid.tile_of(device)[dim]]});
  return code.row(table)[0];
}

InstructionId Halo::exchange(OpPartition& op, std::span<const Shard> arrays, size_t dim,
                             std::optional<InstructionId> padding) const {
  return Exchange(op, *this, arrays, dim).run(padding);
}

}  // namespace hilo
