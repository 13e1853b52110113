// The reference evaluator as judge of index maps: an instruction alone, its operands as parameters,
// evaluated before and after one element of one operand is another.
#pragma once

#include <algorithm>

#include "../pass/judge.h"
#include "analysis/analysis.h"

namespace hilo::test {

// The instruction as the only one of an entry, each operand a parameter of its own.
inline Module isolated(const Module& module, InstructionId id) {
  Module out = module;
  out.header = {};
  out.header.name = "isolated";
  const ComputationId entry = out.add_computation("isolated_entry");
  std::vector<InstructionId> parameters;
  for (InstructionId operand : module.operands(id)) {
    parameters.push_back(out.add_instruction(entry, Op::Parameter, Shape(module.shape(operand)), {},
                                             ParameterAttributes{std::ssize(parameters)}));
  }
  const InstructionId root =
      out.add_instruction(entry, module[id].op, Shape(module.shape(id)), parameters);
  out[root].attributes = out.copy_attributes(module[id].op, module[id].attributes);
  out[entry].root = root;
  out.entry = entry;
  return out;
}

inline std::vector<Literal> leaves_of(const Literal& literal) {
  std::vector<Literal> out;
  for_each_leaf(literal, [&](const Literal& leaf) { out.push_back(leaf); });
  return out;
}

inline Dims index_at(int64_t position, const Dims& dims) {
  Dims out(dims.size());
  for (size_t d = dims.size(); d-- > 0; position /= dims[d]) out[d] = position % dims[d];
  return out;
}
inline int64_t position_of(const Dims& index, const Dims& dims) {
  int64_t out = 0;
  for (size_t d = 0; d < dims.size(); ++d) out = out * dims[d] + index[d];
  return out;
}

// Positions of the operand's elements that the map names for one of the result, ascending.
inline std::vector<int64_t> named(const IndexMap& map, const Dims& result_index,
                                  const SymbolValue& symbols) {
  std::vector<int64_t> out;
  for_each_operand_index(map, result_index, symbols, [&](const Dims& index) {
    for (size_t d = 0; d < index.size(); ++d)
      if (index[d] < 0 || index[d] >= map.operand_dims[d])
        ADD_FAILURE() << "index " << index[d] << " lies outside of dimension " << d;
    out.push_back(position_of(index, map.operand_dims));
  });
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

class IndexMapJudge {
 public:
  struct Counts {
    int64_t maps = 0, unmapped = 0, changes = 0, complete = 0, moved = 0;
    int64_t by_op[op_count] = {};
  };

  IndexMapJudge(const Module& module, InstructionId id, uint64_t seed, Counts& counts)
      : module_(isolated(module, id)),
        root_(module_[module_.entry].root),
        dice_(seed),
        counts_(counts) {}

  // What is wrong, or "".
  std::string run() {
    for (size_t i = 0; i < module_[root_].operand_count; ++i) inputs_.push_back(input(i));
    const auto found = evaluated(inputs_);
    if (!found) return "";  // what cannot be evaluated alone
    const std::vector<Literal> results = leaves_of(*found);
    for (size_t operand = 0; operand < inputs_.size(); ++operand)
      for (size_t leaf = 0; leaf < leaves_of(inputs_[operand]).size(); ++leaf)
        if (std::string wrong = perturb(operand, leaf, results); !wrong.empty()) return wrong;
    return has_trait(module_[root_].op, TraitMoves) ? follow_moved() : "";
  }

 private:
  Op op() const { return module_[root_].op; }
  // The module is looked at once, the machine's memory not at all: it is evaluated often.
  Result<Literal> evaluated(const std::vector<Literal>& inputs) {
    EvalOptions options;
    options.threads = 1;
    options.max_steps = 10'000;
    options.memory_limit = int64_t{1} << 30;
    options.is_verified = is_verified_;
    HILO_TRY(Outputs outputs, evaluate(module_, Inputs{{inputs}}, options));
    is_verified_ = true;
    return outputs.devices[0];
  }

  // Small integers, and matrices that can be factored.
  Literal input(size_t operand) {
    const Shape& shape = module_.shape(module_.operand(root_, operand));
    Literal out = random_literal(dice_, shape, true);
    if (!shape.is_array()) return out;
    const bool is_matrix = operand == 0 && (op() == Op::Cholesky || op() == Op::TriangularSolve);
    visit_storage(shape.type, [&]<class T>(std::type_identity<T>) {
      int64_t position = 0;
      for (T& value : out.mutable_data<T>()) {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
          value = static_cast<T>(dice_.below(14) - (std::is_signed_v<T> ? 2 : 0));
        if (is_matrix) {
          const Dims index = index_at(position, shape.dims);
          const bool diagonal = index[index.size() - 1] == index[index.size() - 2];
          if constexpr (!requires { value.real(); })
            value = static_cast<T>(diagonal ? 9.0 : 0.1 * static_cast<double>(value));
        }
        ++position;
      }
    });
    return out;
  }

  // Symbols inside of called computations have no value here.
  bool has_values(const IndexMap& map) const {
    return std::ranges::all_of(map.symbols, [&](const IndexSymbol& each) {
      return each.value && module_[each.value].op == Op::Parameter &&
             module_[each.value].computation == module_.entry;
    });
  }
  int64_t symbol(const IndexSymbol& symbol, const Dims& index) const {
    const size_t number =
        static_cast<size_t>(module_.attributes<ParameterAttributes>(symbol.value).number);
    const Literal& value = inputs_[number];
    return value.integer_at(position_of(index, value.shape().dims));
  }
  SymbolValue symbols() const {
    return [this](const IndexSymbol& s, const Dims& index) { return symbol(s, index); };
  }

  static void change(Literal& literal, int64_t position) {
    visit_storage(literal.type(), [&]<class T>(std::type_identity<T>) {
      T& value = literal.mutable_data<T>()[static_cast<size_t>(position)];
      if constexpr (std::is_same_v<T, bool>) value = !value;
      else if constexpr (std::is_integral_v<T>) value = static_cast<T>(value + 1);
      else if constexpr (requires { value.real(); }) value = T(value.real() + 1, value.imag());
      else value = static_cast<T>(static_cast<double>(value) + 1.25);
    });
  }

  // Input number `operand` with one element of one leaf changed.
  static Literal changed(const Literal& input, size_t leaf, int64_t position) {
    if (!input.shape().is_tuple()) {
      Literal out = input;
      change(out, position);
      return out;
    }
    std::vector<Literal> elements = input.elements();
    for (Literal& element : elements) {
      const size_t leaves = leaves_of(element).size();
      if (leaf < leaves) {
        element = changed(element, leaf, position);
        break;
      }
      leaf -= leaves;
    }
    return Literal::tuple(std::move(elements), input.shared_shape());
  }

  std::string perturb(size_t operand, size_t leaf, const std::vector<Literal>& results) {
    const Literal input = leaves_of(inputs_[operand])[leaf];
    if (!input.shape().is_array() || input.count() == 0) return "";
    std::vector<std::optional<std::vector<IndexMap>>> maps;
    for (size_t output = 0; output < results.size(); ++output) {
      auto found = index_maps(module_, root_, operand, output, leaf);
      if (found &&
          !std::ranges::all_of(*found, [&](const IndexMap& map) { return has_values(map); }))
        found = std::unexpected("symbols without values");
      ++(found ? counts_.maps : counts_.unmapped);
      if (found) ++counts_.by_op[static_cast<size_t>(op())];
      maps.push_back(found ? std::optional(*std::move(found)) : std::nullopt);
    }
    for (int i = 0; i < 3; ++i) {
      const int64_t position = dice_.below(input.count());
      std::vector<Literal> inputs = inputs_;
      inputs[operand] = changed(inputs[operand], leaf, position);
      const auto after = evaluated(inputs);
      if (!after) return "";
      const std::vector<Literal> others = leaves_of(*after);
      for (size_t output = 0; output < results.size(); ++output)
        if (maps[output])
          if (std::string wrong =
                  compare(*maps[output], operand, position, results[output], others[output]);
              !wrong.empty())
            return fmt::format("operand {} leaf {} output {}: {}: {}", operand, leaf, output,
                               texts(*maps[output]), wrong);
    }
    return "";
  }

  // Transforms are computed in pairs, which see each other in the last bits.
  bool is_changed(const Literal& before, const Literal& after, int64_t i) const {
    const auto bytes = static_cast<size_t>(storage_bytes(before.type()));
    const size_t at = static_cast<size_t>(i) * bytes;
    if (std::ranges::equal(before.raw().subspan(at, bytes), after.raw().subspan(at, bytes)))
      return false;
    if (op() != Op::Fft) return true;
    return visit_storage(before.type(), [&]<class T>(std::type_identity<T>) {
      const T a = before.data<T>()[static_cast<size_t>(i)],
              b = after.data<T>()[static_cast<size_t>(i)];
      if constexpr (requires { a.real(); })
        return std::abs(a.real() - b.real()) + std::abs(a.imag() - b.imag()) > 1e-4;
      else return std::abs(static_cast<double>(a) - static_cast<double>(b)) > 1e-4;
    });
  }

  std::string texts(const std::vector<IndexMap>& maps) const {
    std::string out;
    for (const IndexMap& map : maps) out += (out.empty() ? "" : "; ") + to_string(module_, map);
    return out;
  }

  // The results that changed with the operand's element are those whose maps name it.
  std::string compare(const std::vector<IndexMap>& maps, size_t operand, int64_t element,
                      const Literal& before, const Literal& after) {
    const Dims& dims = before.shape().dims;
    double points = static_cast<double>(before.count());
    for (const IndexMap& map : maps)
      for (int64_t size : map.range_sizes) points *= static_cast<double>(size);
    const bool is_complete =
        maps.size() == 1 && maps[0].is_exact && !is_index(operand) && sees_all() && points < 20'000;
    counts_.complete += is_complete;
    // Of an element with many users, some of them are looked at.
    int64_t unseen = 100;
    for (int64_t i = 0; i < before.count() && unseen > 0; ++i) {
      const bool differs = is_changed(before, after, i);
      if (!differs && !is_complete) continue;
      counts_.changes += differs;
      unseen -= differs && !is_complete;
      const Dims index = index_at(i, dims);
      const bool is_named = std::ranges::any_of(maps, [&](const IndexMap& map) {
        return std::ranges::binary_search(named(map, index, symbols()), element);
      });
      if (is_named != differs)
        return fmt::format("element {} of the operand {} element {} of the result", element,
                           differs ? "changes, unnamed," : "is named and does not change", i);
    }
    return "";
  }

  bool is_sum(ComputationId combiner) const {
    return module_[module_[combiner].root].op == Op::Add;
  }
  // Whether every change of an element that is read shows in the result.
  bool sees_all() const {
    const ElementType type = module_.shape(module_.operand(root_, 0)).type;
    const bool is_wide = type == ElementType::F32 || type == ElementType::F64;
    using enum Op;
    static const std::vector<Op> always = {Negate,         Copy,
                                           Transpose,      Reshape,
                                           Reverse,        Slice,
                                           Broadcast,      Concatenate,
                                           Bitcast,        Pad,
                                           DynamicSlice,   DynamicUpdateSlice,
                                           Gather,         Tuple,
                                           BitcastConvert, GetTupleElement,
                                           Subtract,       OptimizationBarrier};
    if (op() == Bitcast || op() == BitcastConvert)  // of an element, a part may show what changes
      return bits_of(type) == bits_of(module_.shape(root_).type);
    if (std::ranges::count(always, op()) > 0)
      return !is_floating(type) || bits_of(type) > 8 || op() != Subtract;
    if (op() == Reduce)
      return is_wide && is_sum(module_.attributes<ReduceAttributes>(root_).to_apply);
    if (op() == ReduceWindow)
      return is_wide && is_sum(module_.attributes<ReduceWindowAttributes>(root_).to_apply);
    return is_wide && (op() == Dot || op() == Convolution || op() == Add);
  }

  // Elements have numbers of their own, and each of the result is one that its maps name: the only
  // one, where exact maps name one.
  std::string follow_moved() {
    const Shape& result = module_.shape(root_);
    if (!result.is_array()) return "";
    int64_t next = 1;
    std::vector<std::optional<IndexMap>> maps;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      maps.emplace_back();
      const Shape& shape = inputs_[i].shape();
      if (!shape.is_array() || shape.type != result.type || is_index(i)) continue;
      if (auto map = index_map(module_, root_, i)) maps.back() = *std::move(map);
      visit_storage(shape.type, [&]<class T>(std::type_identity<T>) {
        for (T& value : inputs_[i].mutable_data<T>())
          if constexpr (requires { value.real(); }) value = T(static_cast<float>(next++));
          else if constexpr (std::is_integral_v<T>) value = static_cast<T>(next++);
          else value = static_cast<T>(static_cast<double>(next++));
      });
    }
    const auto found = evaluated(inputs_);
    if (!found) return "";
    for (int64_t i = 0; i < std::min<int64_t>(found->count(), 200); ++i) {
      const Dims index = index_at(i, result.dims);
      std::vector<double> exact, other;
      for (size_t k = 0; k < maps.size(); ++k)
        if (maps[k])
          for (int64_t position : named(*maps[k], index, symbols()))
            (maps[k]->is_exact ? exact : other).push_back(inputs_[k].number_at(position));
      const double value = found->number_at(i);
      ++counts_.moved;
      // Gathered from an array without elements.
      if (exact.empty() && other.empty() && value == 0) continue;
      if (exact.size() == 1
              ? exact[0] != value
              : std::ranges::count(exact, value) + std::ranges::count(other, value) == 0)
        return fmt::format("element {} of the result is {}, which no map names", i, value);
    }
    return "";
  }
  // Operands that are numbers of elements and no elements.
  bool is_index(size_t operand) const {
    return (operand > 0 && (op() == Op::DynamicSlice || op() == Op::Gather)) ||
           (operand > 1 && op() == Op::DynamicUpdateSlice);
  }

  Module module_;
  InstructionId root_;
  Dice dice_;
  Counts& counts_;
  bool is_verified_ = false;
  std::vector<Literal> inputs_;
};

}  // namespace hilo::test
