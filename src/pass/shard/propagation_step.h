// One step of propagation, at one instruction: what its arrays say of factors goes to the other
// arrays. After Shardy's aggressive propagation (openxla.org/shardy/propagation). Private to
// `pass/shard`.
#pragma once

#include "pass/shard/factor_axes.h"

namespace hilo {

// Which arrays may get axes.
enum class Direction : uint8_t { None = 0, Forward = 1, Backward = 2, Both = 3 };
inline bool allows(Direction direction, Direction way) {
  return (static_cast<uint8_t>(direction) & static_cast<uint8_t>(way)) != 0;
}

struct StepArray {
  const DimensionFactors* dims = nullptr;
  const AxisSharding* sharding = nullptr;        // null: over another mesh, left alone
  const std::vector<SubAxes>* prefix = nullptr;  // axes in front of each dimension's
  int64_t elements = 0;
  bool is_result = false;
};

struct Step {
  const ShardingFactors& factors;
  std::span<const StepArray> arrays;      // operands, then results
  std::span<const Direction> directions;  // by factor
  bool is_elementwise = false;            // operands get no more than the result has
  bool settles_conflicts = false;         // of arrays that are sharded along other axes
  int64_t priority = 0;                   // of the user; later ones do not count
};
// A dimension got axes that another array's has.
struct StepMove {
  size_t array = 0, dim = 0, source = 0, source_dim = 0;
};
struct StepOutcome {
  std::vector<std::optional<AxisSharding>> shardings;  // by array; nothing for those that stay
  std::vector<StepMove> moves;                         // in their order
};

// Takes steps one after the other; kept for the next one is memory alone.
class Stepper {
 public:
  StepOutcome run(const Step& step);

 private:
  // The axes that a factor has where it has most of them.
  struct Offer {
    size_t factor = 0;
    SubAxes axes;
    size_t source = 0;  // the first array that has them all
  };
  void read_arrays();
  void find_offers();
  bool find_offer(size_t factor, Offer& out) const;
  bool comes_before(const Offer& a, const Offer& b) const;
  bool take(const Offer& offer);
  bool extend(size_t a, const Offer& offer, std::span<const SubAxis> wanted);
  bool is_taken(size_t a, size_t factor, const SubAxis& axis) const;
  std::optional<AxisSharding> written(size_t a) const;

  const Step* step_ = nullptr;
  std::vector<ArrayFactors> arrays_;  // the step's, and more behind them
  std::vector<Offer> offers_;         // those that are made, and more behind them
  std::vector<size_t> order_;         // of those that are made
  std::vector<bool> is_extended_;     // by array: some factor took axes
  std::vector<StepMove> moves_;
};

}  // namespace hilo
