// Reshardings, carried out on arrays that say of each element which one it is.
#include "pass/shard/reshard.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "../ir/random_sharding.h"
#include "text/text.h"

namespace hilo {
namespace {

using Kind = ReshardStep::Kind;

// The elements of a box, by their row-major number in the array.
Dims elements_of(const Dims& dims, const ArrayBox& box) {
  Dims out;
  if (box.elements() == 0) return out;
  const Dims strides = row_major_strides(dims);
  Dims index(box.sizes.size(), 0);
  do {
    int64_t number = 0;
    for (size_t d = 0; d < index.size(); ++d) number += (box.offset[d] + index[d]) * strides[d];
    out.push_back(number);
  } while (next_index(index, box.sizes));
  return out;
}

// What each device holds, and what a step does with it.
class Devices {
 public:
  Devices(const Dims& dims, const AxisSharding& sharding)
      : dims_(dims), held_(mesh_size(*sharding.mesh)) {
    const DeviceTiles tiles(sharding, dims);
    for (int64_t device = 0; device < tiles.devices(); ++device)
      for (int64_t element : elements_of(dims, tiles.box_of(device))) held_[device].insert(element);
  }

  // Elements that went to other devices.
  int64_t run(const ReshardStep& step) {
    if (step.kind == Kind::Chunks) return run_chunks(step);
    const std::vector<Dims> senders = senders_of(step);
    const DeviceTiles wanted(step.to, dims_);
    std::vector<std::set<int64_t>> next(held_.size());
    int64_t moved = 0;
    for (size_t device = 0; device < held_.size(); ++device) {
      std::map<int64_t, int64_t> from;
      for (int64_t element : elements_of(dims_, wanted.box_of(device))) {
        const int64_t sender = find_sender(device, senders[device], element);
        EXPECT_GE(sender, 0) << "nobody in the group has it";
        if (sender < 0) return -1;
        next[device].insert(element);
        if (sender == static_cast<int64_t>(device)) continue;
        ++moved, ++from[sender];
      }
      const auto others = static_cast<int64_t>(senders[device].size()) - 1;
      for (const auto& [sender, elements] : from) {  // all members of a group send as much
        if (others > 0) {
          EXPECT_LE(elements * others * std::ssize(held_), step.elements);
        }
      }
    }
    held_ = std::move(next);
    return moved;
  }

  void expect(const AxisSharding& sharding) {
    const DeviceTiles tiles(sharding, dims_);
    for (int64_t device = 0; device < tiles.devices(); ++device) {
      const Dims wanted = elements_of(dims_, tiles.box_of(device));
      EXPECT_EQ(Dims(held_[device].begin(), held_[device].end()), wanted) << "device " << device;
    }
  }

 private:
  int64_t find_sender(size_t device, const Dims& group, int64_t element) {
    const bool may_keep = std::ranges::count(group, static_cast<int64_t>(device)) > 0;
    if (may_keep && held_[device].contains(element)) return static_cast<int64_t>(device);
    for (int64_t member : group)
      if (held_[member].contains(element)) return member;
    return -1;
  }

  std::vector<Dims> senders_of(const ReshardStep& step) {
    std::vector<Dims> out(held_.size());
    if (step.kind == Kind::Slice) {
      for (size_t device = 0; device < out.size(); ++device)
        out[device] = {static_cast<int64_t>(device)};
    } else if (step.kind == Kind::Permute) {
      const Dims sources = permute_sources(step.from, step.to);
      EXPECT_EQ(std::set<int64_t>(sources.begin(), sources.end()).size(), out.size());
      for (size_t device = 0; device < out.size(); ++device) out[device] = {sources[device]};
    } else {
      for (const Dims& group : device_groups(*step.from.mesh, step.axes))
        for (int64_t device : group) out[device] = group;
    }
    return out;
  }

  int64_t run_chunks(const ReshardStep& step) {
    std::vector<std::set<int64_t>> next(held_.size());
    int64_t moved = 0;
    for (const ChunkRound& round : chunk_rounds(dims_, step.from, step.to)) {
      std::set<int64_t> sources, targets;
      for (const auto& [source, target, offset] : round.transfers) {
        EXPECT_TRUE(sources.insert(source).second);
        EXPECT_TRUE(targets.insert(target).second);
        for (int64_t element : elements_of(dims_, {offset, round.sizes})) {
          EXPECT_TRUE(held_[source].contains(element));
          EXPECT_TRUE(next[target].insert(element).second) << "twice";
          moved += source != target;
        }
      }
    }
    held_ = std::move(next);
    return moved;
  }

  Dims dims_;
  std::vector<std::set<int64_t>> held_;
};

// Bytes of gathering everything and slicing, padding included.
int64_t gather_everything(const Dims& dims, const AxisSharding& from) {
  int64_t tile = 1;
  for (int64_t size : local_dims(dims, from)) tile *= size;
  return mesh_size(*from.mesh) * tile * (axes_size(from.axes()) - 1);
}

std::string described(const Dims& dims, const AxisSharding& from, const AxisSharding& to,
                      const ReshardPlan& plan) {
  const ShardyMeshes meshes = {{"m", from.mesh}};
  std::string out = print_shardy_meshes(meshes) + to_string(Shape::array(ElementType::F32, dims)) +
                    " " + print_shardy(from, meshes) + " -> " + print_shardy(to, meshes) + ":";
  for (const ReshardStep& step : plan.steps)
    out += fmt::format(" {} {}", static_cast<int>(step.kind), print_shardy(step.to, meshes));
  return out;
}

void check_plan(const Dims& dims, const AxisSharding& from, const AxisSharding& to,
                const ReshardOptions& options = {}) {
  const auto plan = plan_reshard(dims, from, to, options);
  ASSERT_TRUE(plan) << to_string(plan.error());
  SCOPED_TRACE(described(dims, from, to, *plan));
  Devices devices(dims, from);
  int64_t moved = 0;
  for (const ReshardStep& step : plan->steps) {
    const int64_t step_moved = devices.run(step);
    EXPECT_LE(step_moved, step.elements);
    moved += step_moved;
  }
  devices.expect(to);
  const bool may_waste = options.max_transfers == 0;
  EXPECT_GE(moved, *reshard_bound(dims, from, to));
  EXPECT_TRUE(may_waste || moved == *reshard_bound(dims, from, to));
  EXPECT_LE(plan->elements, gather_everything(dims, from));
  bool is_even = true;
  for (const AxisSharding* sharding : {&from, &to})
    for (size_t d = 0; d < dims.size(); ++d) is_even &= dims[d] % tile_count(*sharding, d) == 0;
  if (is_even) {
    EXPECT_EQ(plan->elements, moved);
  }
  for (const ReshardStep& step : plan->steps) EXPECT_TRUE(step.kind != Kind::Chunks || !may_waste);
}

class RandomReshard : public testing::TestWithParam<int> {};

TEST_P(RandomReshard, EndsWithTheTilesAtTheBound) {
  RandomSharding random(GetParam());
  for (int round = 0; round < 400; ++round) {
    const SharedMesh mesh = random.mesh(Dims{2, 2, 3, 4, 4, 6, 8}, 3, true);
    if (mesh_size(*mesh) > 64) continue;
    const size_t rank = 1 + static_cast<size_t>(random.number(3));
    const AxisSharding from = random.sharding(mesh, rank, false);
    const AxisSharding to = random.sharding(mesh, rank, false);
    const bool is_even = random.number(2) == 0;
    Dims dims;
    for (size_t d = 0; d < rank; ++d)
      dims.push_back(is_even ? std::lcm(tile_count(from, d), tile_count(to, d))
                             : random.number(rank == 3 ? 9 : 17));
    if (element_count(std::span<const int64_t>(dims)) > 2000) continue;
    ASSERT_NO_FATAL_FAILURE(check_plan(dims, from, to));
    ASSERT_NO_FATAL_FAILURE(check_plan(dims, from, to, {.max_transfers = 0}));
    ASSERT_NO_FATAL_FAILURE(check_plan(dims, from, to, {.max_transfers = 0, .max_states = 2}));
    for (int64_t looks : {0, 100})
      ASSERT_NO_FATAL_FAILURE(check_plan(dims, from, to, {.max_transfers = 0, .max_looks = looks}));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomReshard, testing::Range(0, 10));

TEST(Reshard, MeshesOfOtherOrders) {
  RandomSharding random(7);
  for (int round = 0; round < 100; ++round) {
    const SharedMesh one = random.mesh(Dims{2, 4}, 2, true);
    SharedMesh other = random.mesh(Dims{2, 4}, 2, true);
    if (mesh_size(*one) != mesh_size(*other)) continue;
    const AxisSharding from = random.sharding(one, 2, false), to = random.sharding(other, 2, false);
    ASSERT_NO_FATAL_FAILURE(check_plan({16, 16}, from, to));
  }
}

struct Known {
  std::vector<MeshAxis> mesh;
  Dims dims;
  const char *from, *to;
  double bytes;  // of f32, a device
  std::vector<Kind> kinds;
};

// Bytes: reference measurements of what XLA moves, and the bound where it moves more.
TEST(Reshard, KnownCases) {
  const std::vector<MeshAxis> xy22 = {{"x", 2}, {"y", 2}}, xy24 = {{"x", 2}, {"y", 4}},
                              xyz = {{"x", 2}, {"y", 2}, {"z", 2}};
  const Known cases[] = {
      {xy22, {16, 24}, "[{\"x\"}, {}]", "[{}, {}]", 768, {Kind::AllGather}},
      {xy22, {16, 24}, "[{}, {}]", "[{\"x\"}, {\"y\"}]", 0, {Kind::Slice}},
      {xy22, {16, 24}, "[{\"x\"}, {}]", "[{\"y\"}, {}]", 384, {Kind::Permute}},
      {xy22, {16, 24}, "[{\"x\"}, {}]", "[{}, {\"x\"}]", 384, {Kind::AllToAll}},
      {xy22, {16, 24}, "[{\"x\", \"y\"}, {}]", "[{}, {\"x\", \"y\"}]", 288, {Kind::AllToAll}},
      // A dimension at a time: nothing has to be put in order.
      {xy22, {16, 24}, "[{\"x\"}, {\"y\"}]", "[{}, {}]", 1152, {Kind::AllGather, Kind::AllGather}},
      {xy22, {16, 24}, "[{\"x\", \"y\"}, {}]", "[{}, {\"x\"}]", 576, {Kind::AllToAll}},
      {xy24, {16, 32}, "[{\"x\"}, {\"y\"}]", "[{\"y\"}, {\"x\"}]", 192, {Kind::Chunks}},
      {xy24, {16, 32}, "[{\"y\"}, {}]", "[{\"x\"}, {\"y\"}]", 192, {Kind::Chunks}},
      {xyz,
       {64, 64},
       "[{\"x\", \"z\"}, {\"y\"}]",
       "[{\"y\"}, {\"z\", \"x\"}]",
       1792,
       {Kind::Chunks}},
      {xyz,
       {32, 32, 2},
       "[{\"x\"}, {\"y\"}, {\"z\"}]",
       "[{\"z\"}, {\"y\"}, {\"x\"}]",
       512,
       {Kind::Permute}},
  };
  for (const Known& known : cases) {
    const ShardyMeshes meshes = {{"m", *make_mesh(Mesh{known.mesh, {}, {}})}};
    const auto both = parse_shardy_shardings(
        fmt::format("#sdy.sharding_per_value<[<@m, {}>, <@m, {}>]>", known.from, known.to), meshes);
    ASSERT_TRUE(both) << to_string(both.error());
    const auto plan = plan_reshard(known.dims, both->at(0), both->at(1));
    ASSERT_TRUE(plan);
    SCOPED_TRACE(described(known.dims, both->at(0), both->at(1), *plan));
    EXPECT_EQ(plan->bytes_per_device(ElementType::F32), known.bytes);
    std::vector<Kind> kinds;
    for (const ReshardStep& step : plan->steps) kinds.push_back(step.kind);
    EXPECT_EQ(kinds, known.kinds);
    check_plan(known.dims, both->at(0), both->at(1));
  }
}

// Twelve axes, in another order, of dimensions that they do not divide: a search ends.
TEST(Reshard, ManyAxesOfUnevenTiles) {
  constexpr size_t count = 12;
  Mesh mesh;
  for (size_t i = 0; i < count; ++i) mesh.axes.push_back({fmt::format("a{}", i), 2});
  AxisSharding from = replicated_sharding(*make_mesh(std::move(mesh)), 2), to = from;
  for (size_t i = 0; i < count; ++i) {
    from.dims[i % 2].axes.push_back({i, 1, 2});
    to.dims[i * 2 / count].axes.push_back({count - 1 - i, 1, 2});
  }
  const Dims dims = {1000, 999};
  const auto plan = plan_reshard(dims, from, to, {.max_transfers = 0});
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_LE(plan->elements, gather_everything(dims, from));
  check_plan({5, 6}, from, to, {.max_transfers = 0});
}

// Four rounds of chunks, or an exchange and a permute that send half as much more.
TEST(Reshard, LatencyMakesChainsOfChunks) {
  const ShardyMeshes meshes = {{"m", *make_mesh(Mesh{{{"x", 4}, {"y", 4}, {"z", 4}}, {}, {}})}};
  const auto both = parse_shardy_shardings(
      "#sdy.sharding_per_value<[<@m, [{\"x\", \"y\"}, {\"z\"}]>, <@m, [{\"x\"}, {\"y\", \"z\"}]>]>",
      meshes);
  ASSERT_TRUE(both);
  const Dims dims = {64, 64};
  const auto chunks = plan_reshard(dims, both->at(0), both->at(1));
  const auto chain = plan_reshard(dims, both->at(0), both->at(1), {.collective_elements = 1000});
  ASSERT_TRUE(chunks && chain);
  EXPECT_EQ(chunks->steps[0].kind, Kind::Chunks);
  EXPECT_EQ(chunks->elements, *reshard_bound(dims, both->at(0), both->at(1)));
  EXPECT_LT(chain->collectives, chunks->collectives);
  EXPECT_GT(chain->elements, chunks->elements);
  check_plan(dims, both->at(0), both->at(1));
}

TEST(Reshard, MistakesSayWhatWasExpected) {
  const SharedMesh mesh = *make_mesh(Mesh{{{"x", 2}, {"y", 4}}, {}, {}});
  AxisSharding manual = replicated_sharding(mesh, 2), unreduced = manual;
  manual.manual = {{0, 1, 2}};
  unreduced.unreduced = {{0, 1, 2}};
  const AxisSharding plain = replicated_sharding(mesh, 2),
                     small = replicated_sharding(flat_mesh(4), 2);
  const Dims dims = {8, 8};
  EXPECT_EQ(plan_reshard(dims, plain, replicated_sharding(mesh, 1)).error().kind, ErrorKind::Shape);
  EXPECT_EQ(plan_reshard(dims, plain, small).error().message,
            "expected shardings over the same devices, found 8 and 4");
  EXPECT_EQ(plan_reshard(dims, plain, manual).error().kind, ErrorKind::Structure);
  EXPECT_EQ(plan_reshard(dims, plain, unreduced).error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(reshard_bound(dims, unreduced, plain).error().kind, ErrorKind::Unsupported);
}

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The shardings that a value of a program goes through, and the bytes of the changes.
double bytes_of_chain(const Module& module) {
  const auto meshes =
      parse_shardy_meshes(module.header.frontend_attributes.at("xla.sdy.meshes").text);
  double out = 0;
  std::optional<AxisSharding> last;
  for (const Instruction& instruction : module.instructions) {
    const auto& attributes = module.extra(instruction).frontend_attributes;
    const auto found = attributes.find("xla.sdy.sharding");
    if (found == attributes.end()) continue;
    const auto shardings = parse_shardy_shardings(found->second.text, *meshes);
    EXPECT_TRUE(shardings) << to_string(shardings.error());
    const Shape& shape = module.shape(instruction);
    if (last) {
      const auto plan = plan_reshard(shape.dims, *last, shardings->at(0));
      EXPECT_TRUE(plan) << to_string(plan.error());
      out += plan->bytes_per_device(shape.type);
      check_plan(shape.dims, *last, shardings->at(0));
    }
    last = shardings->at(0);
  }
  return out;
}

// Of the rows of table.md: XLA's bytes, and the least possible or -1.
TEST(Reshard, CorpusIsAtTheLowerBound) {
  const fs::path corpus = fs::path(HILO_SHARED) / "corpus/spmd";
  if (HILO_SHARED[0] == '\0' || !fs::exists(corpus)) GTEST_SKIP() << "no corpus";
  std::ifstream table(corpus / "table.md");
  int checked = 0;
  for (std::string line; std::getline(table, line);) {
    if (!line.starts_with("| reshard") || line.starts_with("| reshard_chain")) continue;
    std::vector<std::string> cells;
    for (size_t at = 1; at < line.size(); at = line.find('|', at) + 1)
      cells.push_back(line.substr(at + 1, line.find('|', at) - at - 2));
    SCOPED_TRACE(cells[0]);
    const auto module = parse(read(corpus / cells[0] / "before.hlo"));
    ASSERT_TRUE(module) << to_string(module.error());
    const double bytes = bytes_of_chain(*module);
    EXPECT_LE(bytes, std::stod(cells[2]));
    if (cells[6].find_first_of("0123456789") != std::string::npos) {
      EXPECT_EQ(bytes, std::stod(cells[6]));
    }
    ++checked;
  }
  EXPECT_EQ(checked, 13);
}

}  // namespace
}  // namespace hilo
