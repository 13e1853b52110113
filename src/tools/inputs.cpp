#include "tools/inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "report/report.h"
#include "tools/array_file.h"
#include "tools/input_spec.h"

namespace hilo::tools {
namespace {

// The tuple or array of `shape` from consecutive leaves.
Literal assemble(const Shape& shape, std::span<Literal>& leaves) {
  if (!shape.is_tuple()) {
    Literal out = std::move(leaves.front());
    leaves = leaves.subspan(1);
    return out;
  }
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) elements.push_back(assemble(element, leaves));
  return Literal::tuple(std::move(elements));
}

// From the file: the array of this leaf on this device, or of this leaf alone.
Result<std::optional<Literal>> from_file(ArrayFile& file, const ParameterLeaf& leaf, int64_t number,
                                         int64_t device) {
  for (const std::string& name : {array_name("in", number, device), array_name("in", number, {})}) {
    if (!file.has(name)) continue;
    HILO_TRY(Literal read, file.read(name));
    auto fitted = reinterpret_as(read, leaf.shape);
    if (!fitted)
      return fail(ErrorKind::Input, "{} for parameter {}: expected {}, {}", name, leaf.name,
                  to_string_without_layout(leaf.shape), fitted.error().message);
    return std::optional(std::move(*fitted));
  }
  return std::optional<Literal>();
}

Result<std::optional<Literal>> from_specs(const std::vector<InputSpec>& specs,
                                          const ParameterLeaf& leaf, int64_t number,
                                          int64_t device) {
  for (const std::optional<int64_t> which : {std::optional(device), std::optional<int64_t>()})
    for (const InputSpec& spec : specs) {
      if (spec.leaf != number || spec.device != which) continue;
      HILO_TRY(Literal read, read_input(spec, leaf.name, leaf.shape));
      return std::optional(std::move(read));
    }
  return std::optional<Literal>();
}

std::string missing_message(const Module& module, const ParameterLeaf& leaf, int64_t number,
                            int64_t device, const std::string& file) {
  return fmt::format("{} has no {} nor {} for parameter {} {} of {}", file,
                     array_name("in", number, {}), array_name("in", number, device), leaf.name,
                     to_string_without_layout(leaf.shape), module.header.name);
}

// The leaf that a spec names; a name of its own for each leaf, as "p{1}" of a tuple.
Result<int64_t> named_leaf(const Module& module, const std::vector<ParameterLeaf>& leaves,
                           const std::string& given, const std::string& name) {
  const auto found = std::ranges::find(leaves, name, &ParameterLeaf::name);
  if (found != leaves.end()) return found - leaves.begin();
  std::vector<std::string_view> names;
  constexpr size_t max_shown = 8;
  for (const ParameterLeaf& leaf : leaves)
    if (names.size() < max_shown) names.push_back(leaf.name);
  return fail(ErrorKind::Usage,
              "{}: '{}' is neither a shape as in 4x8xf32=0.5 nor a parameter of {}, which has {}{}",
              given, name, module.header.name,
              names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
              leaves.size() > max_shown ? ", ..." : "");
}

// With the number of its leaf in each. One for all devices and one for a single device of them are
// not the same twice: the latter counts there.
Result<std::vector<InputSpec>> read_specs(const Module& module,
                                          const std::vector<ParameterLeaf>& leaves, int64_t devices,
                                          const InputOptions& options) {
  std::vector<InputSpec> out;
  for (const std::string& text : options.specs) {
    const std::string given = fmt::format("{}={}", options.option, text);
    InputSpec spec = parse_input_spec(text);
    if (!spec.name.empty()) {
      HILO_TRY(spec.leaf, named_leaf(module, leaves, given, spec.name));
    }
    const int64_t leaf = spec.leaf.value_or(std::ssize(out));
    if (leaf < 0 || leaf >= std::ssize(leaves))
      return fail(ErrorKind::Usage, "{}: {} has {}", given, module.header.name,
                  counted(std::ssize(leaves), "parameter array"));
    if (spec.device && (*spec.device < 0 || *spec.device >= devices))
      return fail(ErrorKind::Usage, "{}: there is no device {}: {} runs on {}, numbered from 0",
                  given, *spec.device, module.header.name, counted(devices, "device"));
    spec.leaf = leaf;
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i].leaf == spec.leaf && out[i].device == spec.device)
        return fail(ErrorKind::Usage, "{}: parameter {} is given by {}={} already", given,
                    leaves[leaf].name, options.option, options.specs[i]);
    out.push_back(std::move(spec));
  }
  return out;
}

}  // namespace

std::string array_name(std::string_view prefix, int64_t leaf, std::optional<int64_t> device) {
  return device ? fmt::format("{}_{}_dev{}", prefix, leaf, *device)
                : fmt::format("{}_{}", prefix, leaf);
}

std::vector<ParameterLeaf> parameter_leaves(const Module& module) {
  std::vector<ParameterLeaf> out;
  const auto& parameters = module[module.entry].parameters;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const Instruction& parameter = module[parameters[p]];
    const Sharding* const sharding = module.extra(parameter).sharding.get();
    const bool is_tuple = sharding && sharding->kind == Sharding::Kind::Tuple;
    size_t number = 0;
    for_each_leaf(module.shape(parameter), [&](const Shape& leaf, std::span<const int64_t> index) {
      std::string name(parameter.name);
      for (size_t i = 0; i < index.size(); ++i)
        name += fmt::format("{}{}", i ? "," : "{", index[i]);
      if (!index.empty()) name += "}";
      const Sharding* own = sharding;
      if (is_tuple)
        own = number < sharding->elements.size() ? &sharding->elements[number] : nullptr;
      ++number;
      out.push_back({static_cast<int64_t>(p), name, leaf, own});
    });
  }
  return out;
}

// Shardings are over the partitions of one replica, or over all devices where none are named.
Dims first_holders(const Module& module, const ParameterLeaf& leaf, int64_t devices) {
  Dims out(static_cast<size_t>(devices));
  std::iota(out.begin(), out.end(), 0);
  const int64_t named = module.header.num_partitions, partitions = named > 1 ? named : devices;
  if (!leaf.sharding || leaf.sharding->kind == Sharding::Kind::Unknown || !leaf.shape.is_array() ||
      devices % partitions != 0)
    return out;
  const auto sharding =
      axis_sharding(*leaf.sharding, leaf.shape.dims.size(), flat_mesh(partitions));
  if (!sharding || is_single_device(*sharding->mesh) || mesh_size(*sharding->mesh) != partitions)
    return out;
  SubAxes apart = sharding->axes();
  for (const SubAxes& more : {sharding->unreduced, sharding->manual})
    apart.insert(apart.end(), more.begin(), more.end());
  const Mesh& mesh = *sharding->mesh;
  const SubAxes along = axes_outside(mesh, split_mesh(mesh, apart), apart);
  for (const Dims& group : device_groups(mesh, along)) {
    const int64_t first = *std::ranges::min_element(group);
    for (int64_t replica = 0; replica < devices; replica += partitions)
      for (const int64_t device : group) out[replica + device] = replica + first;
  }
  return out;
}

Result<std::optional<bool>> has_device_inputs(const std::string& path) {
  if (path.empty()) return std::optional<bool>();
  HILO_TRY(ArrayFile file, ArrayFile::open(path));
  const auto& names = file.names();
  const bool any = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("in_") && name.find("_dev") != std::string::npos &&
           !name.ends_with("_dev0");
  });
  return std::optional(any);
}

Result<std::optional<std::string>> unused_arrays(const std::string& path, std::string_view prefix,
                                                 int64_t leaves, int64_t devices) {
  HILO_TRY(const ArrayFile file, ArrayFile::open(path));
  std::set<std::string> known;
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    known.insert(array_name(prefix, leaf, {}));
    for (int64_t device = 0; device < devices; ++device)
      known.insert(array_name(prefix, leaf, device));
  }
  std::vector<std::string> unused;
  for (const std::string& name : file.names())
    if (name.starts_with(fmt::format("{}_", prefix)) && !known.contains(name))
      unused.push_back(name);
  if (unused.empty()) return std::optional<std::string>();
  const size_t shown = std::min<size_t>(unused.size(), 3);
  return std::optional(fmt::format(
      "{} has {}{}, which nothing uses: there {} {} on {}", path,
      fmt::join(std::span(unused).first(shown), ", "),
      unused.size() > shown ? fmt::format(" and {} more", unused.size() - shown) : "",
      leaves == 1 ? "is" : "are", counted(leaves, "array"), counted(devices, "device")));
}

int64_t parameter_bytes(const Module& module, int64_t devices) {
  int64_t out = 0;
  for (const InstructionId parameter : module[module.entry].parameters)
    if (__builtin_add_overflow(out, literal_bytes(module.shape(parameter)), &out))
      return uncountable_bytes;
  return __builtin_mul_overflow(out, devices, &out) ? uncountable_bytes : out;
}

Result<std::vector<Shape>> shapes_of_inputs(const InputOptions& options) {
  std::vector<Shape> out;
  if (!options.file.empty()) {
    HILO_TRY(const ArrayFile file, ArrayFile::open(options.file));
    for (int64_t leaf = 0;; ++leaf) {
      std::string name = array_name("in", leaf, {});
      if (!file.has(name)) name = array_name("in", leaf, 0);
      if (!file.has(name)) break;
      HILO_TRY(const Literal read, file.read(name));
      out.push_back(read.shape());
    }
  }
  constexpr int64_t max_leaves = 1 << 20;
  int64_t next = 0;
  for (const std::string& text : options.specs) {
    const InputSpec spec = parse_input_spec(text);
    const int64_t leaf = spec.leaf.value_or(next++);
    HILO_TRY(const auto shape, stated_shape(spec));
    if (!shape || !spec.name.empty() || leaf < 0 || leaf >= max_leaves) continue;
    if (leaf >= std::ssize(out)) out.resize(static_cast<size_t>(leaf) + 1);
    out[static_cast<size_t>(leaf)] = *shape;
  }
  return out;
}

Result<Inputs> make_inputs(const Module& module, int64_t devices, const InputOptions& options) {
  std::vector<int64_t> all(static_cast<size_t>(devices));
  std::iota(all.begin(), all.end(), 0);
  return make_inputs(module, all, devices, options);
}

Result<Inputs> make_inputs(const Module& module, std::span<const int64_t> local, int64_t devices,
                           const InputOptions& options) {
  const std::vector<ParameterLeaf> leaves = parameter_leaves(module);
  HILO_TRY(const std::vector<InputSpec> specs, read_specs(module, leaves, devices, options));
  std::optional<ArrayFile> file;
  if (!options.file.empty()) {
    HILO_TRY(file, ArrayFile::open(options.file));
  }
  std::vector<Dims> first;
  for (const ParameterLeaf& leaf : leaves) first.push_back(first_holders(module, leaf, devices));
  Inputs out;
  for (const int64_t device : local) {
    std::vector<Literal> values;
    for (size_t i = 0; i < leaves.size(); ++i) {
      const int64_t number = static_cast<int64_t>(i);
      HILO_TRY(std::optional<Literal> value, from_specs(specs, leaves[i], number, device));
      if (!value && file) {
        HILO_TRY(value, from_file(*file, leaves[i], number, device));
        if (!value && leaves[i].shape.is_array())
          return fail(ErrorKind::Input, "{}",
                      missing_message(module, leaves[i], number, device, options.file));
      }
      if (!value) value = random_input(leaves[i].shape, options.seed, number, first[i][device]);
      values.push_back(std::move(*value));
    }
    std::span<Literal> rest = values;
    auto& parameters = out.devices.emplace_back();
    for (InstructionId parameter : module[module.entry].parameters)
      parameters.push_back(assemble(module.shape(parameter), rest));
  }
  return out;
}

}  // namespace hilo::tools
