#include <algorithm>

#include "report/advice.h"
#include "report/report_parts.h"
#include "report/usage.h"

namespace hilo {

TemporarySpace::TemporarySpace(const MemoryPicture& picture, const PictureSpace& space)
    : blocks_(temporary_blocks(picture, space.space)), alignment_(space.alignment) {
  changes_.assign(space.in_use.size() + 1, 0);
  for (size_t b = 0; b < blocks_.size(); ++b) {
    for (size_t p = 0; p < blocks_[b].values.size(); ++p) places_[blocks_[b].values[p]] = {b, p};
    add_usage(changes_, rounded(blocks_[b].block));
  }
  const std::vector<int64_t> usage = usage_from(changes_);
  peak_moment_ = std::max_element(usage.begin(), usage.end()) - usage.begin();
}

bool TemporarySpace::is_at_peak(size_t value) const {
  if (!holds(value)) return false;
  return piece(value).start <= peak_moment_ && peak_moment_ <= piece(value).end;
}

int64_t TemporarySpace::saved_at_peak(const Change& change) const {
  const auto at_peak = [&](const Block& block) {
    int64_t out = 0;
    for (const Piece& piece : rounded(block))
      if (piece.start <= peak_moment_ && peak_moment_ <= piece.end) out += piece.bytes;
    return out;
  };
  int64_t out = 0;
  std::vector<size_t> seen;
  for (const auto& [value, pieces] : change.pieces) {
    const size_t block = places_.at(value).block;
    if (std::find(seen.begin(), seen.end(), block) != seen.end()) continue;
    seen.push_back(block);
    out += at_peak(blocks_[block].block);
  }
  for (const Block& block : changed_blocks(change)) out -= at_peak(block);
  return out;
}

const Piece& TemporarySpace::piece(size_t value) const {
  const Place& place = places_.at(value);
  return blocks_[place.block].block.pieces[place.piece];
}

bool TemporarySpace::is_alone(size_t value) const {
  return blocks_[places_.at(value).block].values.size() == 1;
}

std::vector<Piece> TemporarySpace::rounded(const Block& block) const {
  std::vector<Piece> out = block.pieces;
  for (Piece& piece : out) piece.bytes = round_up_bytes(piece.bytes, alignment_);
  return out;
}

// The blocks that a change touches, as they are then, and those that it adds.
std::vector<Block> TemporarySpace::changed_blocks(const Change& change) const {
  std::map<size_t, Block> touched;
  for (const auto& [value, pieces] : change.pieces) touched[places_.at(value).block];
  std::vector<Block> out;
  for (auto& [b, block] : touched) {
    for (size_t p = 0; p < blocks_[b].values.size(); ++p) {
      const auto changed = change.pieces.find(blocks_[b].values[p]);
      if (changed == change.pieces.end()) block.pieces.push_back(blocks_[b].block.pieces[p]);
      else block.pieces.insert(block.pieces.end(), changed->second.begin(), changed->second.end());
    }
    if (!block.pieces.empty()) out.push_back(std::move(block));
  }
  out.insert(out.end(), change.added.begin(), change.added.end());
  return out;
}

int64_t TemporarySpace::bound(const Change& change) const {
  std::vector<int64_t> changes = changes_;
  std::vector<bool> seen(blocks_.size(), false);
  for (const auto& [value, pieces] : change.pieces) {
    const size_t block = places_.at(value).block;
    if (!seen[block]) add_usage(changes, rounded(blocks_[block].block), -1);
    seen[block] = true;
  }
  for (const Block& block : changed_blocks(change)) add_usage(changes, rounded(block));
  const std::vector<int64_t> usage = usage_from(std::move(changes));
  return usage.empty() ? 0 : *std::max_element(usage.begin(), usage.end());
}

int64_t TemporarySpace::pack_with(const Change& change) const {
  std::vector<Block> blocks = changed_blocks(change);
  std::vector<bool> touched(blocks_.size(), false);
  for (const auto& [value, pieces] : change.pieces) touched[places_.at(value).block] = true;
  for (size_t b = 0; b < blocks_.size(); ++b)
    if (!touched[b]) blocks.push_back(blocks_[b].block);
  constexpr int64_t max_steps = 2'000'000;
  return pack(blocks, alignment_, max_steps / (static_cast<int64_t>(blocks.size()) + 1)).bytes;
}

Dataflow::Dataflow(const MemoryPicture& picture)
    : made(picture.instructions.size()), read(picture.instructions.size()) {
  for (size_t v = 0; v < picture.values.size(); ++v) {
    made[picture.values[v].defined.instruction].push_back(v);
    for (const PicturePosition& use : picture.values[v].uses) read[use.instruction].push_back(v);
  }
}

std::vector<size_t> Dataflow::users(const MemoryPicture& picture, size_t value) const {
  std::vector<size_t> out;
  for (const PicturePosition& use : picture.values[value].uses) {
    const auto& positions = picture.values[value].positions;
    const bool passes_on = std::any_of(positions.begin(), positions.end(), [&](const auto& place) {
      return place.instruction == use.instruction;
    });
    if (!passes_on && std::find(out.begin(), out.end(), use.instruction) == out.end())
      out.push_back(use.instruction);
  }
  return out;
}

std::string at_source(const MemoryPicture& picture, size_t value) {
  const std::string source = short_source(picture.instruction_of(picture.values[value]));
  return source.empty() ? "" : fmt::format(" ({})", source);
}

}  // namespace hilo
