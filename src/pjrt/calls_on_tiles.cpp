// A manual region in the place of a custom call, in the notation that propagation leaves:
//   full_to_shard(copy(x)) ... => program of tiles => shard_to_full => copy as the call was cut
#include "pjrt/calls_on_tiles.h"

#include <algorithm>

#include "pjrt/append_module.h"
#include "pjrt/custom_partitioners.h"
#include "rewrite/rewrite.h"
#include "verify/verify.h"
#include "wire/wire.h"

namespace hilo::pjrt {
namespace {

using Kind = Sharding::Kind;

// Of JAX's FFI targets (jax/_src/callback.py): a callback that each device calls with its shard.
constexpr std::string_view partitioned_callback = "xla_ffi_partitioned_python_cpu_callback";

Sharding stated(const Module& module, InstructionId id) {
  const auto& sharding = module.extra(module[id]).sharding;
  return sharding ? *sharding : Sharding();
}

bool is_in_region(const Sharding& sharding) {
  return sharding.kind == Kind::Manual ||
         std::ranges::count(sharding.last_tile_dims, Kind::Manual) > 0 ||
         std::ranges::any_of(sharding.elements, is_in_region);
}

// Of each leaf of a value.
std::vector<Sharding> by_leaf(const Sharding& sharding, size_t leaves) {
  if (sharding.kind == Kind::Tuple) return sharding.elements;
  return std::vector<Sharding>(leaves, sharding);
}

// What a device holds of an array.
Result<Shape> tile_of(const Module& module, const Shape& shape, const Sharding& sharding) {
  HILO_TRY(const AxisSharding axes,
           axis_sharding(sharding, shape.dims.size(), flat_mesh(module.header.num_partitions)));
  return local_shape(shape, axes);
}

class CallOnTilesWriter {
 public:
  CallOnTilesWriter(Module& module, InstructionId call)
      : editor_(module), module_(module), call_(call) {}

  // The call's operands as a device holds them; `tiles` are their shapes.
  std::vector<InstructionId> enter(std::span<const Sharding> shardings,
                                   std::span<const Shape> tiles) {
    const auto operands = module_.operands(call_);
    std::vector<InstructionId> out(operands.begin(), operands.end());
    for (size_t i = 0; i < out.size(); ++i) {
      if (!module_.shape(out[i]).is_array()) continue;
      out[i] = edge("SPMDFullToShardShape", as(out[i], shardings[i]), tiles[i], manual());
    }
    return out;
  }

  // The call with other operands, otherwise as it is.
  void call_with(std::span<const InstructionId> operands) {
    const InstructionId out = editor_.clone(call_, module_[call_].computation, operands);
    for (InstructionId one : {call_, out}) module_.mutable_extra(one).sharding = nullptr;
    auto& layouts =
        module_.mutable_attributes<CustomCallAttributes>(out).operand_layout_constraints;
    if (layouts && layouts->size() == operands.size())
      for (size_t i = 0; i < operands.size(); ++i)
        (*layouts)[i].dims = module_.shape(operands[i]).dims;
    editor_.replace_moved(call_, out);
  }

  void call_program(ComputationId program, std::span<const InstructionId> operands,
                    std::span<const Sharding> results) {
    const Shape tiles = module_.shape(module_[program].root), whole = module_.shape(call_);
    const InstructionId called =
        editor_.add(call_, Op::Call, tiles, operands, CallAttributes{program});
    const Sharding said = stated(module_, call_);
    if (!whole.is_tuple()) return finish(leave(called, results[0], whole, said));
    const std::vector<Sharding> wanted = by_leaf(said, whole.elements.size());
    std::vector<InstructionId> elements;
    for (size_t i = 0; i < whole.elements.size(); ++i)
      elements.push_back(leave(editor_.add_element(call_, called, static_cast<int64_t>(i)),
                               results[i], whole.elements[i], wanted[i]));
    finish(editor_.add_tuple(call_, elements));
  }

 private:
  static Sharding manual() {
    Sharding out;
    out.kind = Kind::Manual;
    return out;
  }
  void state(InstructionId id, const Sharding& sharding) {
    module_.mutable_extra(id).sharding = std::make_shared<const Sharding>(sharding);
  }
  InstructionId as(InstructionId value, const Sharding& sharding) {
    const Shape shape = module_.shape(value);
    const InstructionId out = editor_.add(call_, Op::Copy, shape, std::array{value});
    state(out, sharding);
    return out;
  }
  InstructionId edge(std::string_view target, InstructionId value, const Shape& shape,
                     const Sharding& sharding) {
    CustomCallAttributes attributes;
    attributes.custom_call_target = target;
    const InstructionId out =
        editor_.add(call_, Op::CustomCall, shape, std::array{value}, std::move(attributes));
    state(out, sharding);
    return out;
  }
  InstructionId leave(InstructionId tile, const Sharding& has, const Shape& whole,
                      const Sharding& wanted) {
    return as(edge("SPMDShardToFullShape", tile, whole, has), wanted);
  }
  void finish(InstructionId result) {
    if (module_.shape(call_).is_tuple()) state(result, stated(module_, call_));
    editor_.replace_moved(call_, result);
  }

  Editor editor_;
  Module& module_;
  const InstructionId call_;
};

// That a value of the program is a tile of an array of the call's.
Result<void> check_tile(const Module& module, std::string_view role, size_t number,
                        const Shape& value, const Shape& whole, const Sharding& cut) {
  if (!whole.is_array())
    return fail(ErrorKind::Shape, "{} {} of a call that is partitioned is no array but {}", role,
                number, to_string_without_layout(whole));
  HILO_TRY(const Shape tile, tile_of(module, whole, cut));
  if (value.is_array() && value.type == tile.type && value.dims == tile.dims) return {};
  return fail(ErrorKind::Shape, "{} {} of its partitioner's program is {}, expected the tile {}",
              role, number, to_string_without_layout(value), to_string_without_layout(tile));
}

Result<void> check_count(std::string_view what, size_t found, size_t expected) {
  if (found == expected) return {};
  return fail(ErrorKind::Structure, "its partitioner gives {} {}, expected {}", found, what,
              expected);
}

Result<void> check_program(const Module& module, InstructionId call, const Module& program,
                           const CallOnTiles& answer) {
  const Computation& entry = program[program.entry];
  const auto operands = module.operands(call);
  HILO_DO(check_count("arguments", entry.parameters.size(), operands.size()));
  HILO_DO(check_count("shardings of operands", answer.operands.size(), operands.size()));
  for (size_t i = 0; i < operands.size(); ++i)
    HILO_DO(check_tile(module, "argument", i, program.shape(entry.parameters[i]),
                       module.shape(operands[i]), answer.operands[i]));
  const Shape &has = program.shape(entry.root), &wants = module.shape(call);
  if (!has.is_tuple() && !wants.is_tuple())
    return check_tile(module, "result", 0, has, wants, answer.result);
  if (!has.is_tuple() || !wants.is_tuple())
    return fail(ErrorKind::Shape, "its partitioner's program gives {}, expected tiles of {}",
                to_string_without_layout(has), to_string_without_layout(wants));
  const std::vector<Sharding> cut = by_leaf(answer.result, wants.elements.size());
  HILO_DO(check_count("results", has.elements.size(), wants.elements.size()));
  HILO_DO(check_count("shardings of results", cut.size(), wants.elements.size()));
  for (size_t i = 0; i < cut.size(); ++i)
    HILO_DO(check_tile(module, "result", i, has.elements[i], wants.elements[i], cut[i]));
  return {};
}

Result<void> put_answer(Module& module, InstructionId call, const CallOnTiles& answer) {
  HILO_TRY(Module program, read_module(std::as_bytes(std::span(answer.program))));
  program.header.num_partitions = module.header.num_partitions;
  HILO_DO(check_module(program));
  HILO_DO(check_program(module, call, program, answer));
  const ComputationId body = append_module(module, program, module[call].metadata);
  std::vector<Shape> tiles;
  for (InstructionId parameter : module[body].parameters) tiles.push_back(module.shape(parameter));
  const Shape& whole = module.shape(call);
  const auto cut = by_leaf(answer.result, whole.is_tuple() ? whole.elements.size() : 1);
  CallOnTilesWriter writer(module, call);
  writer.call_program(body, writer.enter(answer.operands, tiles), cut);
  return {};
}

bool is_in_region(const Module& module, InstructionId call) {
  return is_in_region(stated(module, call)) ||
         std::ranges::any_of(module.operands(call),
                             [&](InstructionId one) { return is_in_region(stated(module, one)); });
}

// A callback has no arrays for results.
bool is_for_each_device(const Module& module, InstructionId call) {
  const Shape& shape = module.shape(call);
  return !shape.is_array() && std::ranges::none_of(shape.elements, &Shape::is_array) &&
         std::ranges::any_of(module.operands(call),
                             [&](InstructionId one) { return module.shape(one).is_array(); }) &&
         !is_in_region(module, call);
}

Result<void> put_callback(Module& module, InstructionId call) {
  std::vector<Sharding> shardings;
  std::vector<Shape> tiles;
  for (InstructionId operand : module.operands(call)) {
    const Shape& whole = module.shape(operand);
    shardings.push_back(stated(module, operand));
    tiles.push_back(whole);
    if (!whole.is_array()) continue;
    HILO_TRY(tiles.back(), tile_of(module, whole, shardings.back()));
  }
  CallOnTilesWriter writer(module, call);
  writer.call_with(writer.enter(shardings, tiles));
  return {};
}

class Answers {
 public:
  explicit Answers(ProgramSource& source) : source_(source), is_known_(source.answers) {
    if (!is_known_) source.answers.emplace();
  }
  bool are_known() const { return is_known_; }

  // Nothing: nobody cuts this call.
  Result<std::optional<CallOnTiles>> next(const Module& module, InstructionId call) {
    const std::string& target = module.attributes<CustomCallAttributes>(call).custom_call_target;
    if (is_known_) {
      if (next_ == source_.answers->size()) return std::nullopt;
      HILO_TRY(CallOnTiles out, read_answer((*source_.answers)[next_]));
      if (out.target != target) return std::nullopt;  // all calls of a target have answers or none
      ++next_;
      return out;
    }
    if (!has_partitioner(target)) return std::nullopt;
    if (is_in_region(module, call))
      return fail(ErrorKind::Structure,
                  "custom call '{}' is partitioned within a region that is manual already", target);
    HILO_TRY(CallOnTiles out, ask_partitioner(module, call));
    source_.answers->push_back(write_answer(out));
    return out;
  }
  Result<void> check_end() const {
    if (!is_known_ || next_ == source_.answers->size()) return {};
    return fail(ErrorKind::Format, "of {} answers of partitioners {} belong to the program",
                source_.answers->size(), next_);
  }

 private:
  ProgramSource& source_;
  const bool is_known_;
  size_t next_ = 0;
};

Result<void> visit(Module& module, InstructionId call, Answers& answers) {
  const std::string target = module.attributes<CustomCallAttributes>(call).custom_call_target;
  if (target == "InspectSharding" && module.operands(call).size() == 1) {
    const InstructionId operand = module.operand(call, 0);
    if (!answers.are_known()) HILO_DO(show_sharding(module, call, stated(module, operand)));
    Editor(module).replace_moved(call, operand);
    return {};
  }
  if (target == partitioned_callback)
    return is_for_each_device(module, call) ? put_callback(module, call) : Result<void>();
  HILO_TRY(const std::optional<CallOnTiles> answer, answers.next(module, call));
  if (!answer) return {};
  return put_answer(module, call, *answer);
}

}  // namespace

Result<void> put_calls_on_tiles(Module& module, ProgramSource& source) {
  Answers answers(source);
  const size_t count = module.instructions.size();  // what is put in does not count
  for (uint32_t i = 0; i < count; ++i) {
    const InstructionId id{i};
    if (module[id].removed || module[id].op != Op::CustomCall) continue;
    const Place place = module.place(id);
    if (auto done = visit(module, id, answers); !done) {
      if (done.error().place.instruction.empty()) done.error().place = place;
      return std::unexpected(std::move(done).error());
    }
  }
  return answers.check_end();
}

}  // namespace hilo::pjrt
