// Gives every value a sharding, from those that users gave some of them. Reads Shardy's and
// GSPMD's notation; writes tiles, as docs/glossary.md calls them.
#include "pass/pass.h"
#include "pass/shard/propagate.h"
#include "pass/shard/write_shardings.h"

namespace hilo {

Result<bool> propagate_all_shardings(Module& module, const PassOptions& options) {
  if (module.header.num_partitions < 2) return false;
  HILO_DO(flatten_calls(module, options));
  Editor editor(module);
  HILO_TRY(const GivenShardings given, import_shardings(editor));
  HILO_TRY(const ManualAxes manual, find_manual_axes(module, given));
  HILO_TRY(ShardedValues values, number_values(module, given, manual));
  HILO_DO(propagate_shardings(module, given, values));
  write_shardings(editor, given, values);
  return true;
}

}  // namespace hilo
