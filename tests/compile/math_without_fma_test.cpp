// Functions of f32 where products are rounded before they are added: within a unit of the last
// place, as where they are not, next to where most of them come nearest to it.
#include "both.h"

namespace hilo::test {
namespace {

#ifdef __x86_64__
struct Function {
  std::string_view op;
  double (*exact)(double);
};
constexpr Function functions[] = {{"exponential", std::exp},
                                  {"exponential-minus-one", std::expm1},
                                  {"tanh", std::tanh},
                                  {"erf", std::erf},
                                  {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
                                  {"log", std::log},
                                  {"log-plus-one", std::log1p}};
struct Range {
  float first, last;
  uint32_t step;  // in units of the last place
};
constexpr Range ranges[] = {{0.25F, 1.25F, 5}, {-0.5F, -0.125F, 7}, {-18, -16, 3},
                            {-80, -70, 5},     {-87.3F, -83, 3},    {7.5F, 8, 3},
                            {85, 88.7F, 3},    {1e-30F, 1e-29F, 99}};

Literal numbers_of(const Range& range) {
  const uint32_t a = std::bit_cast<uint32_t>(range.first), b = std::bit_cast<uint32_t>(range.last);
  const uint32_t begin = std::min(a, b), count = (std::max(a, b) - begin) / range.step;
  Literal out = Literal::uninitialized(Shape::array(ElementType::F32, {count}));
  for (uint32_t i = 0; i < count; ++i)
    out.mutable_data<float>()[i] = std::bit_cast<float>(begin + i * range.step);
  return out;
}

double unit_of(double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

TEST(Math, WithoutProductsAddedInOneRounding) {
  CompileOptions options;
  options.emit.cpu = "x86-64-v2";
  for (const Function& function : functions)
    for (const Range& range : ranges) {
      const Literal in = numbers_of(range);
      const auto module = parse(fmt::format(
          "HloModule m\nENTRY e {{\n  x = f32[{0}] parameter(0)\n  ROOT y = f32[{0}] {1}(x)\n}}\n",
          in.count(), function.op));
      const auto executable = compile(*module, cpu_target(), options);
      ASSERT_TRUE(executable) << to_string(executable.error());
      const auto out = executable->run({in});
      ASSERT_TRUE(out) << to_string(out.error());
      for (int64_t i = 0; i < in.count(); ++i) {
        const double exact = function.exact(in.number_at(i)), found = out->number_at(i);
        if (std::isnan(exact) && std::isnan(found)) continue;
        ASSERT_LE(std::fabs(found - exact), unit_of(exact))
            << function.op << " of " << in.number_at(i);
      }
    }
}
#endif

}  // namespace
}  // namespace hilo::test
