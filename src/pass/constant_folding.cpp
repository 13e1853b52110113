// Computes what depends on constants alone, by the evaluator.
//   op(c, d) => constant
// Results larger than the constants they come from stay as they are, but for small constants in a
// wider type, tables of functions that cost more than reading them and indices of gathers, and no
// more is computed than PassOptions::fold_steps allows. Where no constant may grow, only numbers
// and what is no larger than its constants: a constant takes memory all the time. Assumes nothing.
// Later passes may assume that small values without parameters are constants. Here and not at run
// time, because other rules ask for constants.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "eval/eval.h"
#include "pass/pass.h"

namespace hilo {
namespace {

// Tables of sines, of powers and their kin that are better kept than made in each run; so are those
// of floats of 16 bits that so many ops round.
constexpr int64_t table_bytes = 1 << 17;
constexpr int max_roundings = 3;
// Constants in a wider type, which a loop would convert again for each element that it reads.
constexpr int64_t widened_bytes = 1 << 12;
// Indices of gathers, which rules about them ask for.
constexpr int64_t index_bytes = 1 << 20;

bool may_fold(Op op) { return !has_trait(op, TraitNotFolded) && !is_communication(op); }

// Elementary steps, roughly.
double steps_of(const Module& module, InstructionId id) {
  const Instruction& instruction = module[id];
  double in = 0;
  for (InstructionId operand : module.operands(id)) {
    const Shape& shape = module.shape(operand);
    in += static_cast<double>(element_count(shape));
  }
  const double out = static_cast<double>(element_count(module.shape(id)));
  if (instruction.op == Op::Dot || instruction.op == Op::Convolution) return 1 + in * out;
  if (instruction.op == Op::Sort) return 1 + in * std::log2(2 + in);
  if (instruction.op == Op::ReduceWindow) {
    for (const WindowDim& dim : module.attributes<ReduceWindowAttributes>(id).window.dims)
      in *= static_cast<double>(dim.size);
    return 1 + in;
  }
  if (instruction.op == Op::SelectAndScatter) return 1 + in * in;
  const bool is_matrix = instruction.op == Op::Cholesky || instruction.op == Op::TriangularSolve ||
                         instruction.op == Op::Fft;
  return 1 + in + out + (is_matrix ? in * std::sqrt(in) : 0);
}

class Folder {
 public:
  Folder(Module& module, const PassOptions& options, bool may_grow)
      : module_(module),
        options_(options),
        may_grow_(may_grow),
        editor_(module),
        steps_left_(static_cast<double>(options.fold_steps)) {}

  bool run() {
    bool changed = false;
    for (ComputationId id : open_computations(module_)) changed |= fold(id);
    return changed;
  }

 private:
  // What is known of an instruction's value.
  struct Known {
    bool known = false;     // a constant, or computable from such
    bool computed = false;  // wanted, and no constant yet
    bool costly = false;    // to make of these
    int roundings = 0;      // to 16 bits, of ops behind it
    int64_t bytes = 0;      // of the constants behind it
  };

  bool fold(ComputationId id) {
    const std::vector<InstructionId> order = operands_first(module_, id);
    known_.resize(module_.instructions.size());
    for (InstructionId instruction : order) find_known(instruction);
    std::vector<InstructionId> results;
    for (size_t i = order.size(); i-- > 0;)
      if (decide(order[i], id)) results.push_back(order[i]);
    if (results.empty()) return false;
    return replace(order, results);
  }

  void find_known(InstructionId id) {
    Known& here = known_[id.value];
    const Shape& shape = module_.shape(id);
    if (const Literal* literal = constant_of(module_, id)) {
      here = {literal->shape().is_array(), false, false, 0, literal_bytes(literal->shape())};
      return;
    }
    if (!may_fold(module_[id].op) || module_[id].op == Op::Constant || editor_.is_pinned(id) ||
        !is_static(shape) || !is_plain(shape) || editor_.effects().has(id))
      return;
    for (InstructionId operand : module_.operands(id)) {
      if (!known_[operand.value].known) return;
      here.bytes += known_[operand.value].bytes;
      here.costly = here.costly || known_[operand.value].costly;
      here.roundings = std::max(here.roundings, known_[operand.value].roundings);
    }
    if (is_elementwise(module_[id].op) && is_floating(shape.type) && storage_bytes(shape.type) == 2)
      ++here.roundings;
    here.costly = here.costly || here.roundings > max_roundings ||
                  has_trait(module_[id].op, TraitTranscendental);
    here.known = true;
  }

  // Users come before. Whether the value becomes a constant.
  bool decide(InstructionId id, ComputationId computation) {
    Known& here = known_[id.value];
    if (!here.known || module_[id].op == Op::Constant) return false;
    bool is_wanted = module_[computation].root == id, is_used = false;
    for (InstructionId user : module_.users(id)) {
      is_wanted = is_wanted || !known_[user.value].known;
      is_used = is_used || known_[user.value].computed;
    }
    const double steps = steps_of(module_, id);
    const int64_t bytes = literal_bytes(module_.shape(id));
    const bool fits = module_.shape(id).is_array() && !is_splat(id) &&
                      (module_.shape(id).is_scalar() || bytes <= here.bytes ||
                       (may_grow_ && bytes <= grown_bytes(id, here.costly)));
    if (steps > steps_left_) {
      forget(id);
      return false;
    }
    here.computed = is_used || (is_wanted && fits);
    here.known = here.computed || !is_wanted;
    if (here.computed) steps_left_ -= steps;
    return is_wanted && fits;
  }

  int64_t grown_bytes(InstructionId id, bool costly) const {
    return std::max({options_.fold_bytes, costly ? table_bytes : 0, is_index(id) ? index_bytes : 0,
                     is_widened(id) ? widened_bytes : 0});
  }

  // Of gathers, perhaps the same for many of them.
  bool is_index(InstructionId id, size_t depth = 0) const {
    return std::ranges::any_of(module_.users(id), [&](InstructionId user) {
      const Op op = module_[user].op;
      if (op == Op::Gather) return module_.operand(user, 1) == id;
      return depth < SearchBudget::max_depth && (op == Op::Broadcast || op == Op::Reshape) &&
             is_index(user, depth + 1);
    });
  }

  // In type, of what is a constant already.
  bool is_widened(InstructionId id) const {
    return module_[id].op == Op::Convert && constant_of(module_, module_.operand(id, 0));
  }

  // One number everywhere is best written so.
  bool is_splat(InstructionId id) const {
    return module_[id].op == Op::Broadcast &&
           element_count(module_.shape(module_.operand(id, 0))) == 1;
  }

  // The value stays; users that were to be computed from it stay too.
  void forget(InstructionId id) {
    std::vector<InstructionId> stack = {id};
    while (!stack.empty()) {
      const InstructionId top = stack.back();
      stack.pop_back();
      known_[top.value] = {};
      for (InstructionId user : module_.users(top))
        if (known_[user.value].computed) stack.push_back(user);
    }
  }

  bool replace(const std::vector<InstructionId>& order, std::vector<InstructionId> results) {
    std::erase_if(results, [&](InstructionId id) { return !known_[id.value].computed; });
    std::vector<Literal> values = compute(order, results);
    bool changed = false;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].has_value()) continue;
      const InstructionId constant =
          editor_.add_constant(results[i], values[i].with_shape(module_.shape(results[i])));
      if (!editor_.can_replace(results[i], constant)) {
        editor_.remove_unused(constant);
        continue;
      }
      editor_.replace(results[i], constant);
      changed = true;
    }
    return changed;
  }

  // All at once; where that fails, each alone, so that one bad value does not stop the others.
  std::vector<Literal> compute(const std::vector<InstructionId>& order,
                               const std::vector<InstructionId>& results) {
    if (results.empty()) return {};
    Result<Literal> all = evaluate(order, results);
    if (all) return all->elements();
    if (results.size() == 1) return {Literal()};
    std::vector<Literal> out;
    for (InstructionId result : results) out.push_back(compute(order, {result})[0]);
    return out;
  }

  // A computation of what the results need, for a moment at the end of the module.
  Result<Literal> evaluate(const std::vector<InstructionId>& order,
                           const std::vector<InstructionId>& results) {
    std::unordered_set<uint32_t> needed;
    for (InstructionId result : results) needed.insert(result.value);
    for (size_t i = order.size(); i-- > 0;)
      if (needed.contains(order[i].value))
        for (InstructionId operand : module_.operands(order[i])) needed.insert(operand.value);
    const ComputationId moment = module_.add_computation("fold");
    std::unordered_map<uint32_t, InstructionId> copies;
    std::vector<InstructionId> made;
    for (InstructionId id : order) {
      if (!needed.contains(id.value)) continue;
      std::vector<InstructionId> operands;
      for (InstructionId operand : module_.operands(id)) operands.push_back(copies[operand.value]);
      made.push_back(copies[id.value] = editor_.clone(id, moment, operands));
    }
    std::vector<InstructionId> elements;
    for (InstructionId result : results) elements.push_back(copies[result.value]);
    made.push_back(editor_.add_tuple(elements[0], elements));
    module_[moment].root = made.back();
    EvalOptions eval;
    eval.threads = 1;
    eval.is_verified = true;  // as every pass assumes, and the module is not whole for a moment
    Result<Literal> out = evaluate_computation(module_, moment, {}, eval);
    module_[moment].root = {};
    for (size_t i = made.size(); i-- > 0;) editor_.remove_unused(made[i]);
    module_.computations.pop_back();
    return out;
  }

  Module& module_;
  const PassOptions& options_;
  const bool may_grow_;
  Editor editor_;
  double steps_left_;
  std::vector<Known> known_;  // by instruction
};

}  // namespace

Result<bool> fold_constants(Module& module, const PassOptions& options) {
  return Folder(module, options, true).run();
}

Result<bool> fold_without_growth(Module& module, const PassOptions& options) {
  return Folder(module, options, false).run();
}

}  // namespace hilo
