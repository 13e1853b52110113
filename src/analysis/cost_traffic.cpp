// Bytes that an instruction reads and writes: its operands and its result, each once. What looks at
// a part of an operand only (slices, gathers, updates in place) takes that part. Inside a fusion
// that goes back from the result to the parameters, through elementwise ops too, where
// HloCostAnalysis looks at the users of the parameter alone.
#include <algorithm>

#include "analysis/cost.h"

namespace hilo {
namespace {

double bytes_of_elements(const Shape& shape, double elements) {
  const double all = elements_of(shape);
  return all > 0 ? bytes_of(shape) * std::min(1.0, elements / all) : 0;
}

// The order of the dimensions changes, and the layout with it, so that no byte moves.
bool keeps_bytes(const Module& module, const Instruction& i) {
  const Shape &out = module.shape(i), &in = module.shape(module.operands(i)[0]);
  const Dims& permutation = module.attributes<DimensionsAttributes>(i).dimensions;
  const Dims &to = out.layout.minor_to_major, &from = in.layout.minor_to_major;
  if (to.size() != from.size() || permutation.size() != to.size()) return false;
  for (size_t d = 0; d < to.size(); ++d)
    if (permutation[static_cast<size_t>(to[d])] != from[d]) return false;
  return out.layout.tiles == in.layout.tiles && bytes_of(out) == bytes_of(in);
}

bool is_free(const Module& module, const Instruction& i) {
  if (i.op == Op::Transpose) return keeps_bytes(module, i);
  return has_trait(i.op, TraitNoTraffic);
}

double update_elements(const Module& module, const Instruction& i) {
  return elements_of(module.shape(module.operands(i)[1]));
}

// Elements of operand k that `needed` elements of the result take.
struct Reads {
  const Counting& counting;
  const Instruction& i;
  size_t k;
  double all, needed;

  double each() const { return std::min(all, needed); }

  template <class A>
  double operator()(const A&) const {
    return is_elementwise(i.op) ? each() : all;
  }
  // Written in place: the rest of operand 0 stays where it is.
  double operator()(const NoneAttributes&) const {
    if (i.op == Op::DynamicUpdateSlice) return k == 0 ? 0 : all;
    return each();
  }
  double operator()(const DimensionsAttributes&) const { return each(); }
  double operator()(const ReshapeAttributes&) const { return each(); }
  double operator()(const PadAttributes&) const { return each(); }
  double operator()(const SliceAttributes&) const { return each(); }
  double operator()(const DynamicSliceAttributes&) const { return each(); }
  double operator()(const GatherAttributes&) const { return k == 0 ? each() : all; }
  double operator()(const ScatterAttributes&) const {
    const size_t arrays = i.operand_count / 2;
    return k < arrays ? elements_of(counting.operand_shape(i, arrays + 1 + k)) : all;
  }
  // One triangle.
  double operator()(const CholeskyAttributes&) const { return all / 2; }
  double operator()(const TriangularSolveAttributes&) const { return k == 0 ? all / 2 : all; }
};

double elements_read(const Counting& counting, const Instruction& i, size_t k, double needed) {
  const Reads reads{counting, i, k, elements_of(counting.operand_shape(i, k)), needed};
  return visit_attributes_type(i.op, [&]<class A>(std::type_identity<A>) {
    return reads(counting.module.attributes<A>(i));
  });
}

// Of a start the part of its result that is new: the rest are its operands and flags.
const Shape& written_part(const Module& module, const Instruction& i) {
  const Shape& shape = module.shape(i);
  size_t part = SIZE_MAX;
  if (i.op == Op::CopyStart || i.op == Op::Recv) part = 0;
  if (i.op == Op::AllGatherStart || i.op == Op::CollectivePermuteStart) part = 1;
  return part < shape.elements.size() ? shape.elements[part] : shape;
}

double bytes_written(const Counting& counting, const Instruction& i) {
  const Module& module = counting.module;
  const Shape& shape = written_part(module, i);
  if (i.op == Op::Tuple) return static_cast<double>(unpadded_bytes(shape));  // its table
  if (i.op == Op::Send) return 0;
  if (i.op == Op::DynamicUpdateSlice) return bytes_of_elements(shape, update_elements(module, i));
  if (i.op == Op::Cholesky) return bytes_of(shape) / 2;
  if (i.op == Op::Scatter) {
    double sum = 0;
    for (size_t k = 0; k < i.operand_count / 2; ++k)
      sum += bytes_of_elements(counting.operand_shape(i, k), elements_read(counting, i, k, 0));
    return sum;
  }
  return bytes_of(shape);
}

// Walks a fused computation from its result to its parameters.
class FusionWalk {
 public:
  FusionWalk(const Counting& counting, const Computation& computation)
      : counting_(counting), module_(counting.module), computation_(computation) {}

  Border walk() {
    border_.read.resize(computation_.parameters.size());
    want_result(computation_.root);
    const std::vector<InstructionId>& list = computation_.instructions;
    for (size_t n = list.size(); n-- > 0;) visit(list[n]);
    for (size_t p = 0; p < border_.read.size(); ++p) {
      const InstructionId id = computation_.parameters[p];
      const Shape& shape = module_.shape(id);
      const double needed = needed_[id];
      border_.read[p] =
          shape.is_tuple() && needed > 0 ? bytes_of(shape) : bytes_of_elements(shape, needed);
    }
    return std::move(border_);
  }

 private:
  void want_result(InstructionId id) {
    if (module_[id].op == Op::Tuple)
      for (InstructionId leaf : module_.operands(id)) want_leaf(leaf);
    else want_leaf(id);
  }
  void want_leaf(InstructionId id) {
    needed_[id] = elements_of(module_.shape(id));
    while (module_[id].op == Op::Bitcast) id = module_.operands(id)[0];
    in_place_[id] = true;
    const auto& inner = module_[id].op == Op::Fusion ? border_of(id) : std::nullopt;
    border_.written += inner ? inner->written : bytes_written(counting_, module_[id]);
  }
  const std::optional<Border>& border_of(InstructionId fusion) const {
    return counting_.borders[module_.attributes<FusionAttributes>(fusion).calls.value];
  }

  void visit(InstructionId id) {
    const Instruction& i = module_[id];
    const auto found = needed_.find(id);
    if (found == needed_.end()) return;
    const double needed = found->second;
    if (i.op == Op::Constant && elements_of(module_.shape(id)) > 1)
      border_.constants += bytes_of_elements(module_.shape(id), needed);
    for (size_t k = 0; k < i.operand_count; ++k) {
      const Shape& shape = counting_.operand_shape(i, k);
      double& wanted = needed_[module_.operands(i)[k]];
      wanted = std::min(elements_of(shape), wanted + wanted_by(id, k, needed));
    }
  }
  double wanted_by(InstructionId id, size_t k, double needed) {
    const Instruction& i = module_[id];
    const Shape& shape = counting_.operand_shape(i, k);
    if (i.op == Op::Tuple || i.op == Op::GetTupleElement) return elements_of(shape);
    if (i.op == Op::DynamicUpdateSlice && k == 0 && !in_place_.contains(id))
      return std::max(0.0, needed - update_elements(module_, i));
    if (i.op == Op::Fusion)
      if (const auto& inner = border_of(id); inner && k < inner->read.size() && bytes_of(shape) > 0)
        return elements_of(shape) * inner->read[k] / bytes_of(shape);
    return elements_read(counting_, i, k, needed);
  }

  const Counting& counting_;
  const Module& module_;
  const Computation& computation_;
  Border border_;
  std::unordered_map<InstructionId, double> needed_;
  std::unordered_map<InstructionId, bool> in_place_;
};

// Fusions inside were counted before: callees come first.
const Border& border_of(Counting& counting, ComputationId id) {
  std::optional<Border>& border = counting.borders[id.value];
  if (!border) border = FusionWalk(counting, counting.module[id]).walk();
  return *border;
}

}  // namespace

double bytes_of(const Shape& shape) {
  double sum = 0;
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    if (leaf.is_array()) sum += static_cast<double>(padded_bytes(leaf));
  });
  return sum;
}

double bytes_read_of(Counting& counting, const Instruction& instruction, size_t k) {
  const Module& module = counting.module;
  if (is_free(module, instruction) || instruction.op == Op::Tuple) return 0;
  if (instruction.op == Op::Fusion) {
    const Border& border =
        border_of(counting, module.attributes<FusionAttributes>(instruction).calls);
    return k < border.read.size() ? border.read[k] : 0;
  }
  return bytes_of_elements(
      counting.operand_shape(instruction, k),
      elements_read(counting, instruction, k, elements_of(module.shape(instruction))));
}

Traffic traffic_of(Counting& counting, const Instruction& instruction) {
  const Module& module = counting.module;
  if (is_free(module, instruction)) return {};
  Traffic traffic;
  if (instruction.op == Op::Fusion) {
    const Border& border =
        border_of(counting, module.attributes<FusionAttributes>(instruction).calls);
    traffic = {border.constants, border.written};
  } else {
    traffic.written = bytes_written(counting, instruction);
  }
  for (size_t k = 0; k < instruction.operand_count; ++k)
    traffic.read += bytes_read_of(counting, instruction, k);
  return traffic;
}

}  // namespace hilo
