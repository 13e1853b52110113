// The inputs of a run: from files, from the command line, or random.
#pragma once

#include "eval/eval.h"
#include "tools/diagnostics.h"

namespace hilo::tools {

struct InputOptions {
  std::string option = "--input";  // that gives the specs
  std::string file;                // .npz or .safetensors with in_I or in_I_devD
  std::vector<std::string> specs;  // see input_spec.h
  uint64_t seed = 0;
  bool are_random() const { return file.empty() && specs.empty(); }
};
// The leaves of an entry parameter list, in order, with the name of the parameter they belong to.
struct ParameterLeaf {
  int64_t parameter;
  std::string name;  // "p0" or "p0{1}"
  Shape shape;
  const Sharding* sharding;  // in the module; null: none
};
std::vector<ParameterLeaf> parameter_leaves(const Module& module);
// By device, of so many that run what is already the program of one: the first device whose tile of
// the parameter is the same by the sharding, and so whose value is. A device alone is its own.
Dims first_holders(const Module& module, const ParameterLeaf& leaf, int64_t devices);

// Whether an inputs file gives values for each device; nothing known without a file.
Result<std::optional<bool>> has_device_inputs(const std::string& file);
// The shapes of the arrays given, for programs whose arguments have open dimensions; leaves that
// are not given have none.
Result<std::vector<Shape>> shapes_of_inputs(const InputOptions& options);
Result<Inputs> make_inputs(const Module& module, int64_t devices, const InputOptions& options);
// Of some of so many devices.
Result<Inputs> make_inputs(const Module& module, std::span<const int64_t> local, int64_t devices,
                           const InputOptions& options);
// Of all inputs together, 2^60 at the most.
int64_t parameter_bytes(const Module& module, int64_t devices);

// Of a file with arrays PREFIX_I and PREFIX_I_devD for `leaves` leaves on `devices` devices: what
// is in it for nobody, as a warning; none where all is used. Arrays of other prefixes do not count.
Result<std::optional<std::string>> unused_arrays(const std::string& path, std::string_view prefix,
                                                 int64_t leaves, int64_t devices);

// The names of array files: in_I or in_I_devD.
std::string array_name(std::string_view prefix, int64_t leaf, std::optional<int64_t> device);

}  // namespace hilo::tools
