// The error function's complement and inverse.
#include <cmath>
#include <limits>

#include "wire/stablehlo/formula.h"

namespace hilo::mlir {

// Giles, Approximating the erfinv function: double precision.
static Result<void> erf_inv_of_f64(Step& step, InstructionId x) {
  constexpr double near[] = {
      -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
      1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
      6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
      2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
      4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
      0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
      0.24015818242558961693,     1.6536545626831027356};
  constexpr double middle[] = {
      2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
      1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
      2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
      6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
      0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
      -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
      3.0838856104922207635};
  constexpr double far[] = {
      -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
      -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
      2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
      -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
      7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
      1.0103004648645343977,      4.8499064014085844221};
  Formula f(step, x);
  const InstructionId w =
      f.op(Op::Negate, f.op(Op::LogPlusOne, f.op(Op::Negate, f.multiply(x, x))));
  const InstructionId root = f.op(Op::Sqrt, w);
  const InstructionId beyond = f.select(f.less(w, 16), f.polynomial(f.add(root, -3.25), middle),
                                        f.polynomial(f.add(root, -5), far));
  const InstructionId value =
      f.multiply(f.select(f.less(w, 6.25), f.polynomial(f.add(w, -3.125), near), beyond), x);
  const InstructionId infinity = f.constant(std::numeric_limits<double>::infinity());
  const InstructionId is_end = f.equal(f.op(Op::Abs, x), f.constant(1));
  return f.give(f.select(is_end, f.multiply(x, infinity), value), ElementType::F64);
}

// Giles, Approximating the erfinv function: single precision.
Result<void> convert_erf_inv(Step& step) {
  constexpr double near[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                             -4.39150654e-06, 0.00021858087,  -0.00125372503,
                             -0.00417768164,  0.246640727,    1.50140941};
  constexpr double far[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                            -0.00367342844,  0.00573950773,  -0.0076224613,
                            0.00943887047,   1.00167406,     2.83297682};
  HILO_TRY(const InstructionId x, wide_operand(step));
  if (step.shape(0).type == ElementType::F64) return erf_inv_of_f64(step, x);
  Formula f(step, x);
  const InstructionId w =
      f.op(Op::Negate, f.op(Op::LogPlusOne, f.op(Op::Negate, f.multiply(x, x))));
  const InstructionId is_near = f.less(w, 5);
  const InstructionId near_value = f.polynomial(f.add(w, -2.5), near);
  const InstructionId far_value = f.polynomial(f.add(f.op(Op::Sqrt, w), -3), far);
  const InstructionId value = f.multiply(f.select(is_near, near_value, far_value), x);
  const InstructionId infinity = f.constant(std::numeric_limits<double>::infinity());
  const InstructionId is_end = f.equal(f.op(Op::Abs, x), f.constant(1));
  return f.give(f.select(is_end, f.multiply(x, infinity), value), step.shape(0).type);
}

// Double precision of the next function: exp(-x^2) times quotients of polynomials of |x|.
static Result<void> erfc_of_f64(Step& step, InstructionId x) {
  constexpr double middle[] = {
      2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0,
      4.86371970985681366614e1,   1.96520832956077098242e2,  5.26445194995477358631e2,
      9.34528527171957607540e2,   1.02755188689515710272e3,  5.57535335369399327526e2};
  constexpr double below_middle[] = {1,
                                     1.32281951154744992508e1,
                                     8.67072140885989742329e1,
                                     3.54937778887819891062e2,
                                     9.75708501743205489753e2,
                                     1.82390916687909736289e3,
                                     2.24633760818710981792e3,
                                     1.65666309194161350182e3,
                                     5.57535340817727675546e2};
  constexpr double tail[] = {5.64189583547755073984e-1, 1.27536670759978104416e0,
                             5.01905042251180477414e0,  6.16021097993053585195e0,
                             7.40974269950448939160e0,  2.97886665372100240670e0};
  constexpr double below_tail[] = {1,
                                   2.26052863220117276590e0,
                                   9.39603524938001434673e0,
                                   1.20489539808096656605e1,
                                   1.70814450747565897222e1,
                                   9.60896809063285878198e0,
                                   3.36907645100081516050e0};
  Formula f(step, x);
  const InstructionId infinity = f.constant(std::numeric_limits<double>::infinity());
  const InstructionId size = f.op(Op::Abs, x);
  const auto quotient = [&](std::span<const double> above, std::span<const double> below) {
    return f.divide(f.polynomial(size, above), f.polynomial(size, below));
  };
  const InstructionId series =
      f.select(f.less(size, 8), quotient(middle, below_middle), quotient(tail, below_tail));
  const InstructionId power = f.op(Op::Exponential, f.op(Op::Negate, f.multiply(x, x)));
  const InstructionId far =
      f.select(f.equal(size, infinity), f.constant(0), f.multiply(power, series));
  const InstructionId both = f.select(f.less(x, 0), f.subtract(f.constant(2), far), far);
  const InstructionId near = f.subtract(f.constant(1), f.op(Op::Erf, x));
  return f.give(f.select(f.less(size, 1), near, both), ElementType::F64);
}

// 1 - erf(x) near 0; else exp(-x^2) / |x| times a polynomial of 1 / x^2, as Cephes has it for
// single precision.
Result<void> convert_erfc(Step& step) {
  constexpr double middle[] = {2.326819970068386e-2,  -1.387039388740657e-1, 3.687424674597105e-1,
                               -5.824733027278666e-1, 6.210004621745983e-1,  -4.944515323274145e-1,
                               3.404879937665872e-1,  -2.741127028184656e-1, 5.638259427386472e-1};
  constexpr double tail[] = {-1.047766399936249e+1, 1.297719955372516e+1,  -7.495518717768503e+0,
                             2.921019019210786e+0,  -1.015265279202700e+0, 4.218463358204948e-1,
                             -2.820767439740514e-1, 5.641895067754075e-1};
  HILO_TRY(const InstructionId x, wide_operand(step));
  if (step.shape(0).type == ElementType::F64) return erfc_of_f64(step, x);
  Formula f(step, x);
  const InstructionId size = f.op(Op::Abs, x);
  const InstructionId inverse = f.divide(f.constant(1), size);
  const InstructionId square = f.multiply(inverse, inverse);
  const InstructionId series =
      f.select(f.less(size, 2), f.polynomial(square, middle), f.polynomial(square, tail));
  const InstructionId power = f.op(Op::Exponential, f.op(Op::Negate, f.multiply(x, x)));
  const InstructionId far = f.multiply(f.multiply(power, inverse), series);
  const InstructionId both = f.select(f.less(x, 0), f.subtract(f.constant(2), far), far);
  const InstructionId near = f.subtract(f.constant(1), f.op(Op::Erf, x));
  return f.give(f.select(f.less(size, 1), near, both), step.shape(0).type);
}

}  // namespace hilo::mlir
