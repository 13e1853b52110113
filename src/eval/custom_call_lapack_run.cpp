// LAPACK's custom calls made ready and run.
#include <cstring>

#include "eval/custom_call_lapack.h"
#include "eval/storage.h"

namespace hilo {
namespace {

constexpr int64_t done_together = 1 << 16;  // multiplications
constexpr int64_t max_space = int64_t{1} << 30;

Result<void> expect(const char* what, size_t i, const Shape& found, const Dims& batch,
                    const LapackArray& wanted) {
  Dims dims = batch;
  dims.insert(dims.end(), wanted.dims.begin(), wanted.dims.end());
  if (found.type == wanted.type && found.dims == dims) return {};
  return fail(ErrorKind::Shape, "expected {} as {} {}, found {}",
              to_string_without_layout(Shape::array(wanted.type, dims)), what, i,
              to_string_without_layout(found));
}

std::vector<Shape> parts_of(const Shape& stated) {
  return stated.is_tuple() ? stated.elements : std::vector{stated};
}

// A call made ready.
class LapackRun {
 public:
  static Result<LapackRun> make(LapackCall call, PrepareLapack prepare) {
    HILO_TRY(LapackStep step, prepare(call));
    return LapackRun(call, std::move(step));
  }

  int64_t space_bytes() const { return space_bytes_; }
  void operator()(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
                  const Parallel& parallel) const {
    const LapackArrays arrays{operands, results, operand_bytes_, result_bytes_};
    const auto run = [&](int64_t begin, int64_t end, MaybeParallel inside) {
      std::byte* space = thread_workspace(space_bytes_);
      for (int64_t i = begin; i < end; ++i) step_(LapackMatrix{arrays, i, space, inside});
    };
    if (is_alone_) run(0, batches_, &parallel);
    else parallel(batches_, grain_, [&](int64_t begin, int64_t end) { run(begin, end, nullptr); });
  }

 private:
  LapackRun(const LapackCall& call, LapackStep step)
      : step_(std::move(step)), batches_(call.sizes.batches), space_bytes_(call.space_bytes) {
    const int64_t batches = std::max<int64_t>(1, batches_);
    for (const Shape& shape : call.operands)
      operand_bytes_.push_back(literal_bytes(shape) / batches);
    for (const Shape& shape : call.results) result_bytes_.push_back(literal_bytes(shape) / batches);
    const int64_t work = call.sizes.area() * call.least();
    grain_ = std::max<int64_t>(1, done_together / (work + 1));
    is_alone_ = is_alone(batches_, work);
  }

  LapackStep step_;
  std::vector<int64_t> operand_bytes_, result_bytes_;
  int64_t batches_, space_bytes_, grain_;
  bool is_alone_;
};

}  // namespace

void LapackMatrix::copy(size_t i, size_t o) const {
  const auto* from = operand<std::byte>(i);
  auto* to = result<std::byte>(o);
  if (from != to) std::memcpy(to, from, static_cast<size_t>(arrays.result_bytes[o]));
}

void LapackMatrix::clear(size_t o) const {
  std::memset(result<std::byte>(o), 0, static_cast<size_t>(arrays.result_bytes[o]));
}

Result<void> LapackCall::begin(size_t operand_count, size_t result_count, size_t matrix,
                               const LapackLimit& limit) {
  const bool are_arrays = std::ranges::all_of(operands, &Shape::is_array) &&
                          std::ranges::all_of(results, &Shape::is_array);
  if (!are_arrays || operands.size() != operand_count || results.size() != result_count ||
      operands[matrix].rank() < 2)
    return fail(ErrorKind::Shape, "expected {} operands and {} results, of matrices in operand {}",
                operand_count, result_count, matrix);
  batch = operands[matrix].dims;
  for (int64_t size : std::span(batch).last(2))
    if (size > limit.side) return fail(ErrorKind::Limit, "a matrix with a side of {}", size);
  sizes = matrix_sizes(batch);
  if (sizes.area() > limit.area)
    return fail(ErrorKind::Limit, "a matrix of {} x {}", sizes.rows, sizes.columns);
  batch.resize(batch.size() - 2);
  return {};
}

Result<void> LapackCall::expect_operand(size_t i, const LapackArray& array) const {
  return expect("operand", i, operands[i], batch, array);
}

Result<void> LapackCall::expect_results(std::initializer_list<LapackArray> arrays) const {
  size_t i = 0;
  for (const LapackArray& array : arrays) {
    HILO_DO(expect("result", i, results[i], batch, array));
    ++i;
  }
  return {};
}

Result<void> LapackCall::expect_square() const {
  if (sizes.rows == sizes.columns) return {};
  return fail(ErrorKind::Shape, "expected square matrices");
}

Result<Literal> evaluate_lapack(Call& call, PrepareLapack prepare) {
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  LapackCall l{{}, {}, std::move(config), call.is_reference()};
  std::vector<const std::byte*> from;
  for (const Literal& operand : call.operands) {
    l.operands.push_back(operand.shape());
    from.push_back(operand.shape().is_array() ? operand.raw().data() : nullptr);
  }
  for (const Shape& shape : parts_of(call.shape())) l.results.push_back(call.held(shape));
  const std::vector<Shape> shapes = l.results;
  const Result<LapackRun> run = LapackRun::make(std::move(l), prepare);
  if (!run) return call.error(run.error().kind, run.error().message);
  std::vector<StepValue> values;
  std::vector<std::byte*> to;
  for (const Shape& shape : shapes) {
    values.push_back({make_zeros(call, shape), {}});
    to.push_back(values.back().literal.mutable_raw().data());
  }
  (*run)(from, to, call.in_chunks());
  return Steps(call).finish(std::move(values));
}

Routine lapack_routine(const RoutineCall& call, PrepareLapack prepare) {
  auto config = BackendConfig::parse(call.module.extra(call.module[call.id]).backend_config);
  if (!config) return {};
  LapackCall l{{}, parts_of(call.result()), std::move(*config)};
  for (InstructionId operand : call.module.operands(call.id))
    l.operands.push_back(call.module.shape(operand));
  Result<LapackRun> run = LapackRun::make(std::move(l), prepare);
  // The evaluator says when there is too little memory.
  if (!run || run->space_bytes() > max_space) return {};
  return std::move(*run);
}

}  // namespace hilo
