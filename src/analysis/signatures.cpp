#include "analysis/signatures.h"

#include <algorithm>
#include <unordered_set>

namespace hilo {
namespace {

uint64_t mix(uint64_t seed, uint64_t value) {
  uint64_t out = (seed ^ (value + 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
  return out ^ (out >> 32);
}

uint64_t hash_text(std::string_view text) { return std::hash<std::string_view>()(text); }

// What stays when a program is compiled for other sizes.
template <class T>
uint64_t hash_of_kind(const T& value) {
  if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) return static_cast<uint64_t>(value);
  else if constexpr (std::is_same_v<T, std::string>) return hash_text(value);
  else return 0;
}

uint64_t hash_numbers(std::span<const int64_t> numbers) {
  uint64_t seed = numbers.size();
  for (const int64_t number : numbers) seed = mix(seed, static_cast<uint64_t>(number));
  return seed;
}

// All else that tells values apart; fields that it leaves out make some look alike.
template <class T>
uint64_t hash_of_detail(const T& value) {
  uint64_t seed = 0;
  if constexpr (std::is_same_v<T, Dims>) seed = hash_numbers(value);
  if constexpr (std::is_same_v<T, SliceDims>)
    for (const SliceDim& dim : value.dims)
      seed = mix(seed, hash_numbers(std::array{dim.start, dim.limit, dim.stride}));
  if constexpr (std::is_same_v<T, PaddingConfig>)
    for (const PaddingDim& dim : value.dims)
      seed = mix(seed, hash_numbers(std::array{dim.low, dim.high, dim.interior}));
  return seed;
}

uint64_t hash_literal(const LiteralRef& ref) {
  constexpr size_t looked_at = 4096;  // bytes
  if (!ref.literal || !ref.literal->shape().is_array()) return 0;
  const auto raw = ref.literal->raw();
  return hash_text({reinterpret_cast<const char*>(raw.data()), std::min(raw.size(), looked_at)});
}

uint64_t hash_shape(const Shape& shape) {
  uint64_t seed = mix(static_cast<uint64_t>(shape.type), hash_numbers(shape.dims));
  for (const Shape& element : shape.elements) seed = mix(seed, hash_shape(element));
  return seed;
}

// "fusion" of "fusion.12.remat2.clone.1".
std::string_view stem_of(std::string_view name) {
  for (size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = name.rfind('.')) {
    const std::string_view last = name.substr(dot + 1);
    const std::string_view letters = last.substr(0, last.find_last_not_of("0123456789") + 1);
    if (!letters.empty() && letters != "clone" && letters != "remat") break;
    name = name.substr(0, dot);
  }
  return name;
}

uint64_t label_of(const Module& module, const Instruction& instruction) {
  const Metadata& metadata = module.metadata_of(instruction);
  return metadata.op_name.empty() ? 0 : hash_text(metadata.op_name);
}

using Labels = std::unordered_set<uint64_t>;

Labels labels_of(const Module& module) {
  Labels out;
  for (const Instruction& instruction : module.instructions)
    if (!instruction.removed) out.insert(label_of(module, instruction));
  return out;
}

// Frameworks give an entry parameter its name as op_name; its number may mean another one
// elsewhere.
Labels names_of_parameters(const Module& module) {
  Labels out, again;
  for (const InstructionId id : module[module.entry].parameters) {
    const uint64_t label = label_of(module, module[id]);
    if (!out.insert(label).second) again.insert(label);
  }
  for (const uint64_t label : again) out.erase(label);
  return out;
}

// What both modules have, but for 0.
struct SharedNames {
  Labels labels, parameters;
};
SharedNames shared_names(const Module& a, const Module& b) {
  const auto both = [](const Labels& x, Labels y) {
    std::erase_if(y, [&](uint64_t label) { return label == 0 || !x.contains(label); });
    return y;
  };
  return {both(labels_of(a), labels_of(b)), both(names_of_parameters(a), names_of_parameters(b))};
}

class Signer {
 public:
  Signer(const Module& module, const SharedNames& shared)
      : module_(module),
        shared_(shared),
        count_(module.instructions.size()),
        number_(count_),
        detail_(count_) {
    for (auto* numbers : {&out_.op, &out_.kind, &out_.label, &out_.name, &out_.stem, &out_.exact,
                          &out_.loose, &out_.near, &out_.around})
      numbers->resize(count_);
    for (const Shape& shape : shapes()) shape_hashes_.push_back(hash_shape(shape));
  }

  Signatures run() {
    find_callers();
    for (uint32_t i = 0; i < count_; ++i)
      if (!module_.instructions[i].removed) sign_alone(i);
    out_.source.resize(count_);
    for (uint32_t i = 0; i < count_; ++i)
      if (!module_.instructions[i].removed) source(InstructionId{i});
    done_.resize(count_);
    for (uint32_t i = 0; i < count_; ++i)
      if (!module_.instructions[i].removed) sign_value({i});
    for (size_t i = 0; i < count_; ++i) out_.near[i] = mix(out_.kind[i], out_.label[i]);
    out_.around = neighbours(out_.near);
    out_.near = std::exchange(out_.around, neighbours(out_.around));
    return std::move(out_);
  }

 private:
  std::vector<Shape> shapes() const {
    std::vector<Shape> out;
    for (uint32_t i = 0; i < module_.shapes.size(); ++i) out.push_back(module_.shapes[{i}]);
    return out;
  }

  void find_callers() {
    const size_t computations = module_.computations.size();
    out_.caller_of.resize(computations);
    std::vector<int> calls(computations);
    for (uint32_t i = 0; i < count_; ++i) {
      const Instruction& instruction = module_.instructions[i];
      if (instruction.removed) continue;
      for (const ComputationId called : module_.called(instruction)) {
        ++calls[called.value];
        const bool hands_over = instruction.op == Op::Fusion || instruction.op == Op::Call;
        const size_t parameters = module_[called].parameters.size();
        if (hands_over && parameters == instruction.operand_count)
          out_.caller_of[called.value] = {i};
      }
    }
    callee_of_.resize(count_);
    for (uint32_t c = 0; c < computations; ++c) {
      const std::vector<InstructionId>& parameters = module_.computations[c].parameters;
      for (size_t p = 0; p < parameters.size(); ++p) number_[parameters[p].value] = p;
      if (calls[c] != 1) out_.caller_of[c] = {};
      if (out_.caller_of[c]) callee_of_[out_.caller_of[c].value] = {c};
    }
  }

  void sign_alone(uint32_t i) {
    const Instruction& instruction = module_.instructions[i];
    uint64_t kind = static_cast<uint64_t>(instruction.op), detail = 0;
    if (instruction.attributes)
      visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
        const A& values = module_.attributes<A>(instruction);
        std::apply(
            [&](const auto&... field) {
              ((kind = mix(kind, hash_of_kind(values.*field.member))), ...);
              ((detail = mix(detail, hash_of_detail(values.*field.member))), ...);
            },
            A::fields());
        if constexpr (std::is_same_v<A, ConstantAttributes>) detail = hash_literal(values.literal);
      });
    out_.op[i] = mix(1, static_cast<uint64_t>(instruction.op));
    out_.kind[i] = kind;
    detail_[i] = mix(detail, shape_hashes_[instruction.shape.value]);
    const uint64_t label = label_of(module_, instruction);
    out_.label[i] = shared_.labels.contains(label) ? label : 0;
    out_.name[i] = hash_text(instruction.name);
    out_.stem[i] = hash_text(stem_of(instruction.name));
  }

  // One step towards where the value is made, or none. Of a tuple's element it needs the source of
  // the tuple.
  InstructionId next_source(InstructionId id) {
    const Instruction& instruction = module_[id];
    if (callee_of_[id.value]) return module_[callee_of_[id.value]].root;
    if (instruction.op == Op::Copy) return module_.operand(id, 0);
    if (instruction.op == Op::Parameter) {
      const InstructionId caller = out_.caller_of[instruction.computation.value];
      return caller ? module_.operand(caller, number_[id.value]) : InstructionId();
    }
    if (instruction.op != Op::GetTupleElement) return {};
    const InstructionId tuple = source(module_.operand(id, 0));
    const auto index = module_.attributes<GetTupleElementAttributes>(id).index;
    const bool is_known = module_[tuple].op == Op::Tuple && index >= 0 &&
                          static_cast<size_t>(index) < module_[tuple].operand_count;
    return is_known ? module_.operand(tuple, static_cast<size_t>(index)) : InstructionId();
  }

  InstructionId source(InstructionId id) {
    std::vector<InstructionId> chain;
    InstructionId at = id;
    while (!out_.source[at.value]) {
      chain.push_back(at);
      const InstructionId next = next_source(at);
      if (!next) break;
      at = next;
    }
    const InstructionId found = out_.source[at.value] ? out_.source[at.value] : at;
    for (const InstructionId one : chain) out_.source[one.value] = found;
    return found;
  }

  // What the value of a source depends on: its operands' sources and what it applies.
  std::vector<InstructionId> needed_by(InstructionId id) const {
    std::vector<InstructionId> out;
    for (const InstructionId operand : module_.operands(id))
      out.push_back(out_.source[operand.value]);
    for (const ComputationId called : module_.called(module_[id]))
      out.push_back(out_.source[module_[called].root.value]);
    return out;
  }

  // Operands first, on a stack: recursion would follow the depth of the file.
  void sign_value(InstructionId id) {
    struct Frame {
      InstructionId id;
      std::vector<InstructionId> needed;
      size_t next = 0;
    };
    const InstructionId origin = out_.source[id.value];
    std::vector<Frame> stack;
    if (!done_[origin.value]) stack.push_back({origin, needed_by(origin)});
    while (!stack.empty()) {
      Frame& top = stack.back();
      done_[top.id.value] = true;
      if (top.next < top.needed.size()) {
        const InstructionId next = top.needed[top.next++];
        if (!done_[next.value]) stack.push_back({next, needed_by(next)});
        continue;
      }
      sign_source(top.id, top.needed);
      stack.pop_back();
    }
    out_.exact[id.value] = out_.exact[origin.value];
    out_.loose[id.value] = out_.loose[origin.value];
  }

  void sign_source(InstructionId id, std::span<const InstructionId> needed) {
    const Instruction& instruction = module_[id];
    uint64_t loose = out_.kind[id.value];
    if (instruction.op == Op::Parameter) {
      const uint64_t label = out_.label[id.value];
      const bool is_named =
          instruction.computation == module_.entry && shared_.parameters.contains(label);
      loose = mix(loose, is_named ? label : number_[id.value]);
    }
    uint64_t exact = mix(loose, detail_[id.value]);
    for (const InstructionId one : needed) {
      exact = mix(exact, out_.exact[one.value]);
      loose = mix(loose, out_.loose[one.value]);
    }
    out_.exact[id.value] = exact;
    out_.loose[id.value] = loose;
  }

  std::vector<uint64_t> neighbours(const std::vector<uint64_t>& of) const {
    std::vector<uint64_t> out = of, users(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      const auto operands = module_.operands(InstructionId{i});
      for (size_t k = 0; k < operands.size(); ++k) {
        out[i] = mix(out[i], of[operands[k].value]);
        users[operands[k].value] += mix(of[i], k);  // in whatever order
      }
    }
    for (size_t i = 0; i < count_; ++i) out[i] = mix(out[i], users[i]);
    return out;
  }

  const Module& module_;
  const SharedNames& shared_;
  size_t count_;
  std::vector<size_t> number_;            // of parameters
  std::vector<uint64_t> detail_;          // sizes, types, constants
  std::vector<uint64_t> shape_hashes_;    // by shape
  std::vector<ComputationId> callee_of_;  // of fusions and calls
  std::vector<bool> done_;
  Signatures out_;
};

}  // namespace

std::pair<Signatures, Signatures> signatures_of(const Module& a, const Module& b) {
  const SharedNames shared = shared_names(a, b);
  return {Signer(a, shared).run(), Signer(b, shared).run()};
}

}  // namespace hilo
