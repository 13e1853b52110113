#include "pass/shard/roles.h"

#include <algorithm>

#include "pass/shard/axis_lists.h"
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
    merge_in_place(axes);
  }
}

// What it costs to bring one array to where roles have it, which depends on those of its factors
// alone.
class ArrayCosts {
 public:
  struct Known {
    AtomRoles roles;     // of the array's factors
    double seconds = 0;  // or less, as long as they are not known
    bool is_exact = false;
  };

  ArrayCosts(const RoleQuestion& question, const RoleSpace& space, ReshardCosts& costs,
             const RoleArray& array, bool is_result)
      : question_(question), space_(space), costs_(costs), array_(array), is_result_(is_result) {
    is_own_.resize(space.factors());
    for (const auto& dim : *array.factors)
      for (size_t factor : dim) is_own_[factor] = true;
    for (size_t factor = 0; is_result && factor < is_own_.size(); ++factor)
      if (question.factors.factors[factor].kind == ShardingFactor::Kind::Reduction)
        is_own_[factor] = true;
    atoms_ = space.atoms_of(*array.sharding);
    if (array.other) other_atoms_ = space.atoms_of(*array.other);
  }

  // A bound where the array has not been there before. Good until the next one is asked for.
  Known& find(const AtomRoles& roles) {
    AtomRoles own;
    for (size_t i = 0; i < roles.size(); ++i)
      if (is_own_[roles.list_of(i)]) own.append(roles.list_of(i), roles[i]);
    const auto known = std::ranges::find(known_, own, &Known::roles);
    if (known != known_.end()) return *known;
    Known& out = known_.emplace_back(own);
    const ShardingAtoms at = space_.atoms_of(array_, own, is_result_);
    out.is_exact = is_there(at) || (!array_.at_hand.empty() && is_at_hand(wanted(own)));
    if (!out.is_exact) out.seconds = bound(at);
    return out;
  }

  void make_exact(Known& known) const {
    known.is_exact = true;
    const AxisSharding at = wanted(known.roles);
    if (is_result_) {
      known.seconds = seconds(at, *array_.sharding);
      return;
    }
    known.seconds = seconds(*array_.sharding, at);
    if (array_.other && known.seconds > 0)
      known.seconds = std::min(known.seconds, seconds(*array_.other, at));
  }

 private:
  AxisSharding wanted(const AtomRoles& own) const {
    const Roles roles = space_.roles(own);
    return is_result_ ? result_sharding(question_, array_, roles)
                      : operand_sharding(question_, array_, roles);
  }

  // Whether each device has all that it is to have, so that there is nothing to plan.
  bool is_there(const ShardingAtoms& roles) const {
    if (!atoms_ || array_.sharding->manual != question_.manual) return false;
    return is_result_ ? space_.is_kept(*array_.shape, roles, *atoms_)
                      : space_.is_kept(*array_.shape, *atoms_, roles);
  }

  bool is_at_hand(const AxisSharding& sharding) const {
    return std::ranges::count(array_.at_hand, sharding) > 0;
  }

  double seconds(const AxisSharding& from, const AxisSharding& to) const {
    return costs_.seconds(*array_.shape, from, to);
  }

  double bound(const ShardingAtoms& roles) const {
    if (!atoms_) return 0;
    int64_t out = is_result_ ? space_.min_elements(*array_.shape, roles, *atoms_)
                             : space_.min_elements(*array_.shape, *atoms_, roles);
    if (array_.other)
      out = other_atoms_ ? std::min(out, space_.min_elements(*array_.shape, *other_atoms_, roles))
                         : 0;
    return costs_.seconds(array_.shape->type, out, mesh_size(*question_.mesh));
  }

  const RoleQuestion& question_;
  const RoleSpace& space_;
  ReshardCosts& costs_;
  const RoleArray& array_;
  const bool is_result_;
  std::optional<ShardingAtoms> atoms_, other_atoms_;  // of what the array has, or is to have
  std::vector<bool> is_own_;                          // by factor
  std::vector<Known> known_;
};

// The search: seeds are what the arrays have, each alone and with the others' axes where they do
// not disagree; then single axes change their factor as long as that costs less.
class RoleSearch {
 public:
  RoleSearch(const RoleQuestion& question, ReshardCosts& costs)
      : question_(question), costs_(costs), space_(question) {
    arrays_.reserve(question.operands.size() + question.results.size());
    for (const RoleArray& operand : question.operands)
      if (!operand.is_free && !operand.is_left_out)
        arrays_.emplace_back(question, space_, costs, operand, false);
    for (const RoleArray& result : question.results)
      if (result.sharding) arrays_.emplace_back(question, space_, costs, result, true);
  }

  Roles run() {
    std::vector<AtomRoles> seeds;
    seeds.reserve(space_.arrays().size());
    for (const RoleArray* array : space_.arrays()) seeds.push_back(space_.project(*array));
    if (!is_shared_by_all(seeds)) search(seeds);
    Roles out = space_.roles(best_.roles);
    out.seconds = best_.seconds;
    out.sent = best_.sent;
    return out;
  }

 private:
  struct Candidate {
    AtomRoles roles;  // none, should no operand come to any
    double seconds = std::numeric_limits<double>::infinity();
    double sent = 0;  // seconds of it
  };

  // Where all devices share the work and nothing is sent, nothing costs less: then no more is
  // considered. What search() considers earlier is either the same or of fewer devices.
  bool is_shared_by_all(std::span<const AtomRoles> seeds) {
    if (seeds.empty() || question_.operations <= 0) return false;
    AtomRoles roles = seeds[0];
    for (const AtomRoles& other : seeds) space_.merge(other, roles);
    bool are_all = true;
    for (Atom atom = 0; atom < space_.atoms(); ++atom) are_all = are_all && roles.holds(atom);
    if (are_all && consider(roles) && best_.sent == 0) return true;
    best_ = {};
    return false;
  }

  void search(std::span<const AtomRoles> seeds) {
    consider({});
    for (AtomRoles roles : seeds) {
      consider(roles);
      for (const AtomRoles& other : seeds) space_.merge(other, roles);
      consider(roles);
    }
    if (best_.sent > 0)
      while (improve()) {
      }
  }

  // Reshardings are planned only where what they send at least does not decide.
  bool consider(const AtomRoles& roles) {
    if (!space_.is_possible(roles)) return false;
    const double work = costs_.seconds_to_compute(question_.operations /
                                                  static_cast<double>(space_.devices(roles)));
    known_.clear();
    for (ArrayCosts& array : arrays_) known_.push_back(&array.find(roles));
    if (sent() + work >= best_.seconds) return false;
    for (size_t i = 0; i < known_.size(); ++i) {
      if (known_[i]->is_exact) continue;
      arrays_[i].make_exact(*known_[i]);
      if (sent() + work >= best_.seconds) return false;
    }
    double sent = this->sent();
    if (question_.sent_bytes)
      sent += costs_.seconds_to_send(question_.sent_bytes(space_.roles(roles)));
    if (sent + work >= best_.seconds) return false;
    best_ = {roles, sent + work, sent};
    return true;
  }

  double sent() const {
    double out = 0;
    for (const ArrayCosts::Known* known : known_) out += known->seconds;
    return out;
  }

  // Each axis to each other factor, or to none, or from none.
  bool improve() {
    const AtomRoles from = best_.roles;
    bool is_better = false;
    for (Atom atom = 0; atom < space_.atoms(); ++atom) {
      AtomRoles without = from;
      without.erase(atom);
      is_better |= consider(without);
      for (size_t factor = 0; factor < space_.factors(); ++factor) {
        AtomRoles with = without;
        with.append(factor, atom);
        is_better |= consider(with);
        if (with.of(factor).size() == 1) continue;
        with = without;
        with.prepend(factor, atom);
        is_better |= consider(with);
      }
    }
    return is_better;
  }

  const RoleQuestion& question_;
  ReshardCosts& costs_;
  RoleSpace space_;
  std::vector<ArrayCosts> arrays_;  // that cost something
  std::vector<ArrayCosts::Known*> known_;
  Candidate best_;
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
