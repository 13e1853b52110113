// A program outside Hilo that builds a module and looks at it; exit status 0 when all is as stated.
#include <hilo/ir/ir.h>

#include <cstdio>

int main() {
  using namespace hilo;
  Module module;
  const ComputationId main = module.add_computation("main");
  const Shape shape = Shape::array(ElementType::F32, {4, 8});
  const InstructionId x = module.add_instruction(main, Op::Parameter, shape, {}, "x");
  const InstructionId twice = module.add_instruction(main, Op::Add, shape, std::array{x, x}, "sum");
  const std::string text = to_string(module.shape(module[twice]));
  std::printf("%s: %s\n", module[twice].name.data(), text.c_str());
  return module.users(x).size() == 2 ? 0 : 1;
}
