// Elementwise ops on integers and pred. KernelArguments::first is the width of the type in bits,
// which may be less than that of its representation.
#include <bit>
#include <climits>

#include "eval/kernel.h"

namespace hilo {
namespace {

template <class T>
using Bits = std::make_unsigned_t<T>;
template <class T>
constexpr int width = CHAR_BIT * sizeof(T);
template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

// The bits of a value in its type.
template <class T>
Bits<T> low_bits(T x, int64_t bits) {
  return bits >= width<T> ? Bits<T>(x) : Bits<T>(Bits<T>(x) & ((Bits<T>(1) << bits) - 1));
}

struct Absolute {
  template <class T>
  static T run(T x, int64_t) {
    return x < 0 ? T(Bits<T>(0) - Bits<T>(x)) : x;
  }
};
struct Negate {
  template <class T>
  static T run(T x, int64_t) {
    return T(Bits<T>(0) - Bits<T>(x));
  }
};
struct Invert {
  template <class T>
  static T run(T x, int64_t bits) {
    return bits == 1 && !std::is_signed_v<T> ? T(x ^ 1) : T(~x);
  }
};
struct Sign {
  template <class T>
  static T run(T x, int64_t) {
    return T((x > 0) - (x < 0));
  }
};
struct LeadingZeros {
  template <class T>
  static T run(T x, int64_t bits) {
    return T(std::countl_zero(low_bits(x, bits)) - (width<T> - bits));
  }
};
struct Population {
  template <class T>
  static T run(T x, int64_t bits) {
    return T(std::popcount(low_bits(x, bits)));
  }
};
struct Add {
  template <class T>
  static T run(T a, T b, int64_t) {
    return T(Bits<T>(a) + Bits<T>(b));
  }
};
struct Subtract {
  template <class T>
  static T run(T a, T b, int64_t) {
    return T(Bits<T>(a) - Bits<T>(b));
  }
};
struct Multiply {
  template <class T>
  static T run(T a, T b, int64_t) {
    return T(uint64_t(a) * uint64_t(b));
  }
};
struct And {
  template <class T>
  static T run(T a, T b, int64_t) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T run(T a, T b, int64_t) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T run(T a, T b, int64_t) {
    return a ^ b;
  }
};
struct Maximum {
  template <class T>
  static T run(T a, T b, int64_t) {
    return a < b ? b : a;
  }
};
struct Minimum {
  template <class T>
  static T run(T a, T b, int64_t) {
    return b < a ? b : a;
  }
};
// By zero: all ones; the smallest by -1: itself.
struct Divide {
  template <class T>
  static T run(T a, T b, int64_t) {
    if (b == 0) return T(-1);
    if (std::is_signed_v<T> && b == T(-1)) return T(Bits<T>(0) - Bits<T>(a));
    return T(a / b);
  }
};
struct Remainder {
  template <class T>
  static T run(T a, T b, int64_t) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == T(-1)) return 0;
    return T(a % b);
  }
};
// A negative exponent: the inverse where it is an integer, else 0.
struct Power {
  template <class T>
  static T run(T base, T exponent, int64_t) {
    if (std::is_signed_v<T> && exponent < 0) {
      if (base == T(-1)) return exponent & 1 ? T(-1) : T(1);
      return base == 1 ? T(1) : T(0);
    }
    uint64_t out = 1, factor = uint64_t(base);
    for (Bits<T> left = Bits<T>(exponent); left != 0; left >>= 1) {
      if (left & 1) out *= factor;
      factor *= factor;
    }
    return T(out);
  }
};
struct MultiplyHigh {
  template <class T>
  static T run(T a, T b, int64_t bits) {
    using Double = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T((Double(a) * Double(b)) >> bits);
  }
};
struct ShiftLeft {
  template <class T>
  static T run(T a, T b, int64_t bits) {
    const Bits<T> by = low_bits(b, bits);
    return by >= Bits<T>(bits) ? T(0) : T(uint64_t(a) << by);
  }
};
struct ShiftRightLogical {
  template <class T>
  static T run(T a, T b, int64_t bits) {
    const Bits<T> by = low_bits(b, bits);
    return by >= Bits<T>(bits) ? T(0) : T(low_bits(a, bits) >> by);
  }
};
struct ShiftRightArithmetic {
  template <class T>
  static T run(T a, T b, int64_t bits) {
    using Signed = std::make_signed_t<T>;
    const Bits<T> by = low_bits(b, bits);
    // An unsigned type's top bit is a sign here.
    const int unused = width<T> - static_cast<int>(bits);
    const Signed value = Signed(Signed(uint64_t(a) << unused) >> unused);
    return T(value >> (by >= Bits<T>(bits) ? bits - 1 : by));
  }
};

template <class F, class T>
void unary(const KernelArguments& k) {
  const T* in = k.input<T>(0);
  T* out = k.output<T>();
  const int64_t bits = k.first;
  for (int64_t i = 0; i < k.n; ++i) out[i] = F::template run<T>(in[i], bits);
}

template <class F, class T>
void binary(const KernelArguments& k) {
  const T *a = k.input<T>(0), *b = k.input<T>(1);
  T* out = k.output<T>();
  const int64_t bits = k.first;
  for (int64_t i = 0; i < k.n; ++i) out[i] = F::template run<T>(a[i], b[i], bits);
}

struct Clamp {};
template <class, class T>
void clamp(const KernelArguments& k) {
  const T *low = k.input<T>(0), *x = k.input<T>(1), *high = k.input<T>(2);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) {
    const T raised = x[i] < low[i] ? low[i] : x[i];
    out[i] = high[i] < raised ? high[i] : raised;
  }
}

#define ROW(op, form, F)                                                                         \
  {                                                                                              \
    Op::op, {                                                                                    \
      form<F, uint8_t>, form<F, int8_t>, form<F, uint16_t>, form<F, int16_t>, form<F, uint32_t>, \
          form<F, int32_t>, form<F, uint64_t>, form<F, int64_t>                                  \
    }                                                                                            \
  }

constexpr KernelEntry entries[] = {
    ROW(Abs, unary, Absolute),
    ROW(Negate, unary, Negate),
    ROW(Not, unary, Invert),
    ROW(Sign, unary, Sign),
    ROW(CountLeadingZeros, unary, LeadingZeros),
    ROW(PopulationCount, unary, Population),
    ROW(Add, binary, Add),
    ROW(Subtract, binary, Subtract),
    ROW(Multiply, binary, Multiply),
    ROW(And, binary, And),
    ROW(Or, binary, Or),
    ROW(Xor, binary, Xor),
    ROW(Maximum, binary, Maximum),
    ROW(Minimum, binary, Minimum),
    ROW(Divide, binary, Divide),
    ROW(Remainder, binary, Remainder),
    ROW(Power, binary, Power),
    ROW(MultiplyHigh, binary, MultiplyHigh),
    ROW(ShiftLeft, binary, ShiftLeft),
    ROW(ShiftRightLogical, binary, ShiftRightLogical),
    ROW(ShiftRightArithmetic, binary, ShiftRightArithmetic),
    ROW(Clamp, clamp, Clamp),
};

}  // namespace

std::span<const KernelEntry> integer_kernels() { return entries; }

}  // namespace hilo
