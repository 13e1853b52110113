// Private to `emit`.
#pragma once

#include "emit/element_emitter.h"

namespace hilo {

// Whether an element of the convolution is so few products that they may stand side by side in the
// code, of an input that is not dilated.
bool has_few_products(const Module& module, InstructionId convolution);

// Of these: whether the whole result is written best element by element, and not in blocks.
bool is_quick_by_element(const Module& module, InstructionId convolution);

}  // namespace hilo
