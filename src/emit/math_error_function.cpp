// In double erf x = x P(x^2), and 1 in f32 from 3.937 on. In f32 that would cancel: x + x P(x^2) up
// to `split`, and 1 - g^4 / 8 beyond, g = (8 erfc x)^(1/4), which is nearly 1 where it counts most.
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

constexpr double split = 0x1.35d12p+0, middle = 0x1.76f282p-1;
// erf(x) / x - 1 in x^2 - middle, of x up to `split`, and g in x - split
constexpr double rest_of_small[] = {-0x1.883f02p-4, -0x1.f9caeap-3, 0x1.1568c0p-4,
                                    -0x1.f67696p-7, 0x1.7a7d50p-9,  -0x1.e4a6dap-12,
                                    0x1.100af0p-14, -0x1.09fdd6p-17};
constexpr double root_of_large[] = {0x1.d3a220p-1, -0x1.5e901ap-1,  0x1.e15b88p-5,
                                    0x1.37efa4p-4, -0x1.b84d86p-7,  -0x1.043908p-7,
                                    0x1.bb08d8p-9, -0x1.d9a240p-12, 0x1.17926ep-16};
// erf(x) / x in x^2; from end_of_bf16 on the result is 1
constexpr double end_of_bf16 = 2.203125;
constexpr double error_of_bf16[] = {0x1.20dd6ep+0,  -0x1.812406p-2,  0x1.cdeb2ap-4,
                                    -0x1.b5f714p-6, 0x1.4cdab8p-8,   -0x1.908ef8p-11,
                                    0x1.65bfd0p-14, -0x1.9cf848p-18, 0x1.c2c74ep-23};

}  // namespace

// Both polynomials, of which each number needs one, take less than one whose coefficients are
// chosen.
llvm::Value* math_erf_of_f32(Builder& b, llvm::Value* x) {
  if (!adds_products(b))  // would be within 1.33 units
    return b.CreateFPTrunc(math_erf(b, b.CreateFPExt(x, b.getDoubleTy())), x->getType());
  llvm::Value* magnitude = at_most(b, absolute(b, x), 4);
  llvm::Value* square = multiply_add(b, magnitude, magnitude, number(x, -middle));
  llvm::Value* small = multiply_add(b, horner(b, square, rest_of_small), magnitude, magnitude);
  llvm::Value* root = horner(b, b.CreateFSub(magnitude, number(x, split)), root_of_large);
  llvm::Value* second = b.CreateFMul(root, root);
  llvm::Value* eighth = b.CreateFMul(second, number(x, -0.125));
  llvm::Value* large = multiply_add(b, eighth, second, number(x, 1));
  llvm::Value* is_small = b.CreateFCmpULT(magnitude, number(x, split));
  return give_sign(b, b.CreateSelect(is_small, small, large), x);
}

llvm::Value* math_erf_of_bf16(Builder& b, llvm::Value* x) {
  x = clamp(b, x, -end_of_bf16, end_of_bf16);
  return b.CreateFMul(x, horner(b, b.CreateFMul(x, x), error_of_bf16));
}

llvm::Value* math_erf(Builder& b, llvm::Value* x) {
  x = clamp(b, x, -3.937, 3.937);
  llvm::Value* u = multiply_add(b, b.CreateFMul(x, x), number(b, 1 / half_range), number(b, -1));
  return b.CreateFMul(x, polynomial(b, u, error));
}

}  // namespace hilo
