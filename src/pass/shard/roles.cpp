#include "pass/shard/roles.h"

#include <algorithm>
#include <numeric>

#include "pass/shard/role_axes.h"

namespace hilo {
namespace {

AxisSharding bare_sharding(const RoleQuestion& question, size_t rank) {
  AxisSharding out = replicated_sharding(question.mesh, rank);
  out.manual = question.manual;
  return out;
}

void put_dims(const RoleArray& array, const Roles& roles, AxisSharding& out) {
  for (size_t dim = 0; dim < array.factors->size(); ++dim) {
    SubAxes& axes = out.dims[dim].axes;
    for (size_t factor : (*array.factors)[dim])
      axes.insert(axes.end(), roles.axes[factor].begin(), roles.axes[factor].end());
    axes = merge_axes(axes);
  }
}

// The search: seeds are what the arrays have, each alone and with the others' axes where they do
// not disagree; then single axes change their factor as long as that costs less.
class RoleSearch {
 public:
  RoleSearch(const RoleQuestion& question, ReshardCosts& costs)
      : question_(question), costs_(costs), space_(question) {}

  Roles run() {
    best_.roles = space_.none();  // should no operand come to any role
    consider(space_.none());
    for (const RoleArray* first : space_.arrays()) {
      AtomRoles alone = space_.project(*first);
      consider(alone);
      for (const RoleArray* other : space_.arrays()) space_.merge(space_.project(*other), alone);
      consider(std::move(alone));
    }
    if (best_.sent > 0)
      while (improve()) {
      }
    Roles out = space_.roles(best_.roles);
    out.seconds = best_.seconds;
    out.sent = best_.sent;
    return out;
  }

 private:
  struct Candidate {
    AtomRoles roles;
    double seconds = std::numeric_limits<double>::infinity();
    double sent = 0;  // seconds of it
  };

  bool consider(AtomRoles roles) {
    if (!space_.is_possible(roles) || !seen_.insert(roles).second) return false;
    Candidate one = cost_of(std::move(roles));
    if (one.seconds >= best_.seconds) return false;
    best_ = std::move(one);
    return true;
  }

  Candidate cost_of(AtomRoles atoms) {
    const Roles roles = space_.roles(atoms);
    Candidate out{std::move(atoms)};
    for (const RoleArray& operand : question_.operands)
      if (!operand.is_free && !operand.is_left_out)
        out.sent += seconds_to_bring(operand, operand_sharding(question_, operand, roles));
    for (const RoleArray& result : question_.results)
      if (result.sharding)
        out.sent += costs_.seconds(*result.shape, result_sharding(question_, result, roles),
                                   *result.sharding);
    if (question_.sent_bytes) out.sent += costs_.seconds_to_send(question_.sent_bytes(roles));
    double devices = 1;
    for (const SubAxes& axes : roles.axes) devices *= static_cast<double>(axes_size(axes));
    out.seconds = out.sent + costs_.seconds_to_compute(question_.operations / devices);
    return out;
  }

  double seconds_to_bring(const RoleArray& operand, const AxisSharding& to) {
    if (std::ranges::count(operand.at_hand, to) > 0) return 0;
    const double out = costs_.seconds(*operand.shape, *operand.sharding, to);
    if (!operand.other || out == 0) return out;
    return std::min(out, costs_.seconds(*operand.shape, *operand.other, to));
  }

  // Each axis to each other factor, or to none, or from none.
  bool improve() {
    const AtomRoles from = best_.roles;
    bool is_better = false;
    for (uint8_t atom = 0; atom < space_.atoms(); ++atom) {
      AtomRoles without = from;
      for (auto& list : without) std::erase(list, atom);
      is_better |= consider(without);
      for (size_t factor = 0; factor < without.size(); ++factor) {
        AtomRoles with = without;
        with[factor].push_back(atom);
        is_better |= consider(with);
        if (with[factor].size() == 1) continue;
        std::ranges::rotate(with[factor], with[factor].end() - 1);
        is_better |= consider(std::move(with));
      }
    }
    return is_better;
  }

  const RoleQuestion& question_;
  ReshardCosts& costs_;
  RoleSpace space_;
  Candidate best_;
  std::set<AtomRoles> seen_;
};

}  // namespace

AxisSharding operand_sharding(const RoleQuestion& question, const RoleArray& array,
                              const Roles& roles) {
  AxisSharding out = bare_sharding(question, array.shape->dims.size());
  put_dims(array, roles, out);
  return out;
}

AxisSharding result_sharding(const RoleQuestion& question, const RoleArray& array,
                             const Roles& roles) {
  AxisSharding out = operand_sharding(question, array, roles);
  for (size_t factor = 0; factor < roles.axes.size(); ++factor)
    if (question.factors.factors[factor].kind == ShardingFactor::Kind::Reduction)
      out.unreduced.insert(out.unreduced.end(), roles.axes[factor].begin(),
                           roles.axes[factor].end());
  std::ranges::sort(out.unreduced);
  out.unreduced = merge_axes(out.unreduced);
  if (!out.unreduced.empty()) out.unreduced_op = question.reduction;
  return out;
}

Roles choose_roles(const RoleQuestion& question, ReshardCosts& costs) {
  return RoleSearch(question, costs).run();
}

}  // namespace hilo
