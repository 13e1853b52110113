// Private to report: what makers, readers and writers of a MemoryPicture share.
#pragma once

#include "report/report.h"

namespace hilo {

// Sums of sizes that a stranger wrote: they saturate at INT64_MAX.
int64_t add_bytes(int64_t a, int64_t b);
int64_t round_up_bytes(int64_t bytes, int64_t alignment);
// XLA's way to write bytes: "512B", "32.0KiB", "1.26GiB"; "more than 1 EiB" of what is not counted.
std::string human_bytes(int64_t bytes);
// "/src/model.py:12", or "".
std::string source_text(const PictureInstruction& instruction);
// "{0,1}"
std::string text_of_index(const Dims& index);
// "<31 constant.16 @0>"
std::string label_of(const MemoryPicture& picture, const PictureValue& value);

void sort_by_size(const MemoryPicture& picture, std::vector<size_t>& values);  // then by name

// Values that lie in one place: those of one buffer, a piece for each.
struct PlacedBlock {
  Block block;
  std::vector<size_t> values;  // by piece
};
// Of the values of a space's temporary allocations.
std::vector<PlacedBlock> temporary_blocks(const MemoryPicture& picture, int64_t space);

// Two values that overlap without sharing a place while both are alive.
struct PlaceConflict {
  size_t allocation = 0, first = 0, second = 0;
};
// Makes one buffer of a value and those that it shares a place with, or takes one over from at the
// moment when they end; returns the overlaps at other moments.
std::vector<PlaceConflict> join_places(MemoryPicture& picture);

// Fills spaces from allocations and values. Names, capacities and alignments are the machine's;
// `alignments_from_offsets`: what the offsets of a dump show where that is less.
void fill_spaces(MemoryPicture& picture, const Machine* machine, bool alignments_from_offsets);
// The moment of XLA's peak from ranges and unpadded bytes, or -1.
int64_t find_unpadded_peak(const MemoryPicture& picture);
// Fills unpadded_peak with what is alive at that moment.
void fill_unpadded_peak(MemoryPicture& picture, int64_t moment);

}  // namespace hilo
