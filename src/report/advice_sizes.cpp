// Smaller forms of the same values: dimensions in an order that needs less padding, narrower types.
#include <algorithm>
#include <numeric>

#include "report/advice.h"
#include "text/text.h"

namespace hilo {
namespace {

// Of the shapes that stand at the peak.
std::map<std::string, std::vector<size_t>> values_by_shape(const MemoryPicture& picture,
                                                           const TemporarySpace& space) {
  std::map<std::string, std::vector<size_t>> out;
  for (size_t v = 0; v < picture.values.size(); ++v)
    if (space.is_at_peak(v)) out[picture.values[v].shape];
  for (size_t v = 0; v < picture.values.size(); ++v)
    if (const auto shape = out.find(picture.values[v].shape); shape != out.end() && space.holds(v))
      shape->second.push_back(v);
  return out;
}

void resize(const TemporarySpace& space, const std::vector<size_t>& values, int64_t bytes,
            Change& change) {
  for (const size_t v : values) {
    Piece piece = space.piece(v);
    piece.bytes = bytes;
    change.pieces[v] = {piece};
  }
}

}  // namespace

// The order of dimensions with the fewest padded bytes, the tiles as they are.
Shape min_padded_shape(const Shape& shape) {
  Shape best = shape, tried = shape;
  Dims& order = tried.layout.minor_to_major;
  std::sort(order.begin(), order.end());
  do {
    if (padded_bytes(tried) < padded_bytes(best)) best = tried;
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

// "dimension 2 of 4 takes 128": the two that a tile covers.
std::string padded_dims(const Shape& shape) {
  std::string out;
  const Dims& order = shape.layout.minor_to_major;
  const Dims& tile = shape.layout.tiles[0].dims;
  for (size_t i = 0; i < tile.size() && i < order.size(); ++i) {
    const int64_t size = shape.dims[static_cast<size_t>(order[i])];
    const int64_t unit = tile[tile.size() - 1 - i];
    if (unit > 0 && size % unit != 0)
      out += fmt::format("{}dimension {} of {} takes {}", out.empty() ? "" : ", ", order[i], size,
                         round_up_bytes(size, unit));
  }
  return out;
}

std::string names_of(const MemoryPicture& picture, const std::vector<size_t>& values) {
  constexpr size_t most = 3;
  std::string out;
  for (size_t i = 0; i < std::min(most, values.size()); ++i)
    out += (i == 0 ? "" : ", ") + picture.name_of(picture.values[values[i]]);
  if (values.size() > most) out += fmt::format(" and {} more", values.size() - most);
  return out + at_source(picture, values[0]);
}

void propose_other_layouts(const MemoryPicture& picture, const TemporarySpace& space,
                           Candidates& out) {
  constexpr size_t max_rank = 5;  // 120 orders
  for (const auto& [text, values] : values_by_shape(picture, space)) {
    const PictureValue& value = picture.values[values[0]];
    if (value.unpadded_bytes < 0 || value.bytes - value.unpadded_bytes <= value.bytes / 20)
      continue;
    const auto shape = parse_shape(text);
    if (!shape || !shape->is_array() || shape->layout.tiles.empty() ||
        shape->dims.size() > max_rank || !layout_fault(*shape).empty())
      continue;
    const std::string padded = padded_dims(*shape);
    if (padded.empty()) continue;
    const Shape best = min_padded_shape(*shape);
    const bool reorders = padded_bytes(best) < value.bytes;
    Candidate& candidate = out.emplace_back();
    candidate.advice.kind = "unpad";
    candidate.advice.values = values;
    candidate.advice.text = fmt::format(
        "{}: {} of {} are padding, {}; {}", names_of(picture, values),
        human_bytes(value.bytes - value.unpadded_bytes), human_bytes(value.bytes), padded,
        reorders ? fmt::format("{} would take {}", to_string(best), human_bytes(padded_bytes(best)))
                 : "multiples of the tile would lose nothing");
    resize(space, values, reorders ? padded_bytes(best) : value.unpadded_bytes, candidate.change);
  }
}

void propose_narrower_types(const MemoryPicture& picture, const TemporarySpace& space,
                            Candidates& out) {
  for (const auto& [text, values] : values_by_shape(picture, space)) {
    if (!text.starts_with("f32[") && !text.starts_with("f64[")) continue;
    const bool wide = text.starts_with("f64");
    Candidate& candidate = out.emplace_back();
    candidate.advice.kind = "narrow";
    candidate.advice.values = values;
    candidate.advice.text = fmt::format("keep {} in {} instead of {}", names_of(picture, values),
                                        wide ? "f32" : "bf16", text.substr(0, 3));
    resize(space, values, picture.values[values[0]].bytes / 2, candidate.change);
  }
}

}  // namespace hilo
