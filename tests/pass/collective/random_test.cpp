// Random partitioned programs before and after: integers are the same, bytes never more.
#include "devices.h"

namespace hilo::test {
namespace {

// Lines of a program of s32 arrays of two dimensions over 2 to 8 devices in a mesh of one or two
// axes. The same seed makes the same program.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : dice_(seed) {
    static const std::vector<std::pair<int64_t, int64_t>> meshes = {{2, 1}, {4, 1}, {2, 2},
                                                                    {3, 2}, {2, 4}, {8, 1}};
    std::tie(x_, y_) = dice_.pick(meshes);
  }
  int64_t devices() const { return x_ * y_; }

  std::string text(int ops) {
    lines_ = "  id = u32[] partition-id()\n  i = s32[] convert(id)\n  zero = s32[] constant(0)\n";
    for (int p = 0; p < 3; ++p)
      add(fmt::format("parameter({})", p), {24 * (1 + dice_.below(2)), 24});
    for (int op = 0; op < ops; ++op) step();
    std::string types, names;
    for (size_t k = 0; k < 3; ++k) {
      const Array& one = arrays_[arrays_.size() - 1 - k];
      types += fmt::format("{}{}", k ? ", " : "", type(one.dims));
      names += fmt::format("{}v{}", k ? ", " : "", one.name);
    }
    return module_text(devices(),
                       lines_ + fmt::format("  ROOT out = ({}) tuple({})\n", types, names));
  }

 private:
  struct Array {
    int name;
    Dims dims;
  };

  static std::string list(const Dims& dims) { return fmt::format("{}", fmt::join(dims, ",")); }
  static std::string type(const Dims& dims) { return fmt::format("s32[{}]", list(dims)); }

  void add(const std::string& right, Dims dims) {
    lines_ += fmt::format("  v{} = {} {}\n", next_, type(dims), right);
    arrays_.push_back({next_++, std::move(dims)});
  }
  // What was made last is used more often, so that chains come.
  const Array& pick() {
    const auto count = std::ssize(arrays_);
    const int64_t back = dice_.below(2) ? 0 : dice_.below(count);
    return arrays_[static_cast<size_t>(count - 1 - back)];
  }

  struct Groups {
    std::string text;
    std::vector<Dims> groups;
    int64_t size() const { return std::ssize(groups[0]); }
  };
  Groups groups() {
    Groups out;
    const int64_t axis = y_ == 1 ? 2 : dice_.below(3);  // x, y or both
    if (axis == 0)
      for (int64_t y = 0; y < y_; ++y) {
        Dims& group = out.groups.emplace_back();
        for (int64_t x = 0; x < x_; ++x) group.push_back(x * y_ + y);
      }
    else
      for (int64_t x = 0; x < (axis == 1 ? x_ : 1); ++x) {
        Dims& group = out.groups.emplace_back();
        for (int64_t y = 0; y < (axis == 1 ? y_ : devices()); ++y) group.push_back(x * y_ + y);
      }
    if (dice_.below(4) == 0)
      for (Dims& group : out.groups) std::swap(group[0], group.back());
    std::string each;
    for (const Dims& group : out.groups)
      each += fmt::format("{}{{{}}}", each.empty() ? "" : ",", list(group));
    out.text = fmt::format("channel_id={}, replica_groups={{{}}}", channel_++, each);
    return out;
  }

  void step() {
    const Array one = pick();
    switch (dice_.below(12)) {
      case 0: return elementwise(one);
      case 1:
      case 2:
        return add(fmt::format("all-reduce(v{}), {}, use_global_device_ids=true, to_apply=addi",
                               one.name, groups().text),
                   one.dims);
      case 3: return gather(one);
      case 4: return scatter(one);
      case 5: return permute(one);
      case 6: return exchange(one);
      case 7:
      case 8:
      case 9: return slice(one);
      case 10: return reshape(one);
      default:
        return add(fmt::format("transpose(v{}), dimensions={{1,0}}", one.name),
                   {one.dims[1], one.dims[0]});
    }
  }

  void elementwise(const Array& one) {
    for (int tries = 0; tries < 8; ++tries)
      if (const Array& other = pick(); other.dims == one.dims) {
        static const std::vector<std::string> ops = {"add", "subtract", "maximum", "multiply"};
        return add(fmt::format("{}(v{}, v{})", dice_.pick(ops), one.name, other.name), one.dims);
      }
    add(fmt::format("negate(v{})", one.name), one.dims);
  }

  void gather(const Array& one) {
    const Groups over = groups();
    const auto dim = static_cast<size_t>(dice_.below(2));
    Dims dims = one.dims;
    dims[dim] *= over.size();
    if (dims[0] * dims[1] > 20'000) return;
    add(fmt::format("all-gather(v{}), {}, use_global_device_ids=true, dimensions={{{}}}", one.name,
                    over.text, dim),
        dims);
  }

  void scatter(const Array& one) {
    const Groups over = groups();
    const auto dim = static_cast<size_t>(dice_.below(2));
    Dims dims = one.dims;
    if (dims[dim] % over.size() != 0) return;
    dims[dim] /= over.size();
    add(fmt::format("reduce-scatter(v{}), {}, use_global_device_ids=true, dimensions={{{}}}, "
                    "to_apply=addi",
                    one.name, over.text, dim),
        dims);
  }

  void permute(const Array& one) {
    const int64_t by = dice_.below(devices()), dropped = dice_.below(3 * devices());
    std::string pairs;
    for (int64_t device = 0; device < devices(); ++device)
      if (device != dropped)
        pairs +=
            fmt::format("{}{{{},{}}}", pairs.empty() ? "" : ",", device, (device + by) % devices());
    add(fmt::format("collective-permute(v{}), channel_id={}, source_target_pairs={{{}}}", one.name,
                    channel_++, pairs),
        one.dims);
  }

  void exchange(const Array& one) {
    const Groups over = groups();
    const auto dim = static_cast<size_t>(dice_.below(2));
    if (one.dims[dim] % over.size() != 0) return;
    add(fmt::format("all-to-all(v{}), {}, dimensions={{{}}}", one.name, over.text, dim), one.dims);
  }

  // A start of each device, in one of the ways in which partitioners write it.
  std::string start(int64_t size, int64_t extent) {
    const int64_t room = std::max<int64_t>(1, extent / size);
    Dims table;
    const int64_t kind = dice_.below(5);
    for (int64_t device = 0; device < devices(); ++device) {
      const int64_t tile = kind == 0   ? device
                           : kind == 1 ? device / y_
                           : kind == 2 ? device % y_
                           : kind == 3 ? devices() - 1 - device
                                       : dice_.below(room);
      table.push_back(tile % room * size + (kind == 4 ? dice_.below(3) : 0));
    }
    const int name = next_++;
    if (kind == 1 && dice_.below(2))
      lines_ += fmt::format(
          "  y{0} = s32[] constant({1})\n  n{0} = s32[] constant({2})\n"
          "  m{0} = s32[] constant({3})\n  q{0} = s32[] divide(i, y{0})\n"
          "  r{0} = s32[] remainder(q{0}, m{0})\n"
          "  s{0} = s32[] multiply(r{0}, n{0})\n",
          name, y_, size, room);
    else
      lines_ += fmt::format(
          "  t{0} = s32[{1}] constant({{{2}}})\n"
          "  p{0} = s32[1] dynamic-slice(t{0}, id), dynamic_slice_sizes={{1}}\n"
          "  s{0} = s32[] reshape(p{0})\n",
          name, devices(), list(table));
    return fmt::format("s{}", name);
  }

  void slice(const Array& one) {
    const auto dim = static_cast<size_t>(dice_.below(2));
    const int64_t parts = dice_.below(3) == 0 ? dice_.below(4) + 2
                          : dice_.below(2)    ? devices()
                                              : x_;
    Dims dims = one.dims;
    dims[dim] = std::max<int64_t>(1, dims[dim] / parts);
    std::string starts[] = {"zero", "zero"};
    starts[dim] = start(dims[dim], one.dims[dim]);
    if (dice_.below(4) == 0 && dims[1 - dim] > 1) {
      dims[1 - dim] /= 2;
      starts[1 - dim] = start(dims[1 - dim], one.dims[1 - dim]);
    }
    add(fmt::format("dynamic-slice(v{}, {}, {}), dynamic_slice_sizes={{{}}}", one.name, starts[0],
                    starts[1], list(dims)),
        dims);
  }

  void reshape(const Array& one) {
    const int64_t factor = dice_.below(2) + 2;
    if (one.dims[0] % factor == 0)
      add(fmt::format("reshape(v{})", one.name), {one.dims[0] / factor, one.dims[1] * factor});
  }

  Dice dice_;
  int64_t x_ = 1, y_ = 1;
  int next_ = 0;
  int64_t channel_ = 1;
  std::string lines_;
  std::vector<Array> arrays_;
};

TEST(RandomCollectives, KeepIntegers) {
  int changed = 0;
  double before = 0, after = 0;
  const char* more = std::getenv("HILO_RANDOM_PROGRAMS");
  const uint64_t programs = more ? std::strtoull(more, nullptr, 10) : 100;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    RandomProgram program(seed);
    const std::string text = program.text(4 + static_cast<int>(seed % 12));
    const Module module = parsed(text);
    PipelineOptions options;
    options.verify = true;
    const Module done = after_passes(module, "collectives", options);
    ASSERT_EQ(difference_on_devices(module, done, program.devices(), Keeps::Bits, seed), "")
        << "seed " << seed << "\n"
        << text << "\n"
        << print(done);
    const double old_bytes = sent_bytes(module), new_bytes = sent_bytes(done);
    ASSERT_LE(new_bytes, old_bytes * (1 + 1e-9)) << "seed " << seed << "\n" << text << print(done);
    before += old_bytes, after += new_bytes;
    changed += new_bytes < old_bytes;
  }
  std::printf("%d of %d programs send less, %.3f of the bytes\n", changed,
              static_cast<int>(programs), after / before);
  EXPECT_GT(changed, static_cast<int>(programs) / 3);
}

}  // namespace
}  // namespace hilo::test
