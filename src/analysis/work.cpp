// The work of each instruction: arithmetic by kind, of fusions only as much as their results need,
// and bytes by how long ago they were touched.
#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "analysis/cost.h"

namespace hilo {
namespace {

// Numbers that hold an element: complex ones are two, and wide ones take two lanes' room.
FloatCounts counted(const Shape& shape, double elements) {
  const Shape* leaf = &shape;
  while (leaf->is_tuple() && !leaf->elements.empty()) leaf = &leaf->elements[0];
  if (!leaf->is_array()) return {};
  const bool is_pair = is_complex(leaf->type);
  const double numbers = is_pair ? 2 * elements : elements;
  const bool is_wide = storage_bytes(leaf->type) > (is_pair ? 8 : 4);
  return is_wide ? FloatCounts{0, numbers} : FloatCounts{numbers, 0};
}

void add(Work& sum, const Work& work, double part) {
  for (FloatCounts Work::* kind : {&Work::operations, &Work::multiply_adds, &Work::divisions,
                                   &Work::square_roots, &Work::transcendentals})
    sum.*kind += {(work.*kind).f32 * part, (work.*kind).f64 * part};
  sum.gathers += work.gathers * part;
}

// Ops that multiply and add pairs.
template <class A>
constexpr bool is_product =
    std::is_same_v<A, DotAttributes> || std::is_same_v<A, RaggedDotAttributes> ||
    std::is_same_v<A, ConvolutionAttributes> || std::is_same_v<A, CholeskyAttributes> ||
    std::is_same_v<A, TriangularSolveAttributes> || std::is_same_v<A, FftAttributes> ||
    std::is_same_v<A, CustomCallAttributes>;

// Rows of elements side by side that an instruction finds by indices from data.
template <class A>
double rows_found(const Counting&, const Instruction&, const A&) {
  return 0;
}
double rows_found(const Counting& counting, const Instruction& i, const GatherAttributes& a) {
  const auto row = static_cast<double>(a.slice_sizes.empty() ? 1 : a.slice_sizes.back());
  return elements_of(counting.module.shape(i)) / std::max(1.0, row);
}
double rows_found(const Counting& counting, const Instruction& i, const ScatterAttributes& a) {
  const Shape& updates = counting.operand_shape(i, i.operand_count - 1);
  const bool has_rows =
      !a.update_window_dims.empty() && a.update_window_dims.back() == updates.rank() - 1;
  const auto row = static_cast<double>(has_rows ? updates.dims.back() : 1);
  return elements_of(updates) / std::max(1.0, row);
}
// Each comparison takes an element from where the one before left it.
double rows_found(const Counting& counting, const Instruction& i, const SortAttributes&) {
  return sort_flops(elements_of(counting.operand_shape(i, 0)));
}

double rows_found(const Counting& counting, const Instruction& i, const TopKAttributes&) {
  return elements_of(counting.operand_shape(i, 0));
}

// The part of the operations counted that is done.
template <class A>
double done_part(const Counting&, const Instruction&, const A&) {
  return 1;
}
// Of windows that hold all up to an element, or from it on: each result is the one before it and
// one element.
double done_part(const Counting& counting, const Instruction& i, const ReduceWindowAttributes& a) {
  const Dims& in = counting.operand_shape(i, 0).dims;
  double counted = 1, combined = 1;
  for (size_t d = 0; d < a.window.dims.size() && d < in.size(); ++d) {
    const WindowDim& dim = a.window.dims[d];
    const bool is_running = dim.size >= in[d] && dim.stride == 1 && dim.window_dilation == 1;
    counted *= static_cast<double>(dim.size);
    combined *= static_cast<double>(is_running ? std::min<int64_t>(dim.size, 2) : dim.size);
  }
  return counted > 1 ? (combined - 1) / (counted - 1) : 1;
}

class WorkCounter {
 public:
  explicit WorkCounter(const Module& module)
      : module_(module),
        counting_(module),
        inside_(module.computations.size()),
        footprints_(module.computations.size()),
        costs_(module.instructions.size()),
        parts_(module.instructions.size()) {}

  std::vector<Work> count(const Schedule* schedule) {
    std::vector<Work> out(module_.instructions.size());
    for (ComputationId c : module_.post_order()) {
      for (InstructionId id : module_[c].instructions) {
        costs_[id.value] = arithmetic_of(counting_, module_[id]);
        out[id.value] = arithmetic_of_step(id);
      }
      sum_inside(c, out);
      const bool has_order = schedule && !schedule->orders[c.value].empty();
      add_accesses(c, has_order ? schedule->orders[c.value] : module_[c].instructions, out);
    }
    return out;
  }

 private:
  Work arithmetic_of_step(InstructionId id) {
    const Instruction& instruction = module_[id];
    const Shape& shape = module_.shape(id);
    Work out;
    if (instruction.op == Op::Fusion)
      return inside_[module_.attributes<FusionAttributes>(id).calls.value];
    if (is_elementwise(instruction.op)) {
      const FloatCounts all = counted(shape, elements(id));
      if (instruction.op == Op::Divide || instruction.op == Op::Remainder) out.divisions = all;
      else if (instruction.op == Op::Sqrt || instruction.op == Op::Rsqrt) out.square_roots = all;
      else if (has_trait(instruction.op, TraitTranscendental)) out.transcendentals = all;
      else out.operations = all;
      return out;
    }
    visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
      Cost cost = costs_[id.value];
      if constexpr (std::is_same_v<A, CustomCallAttributes>)
        cost = custom_call_cost(counting_, instruction).value_or(cost);
      const A& attributes = module_.attributes<A>(id);
      const double part = done_part(counting_, instruction, attributes);
      out.gathers = rows_found(counting_, instruction, attributes);
      if (is_product<A>) out.multiply_adds = counted(shape, cost.flops / 2);
      else out.operations = counted(shape, cost.flops * part);
      out.transcendentals = counted(shape, cost.transcendentals * part);
    });
    return out;
  }

  // One run whose result is needed whole; what applies a computation does all of it.
  void sum_inside(ComputationId computation, std::span<const Work> works) {
    const auto combines = [&](InstructionId id) {
      const Cost& cost = costs_[id.value];
      return !is_elementwise(module_[id].op) && cost.flops + cost.transcendentals > 0;
    };
    find_needed_parts(module_, computation, combines, parts_);
    Work sum;
    Cost applied;
    for (InstructionId id : std::views::reverse(module_[computation].instructions)) {
      const Cost& cost = costs_[id.value];
      applied.flops += cost.flops, applied.transcendentals += cost.transcendentals;
      if (parts_[id.value] > 0) add(sum, works[id.value], parts_[id.value]);
    }
    inside_[computation.value] = std::move(sum);
    counting_.inside[computation.value] = applied;
  }

  // What was touched in a computation, in bytes from its start.
  struct Touched {
    double now = 0;
    std::unordered_map<uint32_t, double> since;  // by value: when it was touched last
    double footprint = 0;                        // of values that differ
  };

  void add_accesses(ComputationId computation, std::span<const InstructionId> order,
                    std::vector<Work>& works) {
    Touched touched;
    for (InstructionId id : order)
      if (!module_[id].removed && !has_trait(module_[id].op, TraitNoTraffic))
        touch(id, touched, works[id.value]);
    footprints_[computation.value] = touched.footprint;
    for (InstructionId id : order) settle(works[id.value], touched.footprint);
  }

  void touch(InstructionId id, Touched& touched, Work& work) {
    const Instruction& instruction = module_[id];
    const double start = touched.now;
    for (size_t k = 0; k < instruction.operand_count; ++k) {
      const double bytes = bytes_read_of(counting_, instruction, k);
      if (!(bytes > 0)) continue;
      const auto [at, is_first] = touched.since.try_emplace(origin(module_.operand(id, k)), start);
      if (is_first) touched.footprint += bytes;
      work.accesses.push_back({bytes, is_first ? -1 : start - at->second, false});
      at->second = start;
      touched.now += bytes;
    }
    double inner = 0;
    if (!is_part_of(id))
      for (ComputationId called : module_.called(instruction)) inner += footprints_[called.value];
    const double written = inner > 0 ? 0 : traffic_of(counting_, instruction).written;
    if (written > 0) work.accesses.push_back({written, -1, true});
    touched.since[id.value] = start;
    touched.footprint += written + inner;
    touched.now += written + inner;
  }

  // Fusions and what applies a computation to elements do the called computation's work themselves.
  bool is_part_of(InstructionId id) const {
    return !(module_[id].op == Op::While || module_[id].op == Op::Conditional ||
             module_[id].op == Op::Call);
  }

  // A second run finds what it touches first where the first run left it. Results lie over what
  // was read last.
  static void settle(Work& work, double footprint) {
    double farthest = 0;
    for (Access& access : work.accesses) {
      if (access.is_written) continue;
      access.distance = access.distance < 0 ? footprint : std::min(access.distance, footprint);
      farthest = std::max(farthest, access.distance);
    }
    double own = 0;
    for (const Access& access : work.accesses) own += access.bytes;
    for (Access& access : work.accesses)
      if (access.is_written) access.distance = std::min(std::max(farthest, own), footprint);
  }

  // The instruction whose memory an operand is.
  uint32_t origin(InstructionId id) const {
    while (module_[id].op != Op::GetTupleElement && module_[id].op != Op::Tuple &&
           has_trait(module_[id].op, TraitNoTraffic) && module_[id].operand_count > 0)
      id = module_.operand(id, 0);
    return id.value;
  }

  double elements(InstructionId id) const { return elements_of(module_.shape(id)); }

  const Module& module_;
  Counting counting_;
  std::vector<Work> inside_;        // by computation: arithmetic of one run
  std::vector<double> footprints_;  // by computation, bytes
  std::vector<Cost> costs_;         // by instruction: its arithmetic alone
  std::vector<double> parts_;       // that are needed, by instruction
};

}  // namespace

std::vector<Work> count_work(const Module& module, const Schedule* schedule) {
  return WorkCounter(module).count(schedule);
}

}  // namespace hilo
