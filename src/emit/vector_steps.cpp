#include "emit/vector_steps.h"

#include "emit/bf16_rounding.h"
#include "emit/byte_quotients.h"
#include "emit/scaled_powers.h"
#include "emit/split_divisions.h"
#include "emit/table_reads.h"

namespace hilo {

void shorten_vector_steps(llvm::Function& function, const llvm::TargetMachine& machine,
                          unsigned register_bits) {
  permute_tables(function, machine);
  scale_by_floats(function, machine);
  shorten_bf16_rounding(function, machine);
  divide_bytes_as_words(function);
  split_divisions(function, machine, register_bits);
}

}  // namespace hilo
