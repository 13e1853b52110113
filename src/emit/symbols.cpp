#include "emit/symbols.h"

#include <charconv>
#include <cmath>

#include "emit/complex.h"

namespace hilo {
namespace {

constexpr std::string_view prefix = "hilo.constant.";

struct LibmFunction {
  const void* address;
  const char* name;
  unsigned operands;
};
using Real = double (*)(double);
using Real2 = double (*)(double, double);
const void* address_of(Real function) { return reinterpret_cast<const void*>(function); }
const void* address_of(Real2 function) { return reinterpret_cast<const void*>(function); }

// What call_pure is given; tests/compile/object_file_test.py calls each of them.
std::span<const LibmFunction> libm_functions() {
#define REAL(name) {address_of(Real(&::name)), #name, 1}
#define REAL2(name) {address_of(Real2(&::name)), #name, 2}
  static const LibmFunction functions[] = {REAL(acos),   REAL(acosh), REAL(asin),  REAL(asinh),
                                           REAL(atanh),  REAL(cbrt),  REAL(cos),   REAL(cosh),
                                           REAL(erf),    REAL(sin),   REAL(sinh),  REAL(tan),
                                           REAL2(atan2), REAL2(pow),  REAL(expm1), REAL(log1p)};
#undef REAL
#undef REAL2
  return functions;
}

}  // namespace

llvm::FunctionCallee libm_function(llvm::Module& ir, const void* address) {
  llvm::Type* real = llvm::Type::getDoubleTy(ir.getContext());
  const auto declared = [&](const char* name, llvm::Type* result, unsigned count) {
    const std::vector<llvm::Type*> operands(count, real);
    return ir.getOrInsertFunction(name, llvm::FunctionType::get(result, operands, false));
  };
  for (const LibmFunction& libm : libm_functions())
    if (libm.address == address) return declared(libm.name, real, libm.operands);
  for (const ComplexFunction& function : complex_functions())
    if (function.address == address)
      return declared(function.name, llvm::StructType::get(real, real), function.operands);
  check(false, "emit: a function of libm that has a name");
  return {};
}

llvm::GlobalVariable* constant_array(llvm::Module& ir, InstructionId constant) {
  const std::string name = fmt::format("{}{}", prefix, constant.value);
  if (llvm::GlobalVariable* known = ir.getNamedGlobal(name)) return known;
  return new llvm::GlobalVariable(ir, llvm::Type::getInt8Ty(ir.getContext()), true,
                                  llvm::GlobalValue::ExternalLinkage, nullptr, name);
}

std::optional<InstructionId> constant_called(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  InstructionId out;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out.value);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return out;
}

}  // namespace hilo
