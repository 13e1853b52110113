// Costly functions of one float of 16 bits are read from a table of all its values:
//
//   f(x)  =>  gather(f(bitcast-convert(iota)), bitcast-convert(x))
//
// f is what elementwise ops and constants make of x alone, as far as it goes: x logistic(x) is one
// function. Of 65536 values few are common: those of magnitudes from 2^-8 to 8 take 6 KB.
// Its transcendental ops are computed in f64 there, so that results of 16 bits are rounded once.
// Assumes plain layouts and simplified values. Constant folding, which has to follow, computes the
// tables. Later passes may assume nothing.
#include "pass/pass.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "pass/dense_arrays.h"

namespace hilo {
namespace {

constexpr int64_t values = 1 << 16;
// Elements, of which making the table is a small part.
constexpr int64_t min_elements = 2 * values;
// What a function costs at least, in halves of an op that rounds to 16 bits; a look at a table
// takes as long as about three such ops, and longer where x is not in memory (AVX2).
constexpr int min_cost = 10, more_of_computed = 2;
// The same where another table is read at that place.
constexpr int min_further_cost = 6;

class Tabulator {
 public:
  explicit Tabulator(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (ComputationId computation : open_computations(module_)) {
      const std::vector<InstructionId> order = operands_first(module_, computation);
      origins_.resize(module_.instructions.size());
      for (InstructionId id : order) origins_[id.value] = find_origin(id);
      std::vector<InstructionId> results, tabulated;
      for (InstructionId id : order)
        if (is_result(id, computation)) add_narrow(id, results);
      for (InstructionId id : results)
        if (is_worth_a_table(id, tabulated)) tabulated.push_back(id);
      // Users first: what they are made of stands in no table yet.
      for (InstructionId id : tabulated | std::views::reverse) tabulate(id);
      changed = changed || !tabulated.empty();
    }
    return changed;
  }

 private:
  // The value that an instruction is a function of: itself, where it is a function of several. None
  // where that is of no use.
  InstructionId find_origin(InstructionId id) const {
    if (!is_unpinned_dense_array(editor_, id) || element_count(module_.shape(id)) < min_elements)
      return {};
    const ElementType type = module_.shape(id).type;
    const bool may_be_origin = type == ElementType::BF16 || type == ElementType::F16;
    const InstructionId self = may_be_origin ? id : InstructionId{};
    if (!is_elementwise(module_[id].op) || editor_.effects().has(id)) return self;
    InstructionId out;
    for (InstructionId operand : module_.operands(id)) {
      if (is_uniform(operand)) continue;
      const InstructionId origin = origins_[operand.value];
      if (!origin || (out && origin != out)) return self;
      out = origin;
    }
    return out ? out : self;
  }

  // The same number for all elements, and in all runs.
  bool is_uniform(InstructionId id) const {
    if (module_[id].op == Op::Broadcast) id = module_.operand(id, 0);
    return module_.shape(id).is_array() && module_.shape(id).rank() == 0 &&
           constant_of(module_, id);
  }

  bool is_function(InstructionId id) const {
    return origins_[id.value] && origins_[id.value] != id;
  }
  // Whether anything else reads it than more of the function.
  bool is_result(InstructionId id, ComputationId computation) const {
    return is_function(id) && (module_[computation].root == id ||
                               std::ranges::any_of(module_.users(id), [&](InstructionId user) {
                                 return origins_[user.value] != origins_[id.value];
                               }));
  }

  // The last values that a function's value is made of, and that are no wider than what it is a
  // function of.
  void add_narrow(InstructionId id, std::vector<InstructionId>& results) const {
    if (!is_function(id)) return;
    if (storage_bytes(module_.shape(id).type) > 2) {
      for (InstructionId operand : module_.operands(id))
        if (!is_uniform(operand)) add_narrow(operand, results);
    } else if (std::ranges::find(results, id) == results.end()) {
      results.push_back(id);
    }
  }

  // The function's ops, operands first, but for those that make the values of `known`.
  void add_ops(InstructionId id, std::span<const InstructionId> known,
               std::vector<InstructionId>& out) const {
    if (is_uniform(id) || !is_function(id) || std::ranges::count(known, id) > 0 ||
        std::ranges::count(out, id) > 0)
      return;
    for (InstructionId operand : module_.operands(id)) add_ops(operand, known, out);
    out.push_back(id);
  }

  int cost(InstructionId id) const {
    const Op op = module_[id].op;
    const int rounding = storage_bytes(module_.shape(id).type) == 2 ? 2 : 1;
    const bool is_instruction = op == Op::Sqrt || op == Op::Rsqrt;
    if (is_instruction) return rounding + 2;
    return has_trait(op, TraitTranscendental) ? min_cost : rounding;
  }

  // Asked of operands first: what is left to do to values of another table may be little.
  bool is_worth_a_table(InstructionId id, std::span<const InstructionId> tabulated) const {
    std::vector<InstructionId> ops;
    add_ops(id, tabulated, ops);
    int sum = 0;
    bool is_further = false;
    for (InstructionId op : ops) {
      sum += cost(op);
      for (InstructionId operand : module_.operands(op))
        is_further = is_further || std::ranges::count(tabulated, operand) > 0;
    }
    const bool is_computed = is_elementwise(module_[origins_[id.value]].op);
    return sum >= (is_further ? min_further_cost : min_cost + (is_computed ? more_of_computed : 0));
  }

  void tabulate(InstructionId id) {
    std::vector<InstructionId> ops;
    add_ops(id, {}, ops);
    const InstructionId x = origins_[id.value];
    const Shape shape = module_.shape(id);
    const std::array operands = {table_of(ops, x), table_indices(x, id)};
    GatherAttributes a;
    a.collapsed_slice_dims = a.start_index_map = {0};
    a.index_vector_dim = shape.rank();
    a.slice_sizes = {1};
    editor_.replace(id, editor_.add(id, Op::Gather, shape, operands, a));
  }

  // The function of all values, in the order of their bits.
  InstructionId table_of(const std::vector<InstructionId>& ops, InstructionId x) {
    const Shape words = Shape::array(ElementType::U16, {values});
    const InstructionId bits = editor_.add(ops.back(), Op::Iota, words, {}, IotaAttributes{0});
    const ElementType type = module_.shape(x).type;
    std::vector<std::pair<InstructionId, InstructionId>> made = {
        {x, editor_.add(ops.back(), Op::BitcastConvert, Shape::array(type, {values}), {&bits, 1})}};
    for (InstructionId op : ops) {
      std::vector<InstructionId> operands;
      for (size_t i = 0; i < module_[op].operand_count; ++i)
        operands.push_back(in_table(module_.operand(op, i), made));
      made.emplace_back(op, with_values(op, operands));
    }
    return made.back().second;
  }
  InstructionId in_table(InstructionId operand,
                         const std::vector<std::pair<InstructionId, InstructionId>>& made) {
    for (const auto& [old_value, new_value] : made)
      if (old_value == operand) return new_value;
    if (module_.shape(operand).rank() == 0) return operand;
    const InstructionId scalar = module_.operand(operand, 0);
    return with_values(operand, {&scalar, 1});
  }
  // The same op of as many elements as there are values.
  InstructionId with_values(InstructionId op, std::span<const InstructionId> operands) {
    const ElementType type = module_.shape(op).type;
    const bool is_widened =
        storage_bytes(type) == 2 && has_trait(module_[op].op, TraitTranscendental);
    std::vector<InstructionId> wide(operands.begin(), operands.end());
    if (is_widened)
      for (InstructionId& operand : wide) operand = converted(op, operand, ElementType::F64);
    const InstructionId out = editor_.clone(op, module_[op].computation, wide);
    editor_.set_shape(out, Shape::array(is_widened ? ElementType::F64 : type, {values}));
    return is_widened ? converted(op, out, type) : out;
  }
  InstructionId converted(InstructionId like, InstructionId value, ElementType type) {
    return editor_.add(like, Op::Convert, Shape::array(type, {values}), {&value, 1});
  }

  InstructionId table_indices(InstructionId x, InstructionId like) {
    Shape shape = module_.shape(x);
    shape.type = ElementType::U16;
    return editor_.add(like, Op::BitcastConvert, shape, {&x, 1});
  }

  Module& module_;
  Editor editor_;
  std::vector<InstructionId> origins_;  // by value
};

}  // namespace

Result<bool> tabulate_functions(Module& module, const PassOptions&) {
  return Tabulator(module).run();
}

}  // namespace hilo
