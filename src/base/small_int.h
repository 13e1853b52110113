// Integers of 1, 2 and 4 bits, held one to a byte; arithmetic is done in int and wraps on storing.
#pragma once

#include <cstdint>

namespace hilo {

template <int Bits, bool Signed>
struct SmallInt {
  int8_t value = 0;  // sign- or zero-extended

  SmallInt() = default;
  constexpr SmallInt(int64_t wide) : value(wrap(wide)) {}
  constexpr operator int() const { return value; }

 private:
  static constexpr int8_t wrap(int64_t wide) {
    int low = static_cast<int>(wide & ((1 << Bits) - 1));
    if (Signed && (low >> (Bits - 1))) low -= 1 << Bits;
    return static_cast<int8_t>(low);
  }
};

using S1 = SmallInt<1, true>;
using S2 = SmallInt<2, true>;
using S4 = SmallInt<4, true>;
using U1 = SmallInt<1, false>;
using U2 = SmallInt<2, false>;
using U4 = SmallInt<4, false>;

}  // namespace hilo
