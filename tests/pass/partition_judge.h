// One device as the judge of partitioned programs: each device ends with its tile of what the whole
// program computes. Padding of tiles holds no numbers that may be seen.
#pragma once

#include "../ir/random_sharding.h"
#include "judge.h"

namespace hilo::test {

inline void fill(Literal& literal, double number) {
  visit_storage(literal.type(), [&]<class T>(std::type_identity<T>) {
    for (T& value : literal.mutable_data<T>())
      if constexpr (std::is_arithmetic_v<T>) value = static_cast<T>(number);
  });
}

// Eighths between -2 and 2, so that sums of products are exact; no zeros among integers.
inline Literal eighths(Dice& dice, const Shape& shape) {
  Literal out = Literal::zeros(shape);
  const bool is_float = is_floating(shape.type);
  visit_storage(shape.type, [&]<class T>(std::type_identity<T>) {
    for (T& value : out.mutable_data<T>())
      if constexpr (std::is_arithmetic_v<T>)
        value = static_cast<T>(is_float ? static_cast<double>(dice.below(33) - 16) / 8
                                        : static_cast<double>(dice.below(4) * 2 - 3));
  });
  return out;
}

// Calls visit(position in the array, position in the tile) of elements that a device holds.
template <class Visit>
void for_each_held(const Dims& dims, const AxisSharding& sharding, int64_t device, Visit visit) {
  const ArrayBox box = DeviceTiles(sharding, dims).box_of(device);
  if (box.elements() == 0) return;
  const Dims local = local_dims(dims, sharding), strides = row_major_strides(dims),
             local_strides = row_major_strides(local);
  Dims index(dims.size(), 0);
  do {
    int64_t global = 0, at = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      global += (box.offset[d] + index[d]) * strides[d];
      at += index[d] * local_strides[d];
    }
    visit(global, at);
  } while (next_index(index, box.sizes));
}

inline Literal tile_of(const Literal& whole, const AxisSharding& sharding, int64_t device) {
  const Dims& dims = whole.shape().dims;
  Literal out = Literal::zeros(Shape::array(whole.type(), local_dims(dims, sharding)));
  fill(out, is_floating(out.type()) ? NAN : 12345);
  const size_t bytes = static_cast<size_t>(storage_bytes(whole.type()));
  for_each_held(dims, sharding, device, [&](int64_t from, int64_t to) {
    std::memcpy(out.mutable_raw().data() + static_cast<size_t>(to) * bytes,
                whole.raw().data() + static_cast<size_t>(from) * bytes, bytes);
  });
  return out;
}

inline std::vector<Literal> leaves_of(const Literal& literal) {
  if (!literal.shape().is_tuple()) return {literal};
  return {literal.elements().begin(), literal.elements().end()};
}

struct Sharded {
  Module module;
  std::vector<AxisSharding> parameters;
  std::vector<AxisSharding> results;  // by leaf
};

inline Sharded sharded(const std::string& text, const SharedMesh& mesh, RandomSharding& random) {
  Sharded out{parsed(text), {}, {}};
  Module& module = out.module;
  const InstructionId root = module[module.entry].root;
  const auto draw = [&](size_t rank) {
    AxisSharding one = random.sharding(mesh, rank, false);
    one.replicated.clear();
    return one;
  };
  Sharding results;
  results.kind = Sharding::Kind::Tuple;
  for_each_leaf(module.shape(root), [&](const Shape& leaf, std::span<const int64_t>) {
    out.results.push_back(draw(leaf.dims.size()));
    results.elements.push_back(tile_sharding(out.results.back()));
  });
  module.mutable_extra(root).sharding =
      std::make_shared<Sharding>(module.shape(root).is_tuple() ? results : results.elements[0]);
  const size_t rank = out.results[0].dims.size();
  for (InstructionId id : module[module.entry].parameters) {
    const size_t here = module.shape(id).dims.size();
    out.parameters.push_back(here == rank && random.number(3) > 0 ? out.results[0] : draw(here));
    module.mutable_extra(id).sharding =
        std::make_shared<Sharding>(tile_sharding(out.parameters.back()));
  }
  // What is between is cut as the result is.
  for (InstructionId id : module[module.entry].instructions)
    if (id != root && module[id].op != Op::Parameter && module.shape(id).is_array() &&
        module.shape(id).dims.size() == rank)
      module.mutable_extra(id).sharding = std::make_shared<Sharding>(results.elements[0]);
  module.header.num_partitions = mesh_size(*mesh);
  return out;
}

// `tolerance`: of floats, against the greatest number of the leaf and 1.
inline void check_partitioned(const Sharded& program, Dice& dice, double tolerance = 0) {
  Module whole = program.module;
  whole.header.num_partitions = 1;
  std::vector<Literal> arguments;
  for (InstructionId id : whole[whole.entry].parameters)
    arguments.push_back(eighths(dice, whole.shape(id)));
  const auto expected = evaluate_once(whole, arguments);
  ASSERT_TRUE(expected) << to_string(expected.error());
  Module local = program.module;
  const auto done = partition_program(local, {});
  ASSERT_TRUE(done) << to_string(done.error());
  SCOPED_TRACE(print(local));
  for (const Error& error : verify(local)) FAIL() << to_string(error);
  Inputs inputs;
  const int64_t devices = program.module.header.num_partitions;
  for (int64_t device = 0; device < devices; ++device) {
    inputs.devices.emplace_back();
    for (size_t i = 0; i < arguments.size(); ++i)
      inputs.devices.back().push_back(tile_of(arguments[i], program.parameters[i], device));
  }
  EvalOptions options;
  options.partitioning = Partitioning::Partitioned;
  const auto found = evaluate(local, inputs, options);
  ASSERT_TRUE(found) << to_string(found.error());
  const std::vector<Literal> wanted = leaves_of(*expected);
  for (int64_t device = 0; device < devices; ++device) {
    const std::vector<Literal> got = leaves_of(found->devices[static_cast<size_t>(device)]);
    for (size_t leaf = 0; leaf < wanted.size(); ++leaf) {
      const Dims& dims = wanted[leaf].shape().dims;
      ASSERT_EQ(got[leaf].shape().dims, local_dims(dims, program.results[leaf]));
      double greatest = 1;
      for (int64_t i = 0; i < wanted[leaf].count(); ++i)
        greatest = std::max(greatest, std::abs(wanted[leaf].number_at(i)));
      for_each_held(dims, program.results[leaf], device, [&](int64_t from, int64_t to) {
        const double found_here = got[leaf].number_at(to),
                     wanted_here = wanted[leaf].number_at(from);
        if (found_here == wanted_here) return;
        EXPECT_LE(std::abs(found_here - wanted_here), tolerance * greatest)
            << "device " << device << ", element " << from << " of leaf " << leaf << ": "
            << found_here << " for " << wanted_here;
      });
    }
  }
}

}  // namespace hilo::test
