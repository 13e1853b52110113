// The arrays that most passes of `target` rewrite. Private to `pass`.
#pragma once

#include "rewrite/rewrite.h"

namespace hilo {

// An array of plain layout and fixed sizes that nothing but its users refers to.
inline bool is_unpinned_dense_array(const Editor& editor, InstructionId id) {
  const Shape& shape = editor.module().shape(id);
  return shape.is_array() && is_plain(shape) && is_static(shape) && !editor.is_pinned(id);
}

}  // namespace hilo
