// LAPACK's routines under other names: as JAX called them before typed FFI (numbers as operands
// before the arrays, workspaces among the results), as cuSOLVER's, and as XLA's own custom calls
// for factorisations. Each is the typed call on the same arrays. References: jaxlib/lapack.py of
// 2023, jax/_src/lax/linalg.py, "QR decomposition" and "Eigh" in openxla.org/xla.
#include <algorithm>

#include "eval/backend_config.h"
#include "eval/custom_call.h"
#include "eval/storage.h"

namespace hilo {
namespace {

constexpr int unused = -1;  // a workspace, or an info that the typed call has not

struct Form {
  std::string_view routine;
  size_t numbers, arrays;    // operands
  std::vector<int> results;  // for each of this form, which one of the typed call it is
  std::string (*config)(const Call&);
};

// Operand i as a number; 0 where it is none.
int64_t number(const Call& call, size_t i) {
  const Literal& operand = call.operands[i];
  return operand.shape().is_array() && operand.count() == 1 ? operand.integer_at(0) : 0;
}

std::string triangle(bool lower) {
  return fmt::format("uplo = {} : ui8", lower ? 'L' + 0 : 'U' + 0);
}
std::string vectors(const char* key, int64_t letter) {
  return fmt::format("{} = {} : ui8", key, letter);
}

std::string no_config(const Call&) { return ""; }
template <size_t i>
std::string triangle_in(const Call& call) {
  return triangle(number(call, i) != 0);
}
std::string syevd_config(const Call& call) {
  return triangle_in<0>(call) + ", " + vectors("mode", 'V');
}
std::string gesdd_config(const Call& call) {
  return vectors("mode", number(call, 1) == 0 ? 'N' : number(call, 0) != 0 ? 'A' : 'S');
}
std::string geev_config(const Call& call) {
  return vectors("compute_left", number(call, 2)) + ", " +
         vectors("compute_right", number(call, 3));
}
std::string gees_config(const Call& call) {
  return vectors("mode", number(call, 2)) + ", " + vectors("sort", number(call, 3));
}
std::string gehrd_config(const Call& call) {
  return fmt::format("low = {} : i32, high = {} : i32", number(call, 1), number(call, 2));
}
std::string trsm_config(const Call& call) {
  const int64_t transpose = number(call, 2);
  return vectors("side", number(call, 0) != 0 ? 'L' : 'R') + ", " + triangle_in<1>(call) + ", " +
         vectors("trans_x", transpose == 0   ? 'N'
                            : transpose == 1 ? 'T'
                                             : 'C') +
         ", " + vectors("diag", number(call, 3) != 0 ? 'U' : 'N');
}

// Rows of complex routines stand behind those of real ones where they differ.
std::optional<Form> form_of(std::string_view routine, bool complex) {
  const Form forms[] = {
      {"getrf", 3, 1, {0, 1, 2}, no_config},
      {"geqrf", 4, 1, {0, 1, unused, unused}, no_config},
      {"geqp3", 4, 2, {0, 1, 2, unused, unused}, no_config},
      {"orgqr", 5, 2, {0, unused, unused}, no_config},
      {"ungqr", 5, 2, {0, unused, unused}, no_config},
      {"potrf", 3, 1, {0, 1}, triangle_in<0>},
      {"gesdd", 6, 1, {0, 1, 2, 3, 4, unused, unused}, gesdd_config},
      {"syevd", 3, 1, {0, 1, 2, unused, unused}, syevd_config},
      {"heevd", 3, 1, {0, 1, 2, unused, unused, unused}, syevd_config},
      {"geev", 4, 1,
       complex ? std::vector{unused, unused, 0, 1, 2, 3}
               : std::vector{unused, unused, unused, 0, 1, 2, 3, 4},
       geev_config},
      {"gees", 4, 1, complex ? std::vector{0, unused, 2, 1, 3, 4} : std::vector{0, 2, 3, 1, 4, 5},
       gees_config},
      {"gehrd", 6, 1, {0, 1, 2, unused}, gehrd_config},
      {"sytrd", 5, 1, {0, 1, 2, 3, 4, unused}, triangle_in<1>},
      {"hetrd", 5, 1, {0, 1, 2, 3, 4, unused}, triangle_in<1>},
      {"trsm", 8, 2, {0}, trsm_config},
  };
  for (const Form& form : forms)
    if (form.routine == routine) return form;
  return std::nullopt;
}

// The typed custom call on some of the operands.
Result<Literal> run_typed(Call& call, const std::string& target, const std::string& config,
                          const Shape& result, size_t first, size_t count) {
  Module module;
  module.entry = module.add_computation("typed");
  std::vector<InstructionId> parameters;
  std::vector<Literal> operands;
  for (size_t i = 0; i < count; ++i) {
    parameters.push_back(module.add_instruction(
        module.entry, Op::Parameter, call.module.shape(call.module.operand(call.id, first + i)), {},
        ParameterAttributes{static_cast<int64_t>(i)}));
    operands.push_back(call.operands[first + i]);
  }
  CustomCallAttributes attributes;
  attributes.custom_call_target = target;
  const InstructionId id = module.add_instruction(module.entry, Op::CustomCall, result, parameters,
                                                  std::move(attributes));
  module[module.entry].root = id;
  const std::string braced = "{" + config + "}";
  if (!config.empty()) module.mutable_extra(id).backend_config = braced;
  Call inner{call.device, module, id, module[id], operands};
  Result<Literal> out = op_function(Op::CustomCall)(inner);
  if (!out) return call.error(out.error().kind, out.error().message);
  return out;
}

std::span<const Shape> results_of(const Call& call) {
  const Shape& stated = call.shape();
  return stated.is_tuple() ? std::span<const Shape>(stated.elements) : std::span(&stated, 1);
}

// The shape that the typed call states: those of the results that it has, in its own order.
Shape typed_shape(const Form& form, std::span<const Shape> stated) {
  std::vector<Shape> parts(stated.size());
  size_t count = 0;
  for (size_t i = 0; i < stated.size() && i < form.results.size(); ++i)
    if (form.results[i] != unused) parts[form.results[i]] = stated[i], ++count;
  parts.resize(count);
  return count == 1 ? parts[0] : Shape::tuple(std::move(parts));
}

char letter_of(ElementType type) {
  if (type == ElementType::F64) return 'd';
  if (type == ElementType::C64) return 'c';
  return type == ElementType::C128 ? 'z' : 's';
}

ElementType matrix_type(const Call& call) {
  if (call.operands.empty()) return ElementType::Invalid;
  return call.module.shape(call.module.operand(call.id, 0)).type;
}

// `lapack_sgetrf_ffi` and the like for operand 0's type; some have another name over complex types.
std::string typed_target(const Call& call, const std::string& real, const std::string& complex) {
  const ElementType type = matrix_type(call);
  return fmt::format("lapack_{}{}_ffi", letter_of(type), is_complex(type) ? complex : real);
}

Result<Literal> run_whole(Call& call, const std::string& target, const std::string& config) {
  return run_typed(call, target, config, call.shape(), 0, call.operands.size());
}

}  // namespace

Result<Literal> call_lapack_untyped(Call& call) {
  const std::string& target = call.attributes<CustomCallAttributes>().custom_call_target;
  const size_t letter = target.find('_') + 1;  // lapack_sgetrf, blas_strsm
  const bool complex = target[letter] == 'c' || target[letter] == 'z';
  const std::optional<Form> form = form_of(std::string_view(target).substr(letter + 1), complex);
  const std::span<const Shape> stated = results_of(call);
  const bool fits = form && call.operands.size() == form->numbers + form->arrays &&
                    stated.size() + 2 >= form->results.size() && !stated.empty();
  const int least = fits ? 1 + *std::ranges::max_element(form->results) : 0;
  const auto has = [&](size_t i) { return i < stated.size() && form->results[i] != unused; };
  int found = 0;
  for (size_t i = 0; fits && i < form->results.size(); ++i) found += has(i);
  if (!fits || found != least)
    return call.error(ErrorKind::Shape, "operands or results are not those of the routine");
  HILO_TRY(Literal out,
           run_typed(call, "lapack_" + target.substr(letter) + "_ffi", form->config(call),
                     typed_shape(*form, stated), form->numbers, form->arrays));
  Steps steps(call);
  std::vector<StepValue> values;
  for (size_t i = 0; i < stated.size(); ++i) {
    const int from = i < form->results.size() ? form->results[i] : unused;
    if (from == unused) values.push_back({make_zeros(call, call.held(stated[i])), stated[i]});
    else values.push_back({out.shape().is_tuple() ? out.elements()[from] : out, stated[i]});
  }
  if (form->routine == "trsm")  // alpha times the solution
    values[0] = steps.binary(Op::Multiply, std::move(values[0]),
                             steps.broadcast(steps.operand(7), stated[0], {}));
  return steps.finish(std::move(values));
}

Result<Literal> call_cusolver_getrf(Call& call) {
  return run_whole(call, typed_target(call, "getrf", "getrf"), "");
}
Result<Literal> call_cusolver_geqrf(Call& call) {
  return run_whole(call, typed_target(call, "geqrf", "geqrf"), "");
}
Result<Literal> call_cusolver_orgqr(Call& call) {
  return run_whole(call, typed_target(call, "orgqr", "ungqr"), "");
}
Result<Literal> call_cusolver_potrf(Call& call) {
  HILO_TRY(const BackendConfig config, BackendConfig::parse(call));
  return run_whole(call, typed_target(call, "potrf", "potrf"),
                   triangle(config.flag("lower", true)));
}
Result<Literal> call_cusolver_sytrd(Call& call) {
  HILO_TRY(const BackendConfig config, BackendConfig::parse(call));
  return run_whole(call, typed_target(call, "sytrd", "hetrd"),
                   triangle(config.flag("lower", true)));
}
Result<Literal> call_cusolver_syevd(Call& call) {
  HILO_TRY(const BackendConfig config, BackendConfig::parse(call));
  return run_whole(call, typed_target(call, "syevd", "heevd"),
                   triangle(config.flag("lower", true)) + ", " + vectors("mode", 'V'));
}

namespace {

// Conjugate transposes of the matrices.
StepValue adjoint(Steps& steps, StepValue value) {
  Dims order;
  for (int64_t d = 0; d < value.shape.rank(); ++d) order.push_back(d);
  if (order.size() >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
  value = steps.transpose(std::move(value), order);
  if (!is_complex(value.shape.type)) return value;
  const Shape shape = value.shape, real = with_type(shape, real_type_of(shape.type));
  StepValue imaginary = steps.unary(Op::Negate, steps.op(Op::Imag, real, {value}));
  StepValue reals = steps.op(Op::Real, real, {std::move(value)});
  return steps.op(Op::Complex, shape, {std::move(reals), std::move(imaginary)});
}

// The letter of LAPACK's job, told by the shapes of the vectors.
char job_of(const Shape& matrix, const Shape& u, const Shape& vt, bool wanted) {
  if (!wanted || u.rank() < 2 || vt.rank() < 2 || matrix.rank() < 2) return 'N';
  const size_t row = matrix.dims.size() - 2;
  const bool all = u.dims.back() == matrix.dims[row] && vt.dims[row] == matrix.dims.back();
  return all ? 'A' : 'S';
}

// Singular values with the vectors' results exchanged, or the right ones as columns.
Result<Literal> singular_values(Call& call, bool exchanged, bool columns) {
  HILO_TRY(const BackendConfig config, BackendConfig::parse(call));
  Shape typed = call.shape();
  if (typed.elements.size() != 5 || call.operands.size() != 1)
    return call.error(ErrorKind::Shape, "expected a matrix, and five results");
  const Shape matrix = call.module.shape(call.module.operand(call.id, 0));
  if (exchanged) std::swap(typed.elements[2], typed.elements[3]);
  Dims& right = typed.elements[3].dims;
  if (columns && right.size() >= 2) std::swap(right[right.size() - 1], right[right.size() - 2]);
  if (columns) typed.elements[3] = with_dims(typed.elements[3], right);
  const char job =
      job_of(matrix, typed.elements[2], typed.elements[3], config.flag("compute_uv", true));
  HILO_TRY(Literal out, run_typed(call, typed_target(call, "gesvd", "gesvd"), vectors("mode", job),
                                  typed, 0, 1));
  std::vector<Literal>& parts = out.mutable_elements();
  std::vector<StepValue> values;
  for (size_t i = 0; i < parts.size(); ++i)
    values.push_back({std::move(parts[i]), typed.elements[i]});
  Steps steps(call);
  if (columns) values[3] = adjoint(steps, std::move(values[3]));
  if (exchanged) std::swap(values[2], values[3]);
  return steps.finish(std::move(values));
}

}  // namespace

// (a, s, u, vt, info). A matrix with more columns than rows is given `transposed`: then the right
// vectors come before the left ones.
Result<Literal> call_cusolver_gesvd(Call& call) {
  HILO_TRY(const BackendConfig config, BackendConfig::parse(call));
  return singular_values(call, config.flag("transposed", false), false);
}

// (a, s, u, v, info)
Result<Literal> call_cusolver_gesvdj(Call& call) { return singular_values(call, false, true); }

// (factors, pivots, permutation)
Result<Literal> call_lu_decomposition(Call& call) {
  Shape typed = call.shape();
  if (typed.elements.size() != 3 || typed.elements[1].dims.empty() || call.operands.size() != 1)
    return call.error(ErrorKind::Shape, "expected (factors, pivots, permutation)");
  const Shape permutation = typed.elements[2];
  Dims batch = typed.elements[1].dims;
  batch.pop_back();
  typed.elements[2] = Shape::array(ElementType::S32, std::move(batch));
  HILO_TRY(Literal out, run_typed(call, typed_target(call, "getrf", "getrf"), "", typed, 0, 1));
  Steps steps(call);
  StepValue factors{out.elements()[0], typed.elements[0]};
  StepValue pivots{out.elements()[1], typed.elements[1]};
  const Shape shape = pivots.shape;
  pivots = steps.binary(Op::Subtract, std::move(pivots), steps.scalar(1, shape));
  CustomCallAttributes attributes;
  attributes.custom_call_target = "cu_lu_pivots_to_permutation";
  StepValue rows = steps.op(Op::CustomCall, permutation, {pivots}, std::move(attributes));
  return steps.finish({std::move(factors), std::move(pivots), std::move(rows)});
}

// (eigenvectors, eigenvalues ascending); config: lower, sort, iterations, tolerance.
Result<Literal> call_eigh(Call& call) {
  const std::string_view config = call.module.extra(call.instruction).backend_config;
  Shape stated = call.shape();
  if (stated.elements.size() != 2 || stated.elements[1].dims.empty())
    return call.error(ErrorKind::Shape, "expected (eigenvectors, eigenvalues)");
  Dims batch = stated.elements[1].dims;
  batch.pop_back();
  stated.elements.push_back(Shape::array(ElementType::S32, std::move(batch)));
  HILO_TRY(Literal out, run_typed(call, typed_target(call, "syevd", "heevd"),
                                  triangle(!config.starts_with('0')) + ", " + vectors("mode", 'V'),
                                  stated, 0, call.operands.size()));
  out.mutable_elements().pop_back();
  return Literal::tuple(std::move(out.mutable_elements()));
}

}  // namespace hilo
