// What collectives send. Formulas: those of a ring, as in "Collective communication: theory,
// practice, and experience" (Chan and others, 2007).
#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {
namespace {

double array_bytes(const Shape& shape) {
  double out = 0;
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    if (leaf.is_array() && is_static(leaf)) out += static_cast<double>(unpadded_bytes(leaf));
  });
  return out;
}

struct Subject {
  const Module& module;
  const Instruction& instruction;

  double operand_bytes() const {
    double out = 0;
    for (InstructionId operand : module.operands(instruction))
      out += array_bytes(module.shape(operand));
    return out;
  }
  int64_t devices() const {
    return std::max<int64_t>(1, module.header.num_partitions * module.header.replica_count);
  }
};
using Counted = std::optional<CollectiveBytes>;

// Groups differ in size only where they are written one by one; in the largest most is sent.
struct Group {
  int64_t size = 1;
  double others() const { return static_cast<double>(size - 1); }
  double share_of_others() const { return others() / static_cast<double>(size); }
};
Group largest_group(const Subject& subject, const ReplicaGroups& groups) {
  const std::vector<Dims> expanded = groups.expand();
  Group out{expanded.empty() ? subject.devices() : 1};
  for (const Dims& group : expanded) out.size = std::max<int64_t>(out.size, std::ssize(group));
  return out;
}

// One function for each kind of attributes; ops with other ones are no collectives.
template <class A>
struct Formula {
  static Counted count(const Subject&) { return {}; }
};

struct SharedOut {  // each device keeps its own share and sends the others'
  template <class A>
  static Counted count(const Subject& subject, double times) {
    const Group group =
        largest_group(subject, subject.module.attributes<A>(subject.instruction).replica_groups);
    return CollectiveBytes{subject.instruction.op, group.size,
                           times * subject.operand_bytes() * group.share_of_others()};
  }
};

template <>
struct Formula<AllGatherAttributes> {
  static Counted count(const Subject& subject) {
    const auto& attributes = subject.module.attributes<AllGatherAttributes>(subject.instruction);
    const Group group = largest_group(subject, attributes.replica_groups);
    return CollectiveBytes{Op::AllGather, group.size, subject.operand_bytes() * group.others()};
  }
};
template <>
struct Formula<AllReduceAttributes> {  // a reduce-scatter and an all-gather of what that gives
  static Counted count(const Subject& subject) {
    Counted out = SharedOut::count<AllReduceAttributes>(subject, 2);
    out->kind = Op::AllReduce;
    return out;
  }
};
template <>
struct Formula<ReduceScatterAttributes> {
  static Counted count(const Subject& subject) {
    return SharedOut::count<ReduceScatterAttributes>(subject, 1);
  }
};
template <>
struct Formula<AllToAllAttributes> {
  static Counted count(const Subject& subject) {
    return SharedOut::count<AllToAllAttributes>(subject, 1);
  }
};
template <>
struct Formula<CollectiveBroadcastAttributes> {
  static Counted count(const Subject& subject) {
    return SharedOut::count<CollectiveBroadcastAttributes>(subject, 1);
  }
};

double first_operand_bytes(const Subject& subject) {
  const auto operands = subject.module.operands(subject.instruction);
  return operands.empty() ? 0 : array_bytes(subject.module.shape(operands[0]));
}

template <>
struct Formula<RaggedAllToAllAttributes> {  // its other operands say where the rows lie
  static Counted count(const Subject& subject) {
    const auto& attributes =
        subject.module.attributes<RaggedAllToAllAttributes>(subject.instruction);
    const Group group = largest_group(subject, attributes.replica_groups);
    return CollectiveBytes{subject.instruction.op, group.size,
                           first_operand_bytes(subject) * group.share_of_others()};
  }
};

// With slice sizes the operands are arrays, outputs and offsets, and only the slices are sent.
double permuted_bytes(const Subject& subject, const SliceSizesList& slices) {
  if (slices.lists.empty()) return subject.operand_bytes();
  const auto operands = subject.module.operands(subject.instruction);
  double out = 0;
  for (const Dims& sizes : slices.lists) {
    double elements = 1;
    for (int64_t size : sizes) elements *= static_cast<double>(size);
    const Shape& shape = subject.module.shape(operands[0]);
    const Shape& sent = shape.is_tuple() && !shape.elements.empty() ? shape.elements[0] : shape;
    out += elements * bits_of(sent.type) / 8;
  }
  return out;
}

template <>
struct Formula<CollectivePermuteAttributes> {
  static Counted count(const Subject& subject) {
    const auto& attributes =
        subject.module.attributes<CollectivePermuteAttributes>(subject.instruction);
    const auto& pairs = attributes.source_target_pairs.pairs;
    const bool moves =
        std::ranges::any_of(pairs, [](const auto& pair) { return pair.first != pair.second; });
    return CollectiveBytes{Op::CollectivePermute, 2,
                           moves ? permuted_bytes(subject, attributes.slice_sizes) : 0};
  }
};

using Count = Counted (*)(const Subject&);
constexpr Count counts[] = {
#define OP(name, text, operands, attributes, ...) &Formula<attributes##Attributes>::count,
#include "ir/ops.def"
#undef OP
};

// The collective of an async-start, or of a fusion that starts one: TPU modules have it again in
// every fusion that it overlaps with.
Counted of_called(const Module& module, const Instruction& caller) {
  Counted out;
  bool starts = caller.op == Op::AsyncStart;
  for (ComputationId computation : module.called(caller))
    for (InstructionId id : module[computation].instructions) {
      if (module[id].op == Op::CustomCall)
        starts |= module.attributes<CustomCallAttributes>(id).custom_call_target ==
                  "AsyncCollectiveStart";
      if (!out) out = counts[static_cast<size_t>(module[id].op)]({module, module[id]});
    }
  return starts ? out : std::nullopt;
}

}  // namespace

std::optional<CollectiveBytes> collective_bytes(const Module& module, InstructionId id) {
  const Instruction& instruction = module[id];
  if (instruction.op == Op::AsyncStart || instruction.op == Op::Fusion)
    return of_called(module, instruction);
  return counts[static_cast<size_t>(instruction.op)]({module, instruction});
}

}  // namespace hilo
