// Which rows pads, slices, reversals and concatenations bring to each tile of their result, and
// what devices send for it. Private to `pass/shard`.
#pragma once

#include "pass/shard/halo.h"

namespace hilo {

// Of a pad or a slice: windows of one element in the operand.
Window window_of_shift(const Module& module, InstructionId id);

// The rows of each tile of a reversed dimension, in the order of the operand.
std::vector<Halo> halos_of_reverse(const Module& module, InstructionId id,
                                   const AxisSharding& sharding);
// Whether no tile of the dimensions has padding, so that whole tiles are reversed.
bool are_filled(const Shape& shape, const AxisSharding& sharding, const Dims& dims);
// Pairs of devices whose tiles mirror each other in these dimensions.
std::vector<std::pair<int64_t, int64_t>> mirrored(const Shape& shape, const AxisSharding& sharding,
                                                  const Dims& dims);

// What a concatenation brings to each tile along its dimension. Where an operand is the end of an
// array in front, or the beginning of one at the end, `sources` has the array: rolls are one
// exchange. Else it is empty.
using ConcatenationSources = std::vector<std::optional<InstructionId>>;
ConcatenationSources concatenation_sources(const Module& module, InstructionId id);
Halo halo_of_concatenation(const Module& module, InstructionId id,
                           const ConcatenationSources& sources, int64_t tiles);
double bytes_to_concatenate(const Module& module, InstructionId id,
                            const ConcatenationSources& sources, const AxisSharding& sharding);

// Bytes that a device sends when the op's tied arrays are sharded so, each collective counting as
// one more; 0 of other ops. An array that a concatenation reads through slices is taken to be
// sharded so too.
double bytes_to_shift(const Module& module, InstructionId id, const AxisSharding& sharding);

}  // namespace hilo
