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
  std::vector<size_t> arrays;                     // by tile: of which array they are
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
        grid_(sharding_, arrays[0].shape->dims) {}

  InstructionId run(std::optional<InstructionId> padding) {
    before_ = {0};
    for (int64_t size : halo_.sizes()) before_.push_back(before_.back() + size);
    for (size_t array = 0; array < arrays_.size(); ++array) {
      add_own(array, before_[array]);
      for (const HaloRound& round : halo_.rounds())
        if (round.array == array) add_received(round);
    }
    const auto sorted = sorted_alike();
    const auto row = sorted ? std::nullopt : common_row(padding.has_value());
    const InstructionId out = sorted ? in_a_row(*sorted) : row ? window_of(*row) : written();
    return padding && halo_.reads_padding() ? padded(out, *padding) : out;
  }

 private:
  using Tile = RowWindows::Tile;
  int64_t tiles() const { return std::ssize(halo_.windows().tiles); }
  int64_t rows_of(InstructionId value) const { return code_.dims(value)[dim_]; }
  const Tile& window(int64_t tile) const { return halo_.windows().tiles[tile]; }

  void add_own(size_t array, int64_t before) {
    const int64_t size = halo_.sizes()[array], rows = rows_of(arrays_[array].id);
    Rows out{arrays_[array].id, {}, std::vector<size_t>(tiles(), array)};
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
    Rows out{{}, std::vector<std::optional<int64_t>>(tiles()), std::vector<size_t>(tiles())};
    std::vector<std::optional<int64_t>> first(tiles());
    for (const HaloRound::Transfer& one : round.transfers) {
      first[one.source] = one.row - one.source * rows_of(tile);
      out.positions[one.target] = one.position;
      out.arrays[one.target] = array_of(one);
    }
    const InstructionId sent =
        is_one(first) ? code_.slice_rows(tile, dim_, *one_of(first), *one_of(first) + round.rows)
                      : code_.rows_from(tile, dim_, number(first), round.rows);
    out.value = code_.permute(sent, pairs(round), op_.partitioner().next_channel());
    add(std::move(out));
  }

  // One round may bring rows of several arrays that are one value.
  size_t array_of(const HaloRound::Transfer& one) const {
    const int64_t begin = window(one.target).start + one.position - one.row;
    return static_cast<size_t>(std::ranges::find(before_, begin) - before_.begin());
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

  // Arrays one behind another, in which each device finds its window somewhere.
  struct Row {
    struct Stretch {
      size_t array;  // of rows_
      int64_t begin, end;
    };
    std::vector<Stretch> stretches;
    std::vector<std::optional<int64_t>> starts;  // of windows, by tile
    int64_t begin = 0, end = 0;
  };

  // Nothing where devices have arrays in orders that contradict each other, or as much is written
  // into a buffer with margins. What is not read may be any number, and so may padding that is
  // masked.
  std::optional<Row> common_row(bool masks_padding) const {
    if (halo_.windows().uses_all || (halo_.reads_padding() && !masks_padding)) return std::nullopt;
    Row row{{}, std::vector<std::optional<int64_t>>(tiles()), 0, 0};
    for (int64_t tile = 0; tile < tiles(); ++tile)
      if (!put_window(tile, row)) return std::nullopt;
    for (const auto& start : row.starts)
      if (start) {
        row.begin = std::min(row.begin, *start);
        row.end = std::max(row.end, *start + halo_.windows().length);
      }
    std::ranges::sort(row.stretches, {}, &Row::Stretch::begin);
    return row.end - row.begin < length_with_margins() ? std::optional(std::move(row))
                                                       : std::nullopt;
  }

  // The window of a tile begins so that one of its arrays is where it is already, or behind all.
  bool put_window(int64_t tile, Row& row) const {
    std::vector<int64_t> starts;
    for (const Row::Stretch& one : row.stretches)
      if (const auto at = rows_[one.array].positions[tile]) starts.push_back(one.begin - *at);
    for (const Rows& rows : rows_)
      if (const auto at = rows.positions[tile]) starts.push_back(row.end - *at);
    const auto fits = [&](int64_t start) {
      Row with = row;
      if (!put_arrays(tile, start, with)) return false;
      row = std::move(with);
      return true;
    };
    return starts.empty() || std::ranges::any_of(starts, fits);
  }

  // Each array of the tile's window has a stretch there, or gets one where it is free.
  bool put_arrays(int64_t tile, int64_t start, Row& row) const {
    row.starts[tile] = start;
    for (size_t array = 0; array < rows_.size(); ++array) {
      const auto at = rows_[array].positions[tile];
      if (!at) continue;
      const Row::Stretch wanted{array, start + *at, start + *at + rows_of(rows_[array].value)};
      const auto is_same = [&](const Row::Stretch& one) {
        return one.array == array && one.begin == wanted.begin;
      };
      const auto meets = [&](const Row::Stretch& one) {
        return one.begin < wanted.end && wanted.begin < one.end;
      };
      if (std::ranges::any_of(row.stretches, is_same)) continue;
      if (std::ranges::any_of(row.stretches, meets)) return false;
      row.stretches.push_back(wanted);
      row.begin = std::min(row.begin, wanted.begin);
      row.end = std::max(row.end, wanted.end);
    }
    return true;
  }

  InstructionId window_of(const Row& row) {
    std::vector<InstructionId> out;
    int64_t filled = row.begin;
    for (const Row::Stretch& one : row.stretches) {
      add_zeros(one.begin - filled, out);
      out.push_back(rows_[one.array].value);
      filled = one.end;
    }
    add_zeros(row.end - filled, out);
    std::vector<std::optional<int64_t>> starts = row.starts;
    for (auto& start : starts) start = start.value_or(row.begin) - row.begin;
    return code_.rows_from(code_.concatenate(out, static_cast<int64_t>(dim_)), dim_, number(starts),
                           halo_.windows().length);
  }

  int64_t length_with_margins() const { return halo_.windows().length + 2 * margin(); }
  int64_t margin() const {
    int64_t out = 0;
    for (const Rows& one : rows_) out = std::max(out, rows_of(one.value));
    return out;
  }

  // Rows beyond those that are read are those of the array, or padding of its last tile, over which
  // the next array is written. What a device does not need goes into a margin.
  InstructionId written() {
    const int64_t margin = this->margin(), length = halo_.windows().length;
    const Dims whole = dims_with(length_with_margins());
    InstructionId out = code_.zeros(code_.type(arrays_[0].id), whole);
    std::vector<InstructionId> starts(whole.size(), code_.number(0));
    for (size_t array = 0; array < arrays_.size(); ++array)
      for (const Rows& one : rows_) {
        std::vector<std::optional<int64_t>> at = one.positions;
        for (size_t tile = 0; tile < at.size(); ++tile)
          if (one.arrays[tile] != array) at[tile].reset();
          else if (at[tile]) *at[tile] += margin;
        if (!one_of(at)) continue;
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
  Dims before_;  // rows of the arrays before each
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
