// What no chain of collectives moves without waste: each device gets the boxes that it lacks from
// others that hold them, in rounds of collective-permutes. What a device has already it sends to
// itself, which takes no bytes of a link, where no more rounds are needed so: then most rounds
// bring every device a box, and none has to keep what it holds beside the box.
#include <algorithm>
#include <map>

#include "pass/shard/reshard.h"

namespace hilo {
namespace {

struct Edge {
  int64_t source, target;
  Dims offset;
};

// By device a number of those that stand like it along the axes where each has other values: what
// is manual, and summands.
Dims groups_of_values(const AxisSharding& sharding) {
  const Mesh& mesh = *sharding.mesh;
  Dims out(static_cast<size_t>(mesh_size(mesh)));
  int64_t number = 0;
  SubAxes apart = sharding.manual;
  apart.insert(apart.end(), sharding.unreduced.begin(), sharding.unreduced.end());
  const SubAxes whole = split_mesh(mesh, apart);
  for (const Dims& group : device_groups(mesh, axes_outside(mesh, whole, apart))) {
    for (int64_t device : group) out[static_cast<size_t>(device)] = number;
    ++number;
  }
  return out;
}

// Devices by the index of the tile that they hold and the number of their group.
std::map<Dims, Dims> holders_of(const DeviceTiles& tiles, const Dims& groups) {
  std::map<Dims, Dims> out;
  for (int64_t device = 0; device < tiles.devices(); ++device) {
    Dims key = tiles.tile_of(device);
    key.push_back(groups[static_cast<size_t>(device)]);
    out[std::move(key)].push_back(device);
  }
  return out;
}

// Calls body(tile, box) for each tile of these sizes that meets the box, in order. What it is given
// is good until the next one.
template <class Body>
void for_each_meeting(std::span<const int64_t> tile_dims, const ArrayBox& box, const Body& body) {
  if (box.elements() == 0) return;
  Dims first, counts;
  for (size_t dim = 0; dim < box.sizes.size(); ++dim) {
    first.push_back(box.offset[dim] / tile_dims[dim]);
    counts.push_back((box.offset[dim] + box.sizes[dim] - 1) / tile_dims[dim] - first[dim] + 1);
  }
  Dims index(first.size(), 0), tile = first;
  ArrayBox meeting = box;
  do {
    for (size_t dim = 0; dim < tile.size(); ++dim) {
      tile[dim] = first[dim] + index[dim];
      const int64_t begin = tile[dim] * tile_dims[dim];
      const int64_t end = std::min(begin + tile_dims[dim], box.offset[dim] + box.sizes[dim]);
      meeting.offset[dim] = std::max(begin, box.offset[dim]);
      meeting.sizes[dim] = end - meeting.offset[dim];
    }
    body(std::as_const(tile), std::as_const(meeting));
  } while (next_index(index, counts));
}

// The holder that sends the least so far; of equals, the first one behind the target.
int64_t choose_source(const Dims& holders, std::span<const int64_t> sent, int64_t target) {
  const auto behind = std::ranges::upper_bound(holders, target) - holders.begin();
  int64_t best = -1;
  for (int64_t i = 0; i < std::ssize(holders); ++i) {
    const int64_t holder = holders[(behind + i) % std::ssize(holders)];
    if (best < 0 || sent[holder] < sent[best]) best = holder;
  }
  return best;
}

using EdgesBySizes = std::map<Dims, std::vector<Edge>, std::greater<>>;

// What devices have of their new tiles, as edges to themselves.
EdgesBySizes own_edges(const DeviceTiles& held, const DeviceTiles& wanted) {
  EdgesBySizes out;
  for (int64_t device = 0; device < held.devices(); ++device) {
    ArrayBox box = intersection(held.box_of(device), wanted.box_of(device));
    if (box.elements() > 0)
      out[std::move(box.sizes)].push_back({device, device, std::move(box.offset)});
  }
  return out;
}

// What they lack. `sent`: edges that begin at each device already.
EdgesBySizes foreign_edges(std::span<const int64_t> dims, const AxisSharding& from,
                           const AxisSharding& to, Dims sent) {
  const DeviceTiles held(from, dims), wanted(to, dims);
  const Dims tile_dims = local_dims(dims, from);
  const Dims groups = groups_of_values(from);
  const std::map<Dims, Dims> holders = holders_of(held, groups);
  EdgesBySizes out;
  Dims key;
  for (int64_t target = 0; target < wanted.devices(); ++target) {
    const Dims own = held.tile_of(target);
    for_each_meeting(tile_dims, wanted.box_of(target), [&](const Dims& tile, const ArrayBox& box) {
      if (tile == own) return;
      key.assign(tile.begin(), tile.end());
      key.push_back(groups[static_cast<size_t>(target)]);
      const int64_t source = choose_source(holders.at(key), sent, target);
      ++sent[source];
      out[box.sizes].push_back({source, target, box.offset});
    });
  }
  return out;
}

// Colours the edges so that none has another's colour at its source or target, with as many colours
// as the greatest number of edges at a device: König's theorem. Where the two ends have no free
// colour in common, the path of two colours from one end swaps them.
class Coloring {
 public:
  Coloring(const std::vector<Edge>& edges, int64_t devices) : edges_(edges) {
    Dims out(devices, 0), in(devices, 0);
    for (const Edge& edge : edges)
      colors_ = std::max({colors_, ++out[edge.source], ++in[edge.target]});
    for (auto* at : {&at_source_, &at_target_})
      at->assign(devices, std::vector<int64_t>(colors_, -1));
    color_.resize(edges.size(), -1);
    for (int64_t i = 0; i < std::ssize(edges); ++i) add(i);
  }
  int64_t colors() const { return colors_; }
  int64_t color(size_t edge) const { return color_[edge]; }

 private:
  using Ends = std::vector<std::vector<int64_t>>;  // the edge of each colour at each device

  static int64_t free_color(const std::vector<int64_t>& edges) {
    return std::ranges::find(edges, -1) - edges.begin();
  }

  void add(int64_t edge) {
    const auto& [source, target, offset] = edges_[edge];
    const int64_t a = free_color(at_source_[source]), b = free_color(at_target_[target]);
    if (a != b) swap_path(target, a, b);
    set(edge, a);
  }

  void set(int64_t edge, int64_t color) {
    color_[edge] = color;
    at_source_[edges_[edge].source][color] = edge;
    at_target_[edges_[edge].target][color] = edge;
  }

  // From a target that lacks b and has a: its path of edges a, b, a … gets b, a, b …
  void swap_path(int64_t target, int64_t a, int64_t b) {
    std::vector<int64_t> path;
    int64_t color = a;
    bool from_target = true;
    for (int64_t at = target;; from_target = !from_target, color = a + b - color) {
      const int64_t edge = (from_target ? at_target_ : at_source_)[at][color];
      if (edge < 0) break;
      path.push_back(edge);
      at = from_target ? edges_[edge].source : edges_[edge].target;
    }
    for (int64_t edge : path) {
      at_source_[edges_[edge].source][color_[edge]] = -1;
      at_target_[edges_[edge].target][color_[edge]] = -1;
    }
    for (int64_t edge : path) set(edge, a + b - color_[edge]);
  }

  const std::vector<Edge>& edges_;
  int64_t colors_ = 0;
  Ends at_source_, at_target_;
  std::vector<int64_t> color_;
};

// A device is a target once a round, and a source.
std::vector<ChunkRound> rounds_of(EdgesBySizes edges_by_sizes, int64_t devices) {
  std::vector<ChunkRound> out;
  for (auto& [sizes, edges] : edges_by_sizes) {
    const Coloring coloring(edges, devices);
    const size_t first = out.size();
    out.resize(first + coloring.colors(), ChunkRound{sizes, {}});
    for (size_t i = 0; i < edges.size(); ++i)
      out[first + coloring.color(i)].transfers.push_back(
          {edges[i].source, edges[i].target, std::move(edges[i].offset)});
  }
  return out;
}

int64_t collectives_of(const std::vector<ChunkRound>& rounds) {
  return std::ranges::count_if(rounds, &ChunkRound::communicates);
}

}  // namespace

bool ChunkRound::communicates() const {
  return std::ranges::any_of(transfers,
                             [](const ChunkTransfer& one) { return one.source != one.target; });
}

std::vector<ChunkRound> chunk_rounds(std::span<const int64_t> dims, const AxisSharding& from,
                                     const AxisSharding& to) {
  const int64_t devices = mesh_size(*from.mesh);
  const EdgesBySizes own = own_edges(DeviceTiles(from, dims), DeviceTiles(to, dims));
  std::vector<ChunkRound> apart = rounds_of(own, devices);
  const auto foreign = rounds_of(foreign_edges(dims, from, to, Dims(devices, 0)), devices);
  apart.insert(apart.end(), foreign.begin(), foreign.end());
  Dims sent(devices, 0);
  for (const auto& [sizes, edges] : own)
    for (const Edge& edge : edges) ++sent[edge.source];
  EdgesBySizes all = foreign_edges(dims, from, to, std::move(sent));
  for (const auto& [sizes, edges] : own)
    all[sizes].insert(all[sizes].end(), edges.begin(), edges.end());
  std::vector<ChunkRound> joined = rounds_of(std::move(all), devices);
  return collectives_of(joined) <= collectives_of(apart) ? std::move(joined) : std::move(apart);
}

}  // namespace hilo
