// Numbers whose sums and products are exact.
#pragma once

#include "../judge.h"

namespace hilo::test {

// Multiples of 1/8 from -4 to 4; of integers any bits.
inline Literal small_numbers(Dice& dice, const Shape& of) {
  if (of.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : of.elements) elements.push_back(small_numbers(dice, element));
    return Literal::tuple(std::move(elements));
  }
  Literal out = Literal::uninitialized(of);
  visit_storage(of.type, [&]<class T>(std::type_identity<T>) {
    for (T& value : out.mutable_data<T>()) {
      const auto eighth = [&] { return static_cast<double>(dice.below(65) - 32) / 8; };
      if constexpr (requires { value.real(); })
        value = T(static_cast<typename T::value_type>(eighth()),
                  static_cast<typename T::value_type>(eighth()));
      else if constexpr (std::is_same_v<T, bool>) value = dice.below(2) != 0;
      else if constexpr (std::is_integral_v<T>)
        value =
            static_cast<T>(dice.below(8) ? static_cast<uint64_t>(dice.below(9) - 4) : dice.next());
      else value = static_cast<T>(eighth());
    }
  });
  return out;
}

}  // namespace hilo::test
