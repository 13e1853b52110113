#include <bit>

#include "emit/op_functions.h"
#include "emit/scalars.h"

namespace hilo {

// Places of which few bits can be set say so: what is computed of them (quotients, indices) needs
// no steps for negative numbers.
llvm::Value* element_Iota(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  Builder& b = e.b;
  const ElementType type = e.module.shape(id).type;
  const auto dim = static_cast<size_t>(e.module.attributes<IotaAttributes>(id).iota_dimension);
  const auto size = static_cast<uint64_t>(e.module.shape(id).dims[dim]);
  llvm::Value* place = index.at(b, dim);
  if (!is_integral(type) || bits_of(type) < 32 || std::bit_width(size) >= 32)
    return convert(b, ElementType::S64, type, place);
  llvm::Value* held = convert(b, ElementType::S64, type, place);
  return b.CreateAnd(held, llvm::ConstantInt::get(held->getType(), std::bit_ceil(size) - 1));
}

}  // namespace hilo
