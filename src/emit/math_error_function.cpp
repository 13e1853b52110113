// erf x = x P(x^2), and 1 in f32 from 3.937 on.
#include "emit/math.h"

namespace hilo {
namespace {

using namespace real_parts;

constexpr double half_range = 7.75;  // of x^2
// erf(x) / x in u = x^2 / 7.75 - 1
constexpr double error[] = {
    0x1.6fcd22af732c0p-2,  -0x1.6f4db9414cad4p-3,  0x1.118c9171b0704p-3,  -0x1.bdf3444dbd850p-4,
    0x1.72e687505ffe5p-4,  -0x1.2fe4a3726fa3cp-4,  0x1.dfd2f04c8b590p-5,  -0x1.67d8525f9fadcp-5,
    0x1.fd047d0c6e526p-6,  -0x1.52fcec9eb25c2p-6,  0x1.a59138892484ap-7,  -0x1.e1f42af92eb85p-8,
    0x1.0a69e0af83328p-8,  -0x1.339bebf212b4cp-9,  0x1.236a21ba2978ap-10, -0x1.2a23040259a03p-12,
    0x1.28abb9fa0871dp-13, -0x1.6ab89aee6ad9ep-13, 0x1.0d818eec531f6p-14};

}  // namespace

llvm::Value* math_erf(Builder& b, llvm::Value* x) {
  x = clamp(b, x, -3.937, 3.937);
  llvm::Value* u = multiply_add(b, b.CreateFMul(x, x), number(b, 1 / half_range), number(b, -1));
  return b.CreateFMul(x, polynomial(b, u, error));
}

}  // namespace hilo
