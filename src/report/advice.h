// Private to report: what would change, and what packing it again gives.
#pragma once

#include <map>
#include <unordered_map>

#include "report/picture.h"

namespace hilo {

// New pieces of temporary values of one space; a value without pieces is gone. `added` stand alone.
struct Change {
  std::map<size_t, std::vector<Piece>> pieces;  // by value; `at` counts in its buffer
  std::vector<Block> added;
};

// The temporary values of a space, to be packed again with changes.
class TemporarySpace {
 public:
  TemporarySpace(const MemoryPicture& picture, const PictureSpace& space);

  bool holds(size_t value) const { return places_.contains(value); }
  // The value's piece, and whether its buffer holds nothing else.
  const Piece& piece(size_t value) const;
  bool is_alone(size_t value) const;
  size_t block_count() const { return blocks_.size(); }

  int64_t peak_moment() const { return peak_moment_; }
  bool is_at_peak(size_t value) const;
  // Bytes less at the peak after the change: what a change saves is not more.
  int64_t saved_at_peak(const Change& change) const;
  // The most bytes there at one moment after the change: no packing is smaller.
  int64_t bound(const Change& change) const;
  int64_t pack_with(const Change& change) const;

 private:
  struct Place {
    size_t block = 0, piece = 0;
  };
  std::vector<Block> changed_blocks(const Change& change) const;
  std::vector<Piece> rounded(const Block& block) const;

  std::vector<PlacedBlock> blocks_;
  std::unordered_map<size_t, Place> places_;  // by value
  std::vector<int64_t> changes_;              // of the rounded usage, from moment to moment
  int64_t alignment_ = 1, peak_moment_ = 0;
};

// Who makes and who reads values.
struct Dataflow {
  explicit Dataflow(const MemoryPicture& picture);
  std::vector<std::vector<size_t>> made, read;  // values, by instruction
  // Instructions that read the value for more than to pass it on.
  std::vector<size_t> users(const MemoryPicture& picture, size_t value) const;
};

struct Candidate {
  Advice advice;  // without figures
  Change change;
  int64_t bound = 0;
};
using Candidates = std::vector<Candidate>;

// Each adds changes of one kind that might help at the peak of the temporary values.
void propose_dropped_copies(const MemoryPicture& picture, const Dataflow& flow,
                            const TemporarySpace& space, Candidates& out);
void propose_recomputing(const MemoryPicture& picture, const Dataflow& flow,
                         const TemporarySpace& space, Candidates& out);
void propose_other_layouts(const MemoryPicture& picture, const TemporarySpace& space,
                           Candidates& out);
void propose_narrower_types(const MemoryPicture& picture, const TemporarySpace& space,
                            Candidates& out);
// These need no packing: results that could lie where a parameter lay.
void advise_donations(MemoryPicture& picture, const Dataflow& flow);

// "dimension 1 of 4 takes 128": those that the tile of a shape pads; "" when none.
std::string padded_dims(const Shape& shape);
// The order of dimensions with the fewest padded bytes, the tiles as they are.
Shape min_padded_shape(const Shape& shape);
// "fusion.1, fusion.2 and 3 more (model.py:12)"
std::string names_of(const MemoryPicture& picture, const std::vector<size_t>& values);

// What is to be done about an out-of-memory message: by its listed buffers, by the memory that
// single instructions take, and by what a runtime says of its allocator.
void advise_on_buffers(MemoryPicture& picture);
void advise_on_scoped(MemoryPicture& picture);
void advise_on_runtime(MemoryPicture& picture);

// All of these, but for other plans. `repack`: whether the same values might lie better elsewhere,
// which is no question where plan() has searched longer.
void advise_at_peaks(MemoryPicture& picture, bool repack);

// Most bytes first, and the dozen best alone.
void sort_advice(MemoryPicture& picture);

// " (model.py:12)", or nothing.
std::string at_source(const MemoryPicture& picture, size_t value);

}  // namespace hilo
