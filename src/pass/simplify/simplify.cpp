// Rewrites values by the rules of this folder until none fits.
//   x + 0 => x, transpose(transpose(x)) => transpose(x), … (`hilo list rules`)
// Assumes nothing. Later passes may assume that no rule fits. Before layouts are assigned, because
// many rules make arrays of another form; those that do hold back where a layout says something.
#include "pass/simplify/simplify.h"

namespace hilo {

std::span<const RuleFamily> all_rules() {
  static const RuleFamily families[] = {
#define FAMILY(name) {#name, name##_rules()},
#include "pass/simplify/families.def"
#undef FAMILY
  };
  return families;
}

Result<bool> simplify_algebra(Module& module, const PassOptions& options) {
  std::vector<RuleTable> tables;
  for (const RuleFamily& family : all_rules()) tables.push_back(family.rules);
  return apply_rules(module, tables, options.rewrite);
}

}  // namespace hilo
