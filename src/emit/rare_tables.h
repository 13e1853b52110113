// Tables of the code that vectors seldom need. Private to `emit`.
#pragma once

namespace llvm {
class Function;
}

namespace hilo {

// A gather that is asked for by `select(condition, gather, otherwise)` alone is done where the
// condition holds for any lane. The values are the same.
void read_rare_tables_seldom(llvm::Function& function);

}  // namespace hilo
