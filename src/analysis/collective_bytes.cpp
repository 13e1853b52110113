// What collectives send. Formulas: those of a ring, as in "Collective communication: theory,
// practice, and experience" (Chan and others, 2007).
#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {
namespace {

double array_bytes(const Shape& shape) {
  double out = 0;
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    if (leaf.is_array()) out += static_cast<double>(unpadded_bytes(leaf));
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

// Groups differ in size only where they are written one by one.
struct Groups {
  int64_t largest = 1;
  double mean_others = 0;  // (g - 1), and (g - 1) / g, means over the devices
  double mean_share = 0;
};
Groups groups_of(const Subject& subject, const ReplicaGroups& groups) {
  std::vector<int64_t> sizes;
  for (const Dims& group : groups.expand()) sizes.push_back(std::ssize(group));
  if (sizes.empty()) sizes.push_back(subject.devices());
  Groups out;
  double devices = 0;
  for (int64_t size : sizes) {
    const auto count = static_cast<double>(size);
    out.largest = std::max(out.largest, size);
    out.mean_others += count * (count - 1);
    out.mean_share += count - 1;
    devices += count;
  }
  out.mean_others /= std::max(1.0, devices);
  out.mean_share /= std::max(1.0, devices);
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
    const Groups groups =
        groups_of(subject, subject.module.attributes<A>(subject.instruction).replica_groups);
    return CollectiveBytes{subject.instruction.op, groups.largest,
                           times * subject.operand_bytes() * groups.mean_share};
  }
};

template <>
struct Formula<AllGatherAttributes> {
  static Counted count(const Subject& subject) {
    const auto& attributes = subject.module.attributes<AllGatherAttributes>(subject.instruction);
    const Groups groups = groups_of(subject, attributes.replica_groups);
    return CollectiveBytes{Op::AllGather, groups.largest,
                           subject.operand_bytes() * groups.mean_others};
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
    const Groups groups = groups_of(subject, attributes.replica_groups);
    return CollectiveBytes{subject.instruction.op, groups.largest,
                           first_operand_bytes(subject) * groups.mean_share};
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
    const auto moving =
        std::ranges::count_if(pairs, [](const auto& pair) { return pair.first != pair.second; });
    const int64_t devices = std::max<int64_t>(subject.devices(), std::ssize(pairs));
    const double bytes = permuted_bytes(subject, attributes.slice_sizes);
    return CollectiveBytes{
        Op::CollectivePermute, 2,
        bytes * static_cast<double>(moving) / static_cast<double>(std::max<int64_t>(1, devices))};
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
