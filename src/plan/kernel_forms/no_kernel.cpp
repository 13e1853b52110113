#include <array>

#include "plan/commands.h"

namespace hilo {

std::string_view text_of(NoKernel reason) {
  static constexpr std::array texts = {
#define REASON(name, text) std::string_view(text),
#include "plan/no_kernel.def"
#undef REASON
  };
  return texts[static_cast<size_t>(reason)];
}

std::string describe(const Module& module, const Command& command) {
  if (!command.refusal) return {};
  const auto& [reason, at] = *command.refusal;
  if (at == command.instruction) return std::string(text_of(reason));
  return fmt::format("{} of {}: {}", text_of(module[at].op),
                     to_string_without_layout(module.shape(at)), text_of(reason));
}

}  // namespace hilo
