// Custom calls from shared libraries, through custom_call_abi.h.
#include <dlfcn.h>

#include <algorithm>

#include "eval/custom_call_abi.h"
#include "eval/eval.h"

namespace hilo {
namespace {

std::string symbol_of(std::string_view target) {
  std::string out(target);
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return out;
}

HiloArray array_of(const Literal& literal, void* data, int64_t bytes) {
  const Shape& shape = literal.shape();
  return {proto_number(shape.type), static_cast<int32_t>(shape.dims.size()), shape.dims.data(),
          data, bytes};
}

Result<void> call_library(HiloCustomCallFunction function, const CustomCallArguments& arguments) {
  const std::string target(arguments.target), config(arguments.backend_config);
  std::vector<HiloArray> operands, results;
  for (const Literal& operand : arguments.operands) {
    const bool has_bytes = operand.shape().is_array();
    operands.push_back(array_of(operand,
                                has_bytes ? const_cast<std::byte*>(operand.raw().data()) : nullptr,
                                has_bytes ? static_cast<int64_t>(operand.raw().size()) : 0));
  }
  for (Literal& result : arguments.results) {
    const bool has_bytes = result.shape().is_array();
    results.push_back(array_of(result, has_bytes ? result.mutable_raw().data() : nullptr,
                               has_bytes ? static_cast<int64_t>(result.raw().size()) : 0));
  }
  char message[1024] = "";
  const HiloCustomCall call{HILO_CUSTOM_CALL_VERSION,
                            0,
                            target.c_str(),
                            config.c_str(),
                            static_cast<int64_t>(operands.size()),
                            operands.data(),
                            static_cast<int64_t>(results.size()),
                            results.data(),
                            message,
                            sizeof message};
  const int status = function(&call);
  if (status == 0) return {};
  message[sizeof message - 1] = 0;
  return fail(ErrorKind::Evaluation, "custom call '{}' failed with {}{}{}", target, status,
              message[0] != 0 ? ": " : "", message);
}

Result<void> fill_zeros(const CustomCallArguments& arguments) {
  for (Literal& result : arguments.results)
    if (result.shape().is_array()) std::ranges::fill(result.mutable_raw(), std::byte{0});
  return {};
}

// What a marker means: the results are the first of the operands' arrays.
Result<void> pass_operands_on(const CustomCallArguments& arguments) {
  std::vector<Literal> operands(arguments.operands.begin(), arguments.operands.end());
  // A result may lie where another one's operand does.
  const auto& call = arguments.module->attributes<CustomCallAttributes>(*arguments.instruction);
  if (!call.output_to_operand_aliasing.empty())
    for (Literal& operand : operands)
      if (operand.shape().is_array()) operand.mutable_raw();
  for (size_t i = 0; i < arguments.results.size(); ++i) {
    const Shape& result = arguments.results[i].shape();
    const bool fits =
        i < arguments.operands.size() && same_dims(arguments.operands[i].shape(), result);
    if (!fits)
      return fail(
          ErrorKind::Usage, "custom call '{}': its result {} cannot be its operand, which is {}",
          arguments.target, to_string_without_layout(result),
          i < arguments.operands.size() ? to_string_without_layout(arguments.operands[i].shape())
                                        : "missing");
    if (result.is_array())
      std::ranges::copy(operands[i].raw(), arguments.results[i].mutable_raw().begin());
  }
  return {};
}

}  // namespace

Result<CustomCallFunction> load_custom_call(const std::string& target, const std::string& from) {
  if (from == "zeros") return CustomCallFunction(fill_zeros);
  if (from == "operand") return CustomCallFunction(pass_operands_on);
  void* file = dlopen(from.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!file) return fail(ErrorKind::Io, "cannot open {}: {}", from, dlerror());
  void* symbol = dlsym(file, symbol_of(target).c_str());
  if (!symbol) symbol = dlsym(file, "hilo_custom_call");
  if (!symbol)
    return fail(ErrorKind::Usage, "{} exports neither {} nor hilo_custom_call", from,
                symbol_of(target));
  const auto function = reinterpret_cast<HiloCustomCallFunction>(symbol);
  return CustomCallFunction([function](const CustomCallArguments& arguments) {
    return call_library(function, arguments);
  });
}

}  // namespace hilo
