// The outputs of a run: shown, saved, compared with expected values.
#pragma once

#include "eval/eval.h"
#include "tools/compare.h"
#include "tools/diagnostics.h"

namespace hilo::tools {

struct OutputLeaf {
  int64_t leaf, device;
  bool many_devices;
  Shape declared;
  Literal value;  // may be held in f64
};
std::vector<OutputLeaf> output_leaves(const Module& module, const Outputs& outputs);

std::string show(const OutputLeaf& leaf);  // shape, first values, range
Result<void> save(const std::string& path, const std::vector<OutputLeaf>& leaves);

struct LeafComparison {
  const OutputLeaf* leaf;
  Comparison comparison;
};
// Expected arrays out_I or out_I_devD; an error when one is missing or of another shape.
Result<std::vector<LeafComparison>> compare_with(const std::string& path,
                                                 const std::vector<OutputLeaf>& leaves,
                                                 const Tolerance& tolerance);

}  // namespace hilo::tools
