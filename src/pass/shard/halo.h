// Halo exchange: each device gets the rows of a dimension that it works on from the devices that
// hold them, by collective-permutes of those rows alone. Private to `pass/shard`.
#pragma once

#include "pass/shard/op_partition.h"

namespace hilo {

// What devices work on, by their tile of a dimension. Rows are numbered over arrays that stand one
// behind another; outside of them is padding.
struct RowWindows {
  struct Tile {
    int64_t start = 0;           // the first row of the window
    int64_t begin = 0, end = 0;  // rows in it that are read
  };
  int64_t length = 0;  // of a window, alike on all devices
  // Rows that are not read meet zeros that others stand for, and must be numbers all the same.
  bool uses_all = false;
  std::vector<Tile> tiles;
};

// One collective-permute of so many rows of an array.
struct HaloRound {
  struct Transfer {
    int64_t source, target;  // tiles
    int64_t row;             // the first, counted from the array's begin
    int64_t position;        // of it in the target's window
  };
  size_t array = 0;
  int64_t rows = 0;
  std::vector<Transfer> transfers;  // each tile is a source once at most, and a target
};

class Halo {
 public:
  // Each array is cut into as many tiles as there are windows; `tile_rows`: of a tile, where not
  // the size is cut but a major part of it. `values`: arrays of the same number are one value.
  Halo(Dims sizes, RowWindows windows, std::optional<int64_t> tile_rows = std::nullopt,
       std::vector<size_t> values = {});

  double rows_sent() const;  // by a device, on average
  bool reads_padding() const { return first_row() < 0 || last_row() > rows(); }
  // Of all arrays, and from the first to behind the last that any device uses.
  int64_t rows() const;
  int64_t first_row() const;
  int64_t last_row() const;
  const RowWindows& windows() const { return windows_; }
  const Dims& sizes() const { return sizes_; }
  const std::vector<HaloRound>& rounds() const { return rounds_; }

  // The window of each device. Rows that are read outside of the arrays are `padding`, a scalar.
  InstructionId exchange(OpPartition& op, std::span<const Shard> arrays, size_t dim,
                         std::optional<InstructionId> padding) const;

 private:
  void add_rounds(size_t array);
  void merge_rounds(bool at_any_position);
  bool may_merge(const HaloRound& a, const HaloRound& b, bool at_any_position) const;
  bool stand_alike() const;

  Dims sizes_;
  RowWindows windows_;
  std::vector<size_t> values_;
  Dims before_, tile_rows_;
  std::vector<HaloRound> rounds_;
};

// Bytes that a device sends for exchanges in these dimensions of its tile, one after another; each
// collective counts as one more.
double bytes_to_exchange(const Shape& local, std::span<const int64_t> dims,
                         std::span<const Halo> halos);
// s32: of the numbers by tile of a dimension, that of this device's.
InstructionId number_by_tile(LocalCode& code, const AxisSharding& sharding, size_t dim,
                             std::span<const int64_t> numbers);

}  // namespace hilo
