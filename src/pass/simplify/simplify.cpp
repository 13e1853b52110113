// Rewrites values by the rules of this folder until none fits.
//   x + 0 => x, transpose(transpose(x)) => transpose(x), … (`hilo list rules`)
// Assumes nothing. Later passes may assume that no rule fits. Before layouts are assigned, because
// many rules make arrays of another form; those that do hold back where a layout says something.
#include "pass/simplify/simplify.h"

namespace hilo {

std::span<const RuleFamily> all_rules() {
  static const RuleFamily families[] = {
#define FAMILY(name, pass) {#name, pass, name##_rules()},
#include "pass/simplify/families.def"
#undef FAMILY
  };
  return families;
}

namespace {

Result<bool> apply_families(Module& module, PassFunction pass, const PassOptions& options) {
  std::vector<RuleTable> tables;
  for (const RuleFamily& family : all_rules())
    if (family.pass == pass) tables.push_back(family.rules);
  return apply_rules(module, tables, options.rewrite);
}

}  // namespace

Result<bool> simplify_algebra(Module& module, const PassOptions& options) {
  return apply_families(module, simplify_algebra, options);
}

// Moves reshapes and transposes behind elementwise ops.
//   f(reshape(x), reshape(y)) => reshape(f(x, y))
// Assumes nothing. Later passes may find reshapes and transposes side by side where elementwise ops
// stood between them. After algebra, which removes those that undo each other.
Result<bool> move_data(Module& module, const PassOptions& options) {
  return apply_families(module, move_data, options);
}

}  // namespace hilo
