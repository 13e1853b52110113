// Random programs with custom calls that say how they can be sharded: by a rule, by a number of
// batch dimensions, or by the one device that runs them.
#pragma once

#include "random_control.h"

namespace hilo::test {

class RandomCalls : public RandomControl {
 public:
  using RandomControl::RandomControl;

 protected:
  void data(Pool& pool) override {
    if (groups_.has(OpGroup::CustomCall) && dice_.below(6) == 0) return custom_call(pool);
    RandomControl::data(pool);
  }
  void custom_call(Pool& pool) override {
    switch (dice_.below(5)) {
      case 0: return same(pool);
      case 1: return joined(pool);
      case 2: return row_sums(pool);
      case 3: return reversed_rows(pool);
      default: return alone(pool);
    }
  }
  // That runs a call; nothing where each device runs what it is given.
  virtual std::optional<int64_t> some_device() { return std::nullopt; }

 private:
  // [i, j] of the first dimensions; sizes as a rule has them: {i=2, j=3}.
  static std::string dims_text(size_t rank) {
    std::string out;
    for (size_t dim = 0; dim < rank; ++dim)
      out += fmt::format("{}{}", dim == 0 ? "" : ", ", static_cast<char>('i' + dim));
    return "[" + out + "]";
  }
  static std::string sizes_text(const Dims& dims) {
    std::string out;
    for (size_t dim = 0; dim < dims.size(); ++dim)
      out += fmt::format("{}{}={}", dim == 0 ? "" : ", ", static_cast<char>('i' + dim), dims[dim]);
    return "{" + out + "}";
  }
  void state_rule(InstructionId id, const std::string& arrays, const Dims& sizes,
                  const std::string& kinds = "") {
    module_.mutable_extra(id).frontend_attributes["xla.sdy.sharding_rule"] = {
        fmt::format("#sdy.op_sharding_rule<{} {}{}>", arrays, sizes_text(sizes), kinds), false};
  }
  InstructionId call_of(Pool& pool, const char* target, const Shape& to,
                        std::span<const InstructionId> operands) {
    CustomCallAttributes call;
    call.custom_call_target = target;
    pool.values.push_back(
        module_.add_instruction(pool.computation, Op::CustomCall, to, operands, std::move(call)));
    return pool.values.back();
  }

  // An array, and one of its last dimension beside it.
  void same(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    const std::string dims = dims_text(of.dims.size());
    if (of.is_scalar() || dice_.below(2)) {
      const InstructionId out = call_of(pool, "random.same", of, std::array{a});
      return state_rule(out, fmt::format("({0})->({0})", dims), of.dims);
    }
    const Shape row = Shape::array(of.type, {of.dims.back()});
    const InstructionId both =
        call_of(pool, "random.same", Shape::tuple({of, row}), std::array{a, partner(pool, row)});
    const std::string last(1, static_cast<char>('i' + of.dims.size() - 1));
    state_rule(both, fmt::format("({0}, [{1}])->({0}, [{1}])", dims, last), of.dims);
    std::erase(pool.values, both);
    for (int64_t i = 0; i < 2; ++i) pool.values.push_back(element(pool.computation, both, i));
  }
  // All dimensions are one.
  void joined(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    std::string all;
    for (size_t dim = 0; dim < of.dims.size(); ++dim) all += static_cast<char>('i' + dim);
    const InstructionId out =
        call_of(pool, "random.joined", Shape::array(of.type, {element_count(of)}), std::array{a});
    state_rule(out, fmt::format("({})->([{}])", dims_text(of.dims.size()), all), of.dims);
  }
  void row_sums(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar() || of.type == ElementType::Pred || is_complex(of.type) ||
        (is_floating(of.type) && bits_of(of.type) < 32))
      return;
    const Shape to = Shape::array(of.type, Dims(of.dims.begin(), of.dims.end() - 1));
    const InstructionId out = call_of(pool, "random.row_sums", to, std::array{a});
    state_rule(out, fmt::format("({})->({})", dims_text(of.dims.size()), dims_text(to.dims.size())),
               of.dims, fmt::format(" reduction={{{}}}", static_cast<char>('i' + to.dims.size())));
    tame(pool, out, false);
  }
  // Of rows as they are.
  void reversed_rows(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    const InstructionId out = call_of(pool, "random.reversed_rows", of, std::array{a});
    const size_t batch = of.dims.size() - 1;
    if (dice_.below(2)) {
      module_.mutable_extra(out).frontend_attributes["num_batch_dims"] = {std::to_string(batch),
                                                                          false};
      return;
    }
    const std::string dims = dims_text(of.dims.size());
    state_rule(out, fmt::format("({0})->({0})", dims), of.dims,
               fmt::format(" need_replication={{{}}}", static_cast<char>('i' + batch)));
  }
  void alone(Pool& pool) {
    const std::optional<int64_t> device = some_device();
    if (!device) return same(pool);
    const InstructionId a = any(pool);
    const InstructionId out = call_of(pool, "random.same", Shape(shape(a)), std::array{a});
    Sharding sharding;
    sharding.kind = Sharding::Kind::Maximal;
    sharding.device = *device;
    module_.mutable_extra(out).sharding = std::make_shared<const Sharding>(std::move(sharding));
    pool.values.pop_back();
    add(pool, Op::Copy, std::array{out});
  }
};

}  // namespace hilo::test
