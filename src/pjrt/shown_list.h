// Lists in answers. Private to `pjrt`.
#pragma once

namespace hilo::pjrt {

// Where a list starts; an empty one is somewhere, too, for clients whose slices know no null.
template <class List>
const typename List::value_type* shown(const List& list) {
  static const typename List::value_type none{};
  return list.empty() ? &none : list.data();
}

}  // namespace hilo::pjrt
