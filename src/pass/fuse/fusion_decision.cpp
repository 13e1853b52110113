#include "pass/fuse/no_fusion.h"

#include <array>

namespace hilo {
namespace {

struct ReasonText {
  NoFusion reason;
  std::string_view name, text;
};
constexpr ReasonText reasons[] = {
#define REASON(name, text) {NoFusion::name, #name, text},
#include "pass/fuse/no_fusion.def"
#undef REASON
};

constexpr auto only_reasons = [] {
  std::array<NoFusion, std::size(reasons)> out;
  for (size_t i = 0; i < out.size(); ++i) out[i] = reasons[i].reason;
  return out;
}();

}  // namespace

std::span<const NoFusion> all_no_fusions() { return only_reasons; }

std::string_view name_of(NoFusion reason) { return reasons[static_cast<size_t>(reason)].name; }

std::string_view name_of(FusionQuestion question) {
  static constexpr std::string_view names[] = {"consumer", "join", "merge", "recompute"};
  return names[static_cast<size_t>(question)];
}

std::string describe(const FusionDecision& decision) {
  if (!decision.reason) return {};
  return fmt::format(fmt::runtime(reasons[static_cast<size_t>(*decision.reason)].text),
                     fmt::arg("count", decision.count), fmt::arg("limit", decision.limit));
}

}  // namespace hilo
