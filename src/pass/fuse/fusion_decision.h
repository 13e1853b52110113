// What the pass `fusion` decides of a producer and a consumer, and why. Part of the front door of
// `pass`.
#pragma once

#include <optional>

#include "ir/ir.h"

namespace hilo {

// Why a producer stays outside the loop of its consumer. A closed list (no_fusion.h), which is not
// shown here: a reason that is added compiles the fusions anew, and no other pass.
enum class NoFusion : uint8_t;
std::string_view name_of(NoFusion reason);

// Fused, or not for a reason; of a reason with a limit, what was counted against it.
struct FusionDecision {
  FusionDecision() = default;
  FusionDecision(NoFusion why, int64_t counted = 0, int64_t at_most = 0)
      : reason(why), count(counted), limit(at_most) {}
  explicit operator bool() const { return !reason; }

  std::optional<NoFusion> reason;
  int64_t count = 0, limit = 0;
};
// The reason as a sentence without its subject; empty where fused.
std::string describe(const FusionDecision& decision);

// What was asked, in this order: whether the consumer may be in a loop with others, whether the
// producer joins its loop, whether their loops become one of several results, whether the consumer
// recomputes the producer.
enum class FusionQuestion : uint8_t { Consumer, Join, Merge, Recompute };
std::string_view name_of(FusionQuestion question);

struct FusionPair {
  enum class Outcome : uint8_t { OneLoop, Recomputed, Stored };
  struct Refusal {
    FusionQuestion question;
    FusionDecision decision;
  };
  InstructionId producer, consumer;
  Outcome outcome = Outcome::Stored;
  std::vector<Refusal> refusals = {};  // where stored: each question that was asked
};

}  // namespace hilo
