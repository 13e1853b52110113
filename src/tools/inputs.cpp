#include "tools/inputs.h"

#include <algorithm>

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
  for (size_t i = 0; i < specs.size(); ++i) {
    const int64_t wanted = specs[i].leaf.value_or(static_cast<int64_t>(i));
    if (wanted != number || specs[i].device.value_or(device) != device) continue;
    HILO_TRY(Literal read, read_input(specs[i], leaf.name, leaf.shape));
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
    const auto& sharding = module.extra(parameter).sharding;
    const bool replicated = sharding && sharding->kind == Sharding::Kind::Replicated;
    for_each_leaf(module.shape(parameter), [&](const Shape& leaf, std::span<const int64_t> index) {
      std::string name(parameter.name);
      for (size_t i = 0; i < index.size(); ++i)
        name += fmt::format("{}{}", i ? "," : "{", index[i]);
      if (!index.empty()) name += "}";
      out.push_back({static_cast<int64_t>(p), name, leaf, replicated});
    });
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

Result<Inputs> make_inputs(const Module& module, int64_t devices, const InputOptions& options) {
  const std::vector<ParameterLeaf> leaves = parameter_leaves(module);
  std::vector<InputSpec> specs;
  for (const std::string& spec : options.specs) {
    specs.push_back(parse_input_spec(spec));
    const int64_t leaf = specs.back().leaf.value_or(static_cast<int64_t>(specs.size()) - 1);
    if (leaf < 0 || leaf >= static_cast<int64_t>(leaves.size()))
      return fail(ErrorKind::Input, "--input={}: the module has {} parameter leaves", spec,
                  leaves.size());
  }
  std::optional<ArrayFile> file;
  if (!options.file.empty()) {
    HILO_TRY(file, ArrayFile::open(options.file));
  }
  Inputs out;
  for (int64_t device = 0; device < devices; ++device) {
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
      // A replicated parameter is one value, shared by the devices.
      if (!value && device > 0 && leaves[i].replicated)
        value = random_input(leaves[i].shape, options.seed, number, 0);
      if (!value) value = random_input(leaves[i].shape, options.seed, number, device);
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
