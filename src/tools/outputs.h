// The outputs of a run: shown, saved, compared with expected values.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "eval/eval.h"
#include "tools/compare.h"
#include "tools/diagnostics.h"

namespace hilo::tools {

struct OutputLeaf {
  int64_t leaf, device;
  bool has_several_devices;
  Shape declared;
  Literal value;  // may be held in f64; none where another process has it
};
std::vector<OutputLeaf> output_leaves(const Module& module, const Outputs& outputs);

std::string show(const OutputLeaf& leaf);  // shape, first values, range
// The same as JSON: its first values or all of them, and of real numbers the least, the largest and
// how many are NaN. What JSON has no number for is a string: "inf", "nan", "(1, 2)".
nlohmann::ordered_json json_of(const OutputLeaf& leaf);
std::string value_text(const Literal& value);  // as in HLO text, but NaN has no sign
// The leaf with its value, which may be in another process.
using WholeLeaf = std::function<Result<OutputLeaf>(const OutputLeaf& leaf)>;
// .npz, also for a name without an ending; .safetensors; .npy of a single array.
Result<void> save(const std::string& path, const std::vector<OutputLeaf>& leaves,
                  const WholeLeaf& whole);
// Usage where the outputs of a module on so many devices cannot be saved there: the ending is none
// of these, or .npy and there are several. An empty path is none.
Result<void> check_save(const std::string& path, const Module& module, int64_t devices);
Result<void> check_save_ending(const std::string& path);

struct LeafComparison {
  const OutputLeaf* leaf;
  Comparison comparison;
};
// Expected arrays out_I or out_I_devD; an error when one is missing or of another shape.
Result<std::vector<LeafComparison>> compare_with(const std::string& path,
                                                 const std::vector<OutputLeaf>& leaves,
                                                 const WholeLeaf& whole,
                                                 const Tolerance& tolerance);

}  // namespace hilo::tools
