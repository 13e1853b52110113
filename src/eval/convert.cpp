#include "eval/convert.h"

#include <cstring>

#include "eval/kernel.h"

namespace hilo {
namespace {

constexpr int64_t block = 512;  // elements at a time

// The loops from storage to representation, to the other one, and to storage; null: no such step.
struct Conversion {
  Kernel widen, convert, finish, narrow;
  int64_t bits;

  Conversion(ElementType from, ElementType to)
      : widen(load_kernel(from)),
        convert(convert_kernel(from, to)),
        finish(finish_kernel(to)),
        narrow(store_kernel(to)),
        bits(bits_of(to)) {
    const bool same = representation_of(from) == representation_of(to) && to != ElementType::Pred;
    if (same && (widen || narrow)) convert = nullptr;
  }

  void run(const std::byte* source, std::byte* target, int64_t n) const {
    alignas(16) std::byte wide[16 * block], made[16 * block];
    const auto step = [&](Kernel kernel, std::byte* to) {
      kernel(KernelArguments{{source}, to, n, bits});
      source = to;
    };
    if (widen) step(widen, !convert && !narrow ? target : wide);
    if (convert) step(convert, narrow ? made : target);
    if (narrow) step(narrow, target);  // rounds
    else if (finish) step(finish, target);
  }
};

}  // namespace

void convert_lanes(ElementType from, const void* in, ElementType to, void* out, int64_t n) {
  const int64_t from_bytes = storage_bytes(from), to_bytes = storage_bytes(to);
  if (from == to) {
    std::memcpy(out, in, n * from_bytes);
    return;
  }
  const Conversion conversion(from, to);
  for (int64_t i = 0; i < n; i += block)
    conversion.run(static_cast<const std::byte*>(in) + i * from_bytes,
                   static_cast<std::byte*>(out) + i * to_bytes, std::min(block, n - i));
}

Literal converted(const Call& call, const Literal& literal, ElementType type) {
  if (literal.type() == type) return literal;
  Shape shape = literal.shape();
  shape.type = type;
  Literal out = call.make_held(shape);
  std::byte* to = out.mutable_raw().data();
  call.parallel(literal.count(), 1 << 16, [&](int64_t begin, int64_t end) {
    convert_lanes(literal.type(), literal.raw().data() + begin * storage_bytes(literal.type()),
                  type, to + begin * storage_bytes(type), end - begin);
  });
  for (int64_t i = 0; i < literal.shape().rank(); ++i) out.set_size(i, literal.size(i));
  return out;
}

}  // namespace hilo
