#include "eval/block_program.h"
#include "eval/call.h"

namespace hilo {
namespace {

constexpr int64_t grain = 16 * BlockProgram::block;  // elements of one thread's piece

// A dying operand of the same size gives its storage to the result.
Literal make_result(Call& call) {
  const SharedShape shape = call.result_shape();
  for (Literal& operand : call.operands)
    if (operand.is_unique() && operand.count() == element_count(*shape) &&
        storage_bytes(operand.type()) == storage_bytes(shape->type))
      return std::exchange(operand, Literal()).with_shape(shape);
  return call.make();
}

std::vector<int64_t> dynamic_sizes(const Call& call) {
  for (const Literal& operand : call.operands)
    if (!operand.dynamic_sizes().empty()) return operand.dynamic_sizes();
  return {};
}

}  // namespace

// Scalar operands beside arrays (of clamp and select) stand for all elements. A dynamic result has
// the sizes of its first dynamic operand.
Result<Literal> evaluate_elementwise(Call& call) {
  auto kernel = elementwise_kernel(call.module, call.instruction, call.ideal());
  if (!kernel) return call.error(kernel.error().kind, kernel.error().message);
  const int64_t count = element_count(call.shape());
  BlockProgram program;
  std::vector<int> values;
  std::vector<const void*> sources;
  for (const Literal& operand : call.operands) {
    const bool uniform = operand.count() == 1 && count != 1;
    if (!uniform && operand.count() != count)
      return call.error(ErrorKind::Shape, "operands of different sizes");
    values.push_back(uniform ? program.add_uniform(operand.type())
                             : program.add_source(operand.type()));
    sources.push_back(operand.raw().data());
  }
  program.add_output(program.add(*kernel, values));
  program.finish();
  const std::vector<int64_t> sizes = dynamic_sizes(call);
  Literal out = make_result(call);
  std::byte* to = out.mutable_raw().data();
  const int64_t bytes = storage_bytes(out.type());
  call.parallel(count, grain, [&](int64_t begin, int64_t end) {
    void* const target = to + begin * bytes;
    program.run(sources, std::array{target}, begin, end - begin);
  });
  for (size_t d = 0; d < sizes.size(); ++d) out.set_size(d, sizes[d]);
  return out;
}

}  // namespace hilo
