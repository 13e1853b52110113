// Functions: main becomes the entry, the others computations that are called; with open dimensions
// one for each set of shapes and known sizes that they are called with.
#include "wire/stablehlo/to_module.h"

#include <algorithm>

#include "wire/stablehlo/converter.h"

namespace hilo::mlir {
namespace {

constexpr int deepest_nesting = 400;       // of regions and calls together
constexpr size_t max_functions = 1 << 16;  // with their copies for other shapes

std::string text_attribute(const Program& program, const Operation& operation,
                           std::string_view name) {
  const Attribute* found = program.find(operation, name);
  return found ? found->text : std::string();
}

// Dictionary i of arg_attrs or res_attrs, or null.
const Attribute* attributes_of(const Program& program, const Operation& function,
                               std::string_view list, size_t i) {
  const Attribute* found = program.find(function, list);
  if (!found || found->kind != AttributeKind::Array || i >= found->items.size()) return nullptr;
  const Attribute& one = program[found->items[i]];
  return one.kind == AttributeKind::Dictionary ? &one : nullptr;
}

}  // namespace

Converter::Converter(const Program& from, std::span<const Shape> argument_shapes,
                     const ParseOptions& options)
    : program(from),
      options(options),
      origins(from, module),
      argument_shapes_(argument_shapes),
      shapes_(from.types.size()) {
  module.file = from.file;
}

Result<void> Converter::enter() {
  if (++depth_ <= deepest_nesting) return {};
  --depth_;
  return fail(ErrorKind::Limit, "regions and calls are nested deeper than {}", deepest_nesting);
}

Error Converter::at(const Operation& operation, Error error) const {
  if (!error.place.op.empty()) return error;
  error.place.file = program.file;
  error.place.op = operation.name;
  error.place.line = operation.position.line, error.place.column = operation.position.column;
  if (operation.position.line == 0)
    error.message += fmt::format(" (at byte {})", operation.position.offset);
  if (!operation.results.empty()) error.place.instruction = program[operation.results[0]].name;
  return error;
}

// The module that holds functions: a file's may have another one around it.
OpId Converter::innermost_module() const {
  OpId at = program.module;
  for (int depth = 0; depth < deepest_nesting; ++depth) {
    const auto& regions = program[at].regions;
    if (regions.size() != 1 || program[regions[0]].blocks.size() != 1) break;
    const Block& block = program[program[regions[0]].blocks[0]];
    if (block.operations.size() != 1 || program[block.operations[0]].name != "builtin.module")
      break;
    at = block.operations[0];
  }
  return at;
}

Result<void> Converter::collect_functions() {
  if (!program.module) return fail(ErrorKind::Format, "there is no builtin.module");
  module_operation = innermost_module();
  for (RegionId region : program[module_operation].regions)
    for (BlockId block : program[region].blocks)
      for (OpId id : program[block].operations) {
        const Operation& operation = program[id];
        const std::string name = text_attribute(program, operation, "sym_name");
        if (operation.name == "sdy.mesh" || operation.name == "stablehlo.mesh") {
          HILO_DO(add_mesh(name, operation));
        } else if (operation.name == "func.func") {
          if (!functions_.emplace(name, FunctionInfo{id}).second)
            return std::unexpected(
                at(operation,
                   {ErrorKind::Name, fmt::format("two functions are called @{}", name), {}}));
        } else {
          return std::unexpected(
              at(operation, {ErrorKind::Unsupported, "expected functions in the module", {}}));
        }
      }
  return {};
}

bool Converter::has_open_values(RegionId region, int depth) {
  if (depth > deepest_nesting) return false;
  const auto is_open = [&](ValueId value) { return has_open_dims(program[value].type); };
  for (BlockId id : program[region].blocks) {
    if (std::ranges::any_of(program[id].arguments, is_open)) return true;
    for (OpId op : program[id].operations) {
      const Operation& operation = program[op];
      if (std::ranges::any_of(operation.results, is_open)) return true;
      for (RegionId inner : operation.regions)
        if (has_open_values(inner, depth + 1)) return true;
      const Attribute* callee = program.find(operation, "callee");
      if (!callee) callee = program.find(operation, "decomposition");
      if (!callee) continue;
      const auto called = functions_.find(callee->text);
      if (called != functions_.end() && find_open(called->second)) return true;
    }
  }
  return false;
}

bool Converter::find_open(FunctionInfo& info) {
  if (info.state != 0 || depth_ >= deepest_nesting) return info.is_open;
  info.state = 1;
  ++depth_;
  for (RegionId region : program[info.operation].regions)
    info.is_open = info.is_open || has_open_values(region, 0);
  --depth_;
  info.state = 2;
  return info.is_open;
}

Result<InstructionId> Converter::add_argument(Scope& scope, const Operation& function, size_t index,
                                              const Shape& shape) {
  const Block& block = program[program[function.regions[0]].blocks[0]];
  const Value& argument = program[block.arguments[index]];
  Origin origin = origins.of(argument.location);
  if (origin.name.empty())
    origin.name = argument.name.empty() ? fmt::format("arg{}", index) : legal_name(argument.name);
  const InstructionId id = add_parameter(scope, shape, origin);
  scope.values[block.arguments[index]] = id;
  const Attribute* attributes = attributes_of(program, function, "arg_attrs", index);
  if (!attributes) return id;
  if (const Attribute* given = program.find(*attributes, "mhlo.frontend_attributes")) {
    HILO_TRY(module.mutable_extra(id).frontend_attributes, frontend_attributes_of(program, *given));
  }
  HILO_TRY(const auto sharding, sharding_in(*attributes));
  if (!sharding) return id;
  set_sharding(id, *sharding);
  return id;
}

// A result's sharding stands on an instruction of its own.
Result<InstructionId> Converter::with_result_sharding(Scope& scope, const Operation& function,
                                                      size_t index, InstructionId value) {
  const Attribute* attributes = attributes_of(program, function, "res_attrs", index);
  if (!attributes) return value;
  HILO_TRY(const auto sharding, sharding_in(*attributes));
  if (!sharding) return value;
  const bool is_shardy = !sharding->per_value.empty();
  return marked(scope, value, is_shardy ? "xla.sdy.FuncResultSharding" : "Sharding", *sharding,
                origins.of(function.location));
}

// What mhlo.sharding says of results stands on the entry's tuple too, where GSPMD looks for it.
// Results of which nothing is said are whole, as callers take them.
Result<void> Converter::say_result_shardings(const Operation& function, const Function& made) {
  const InstructionId root = module[made.computation].root;
  if (made.results < 2) return {};
  Sharding tuple;
  tuple.kind = Sharding::Kind::Tuple;
  bool is_said = false;
  for (size_t i = 0; i < made.results; ++i) {
    SaidSharding said;
    if (const Attribute* attributes = attributes_of(program, function, "res_attrs", i)) {
      HILO_TRY(auto found, sharding_in(*attributes));
      if (found && !found->per_value.empty()) return {};  // of Shardy, on the marker alone
      is_said = is_said || found;
      if (found) said = *std::move(found);
    }
    if (said.tiles.kind == Sharding::Kind::Tuple)
      std::ranges::move(said.tiles.elements, std::back_inserter(tuple.elements));
    else
      tuple.elements.insert(tuple.elements.end(), leaf_count(module.shape(module.operand(root, i))),
                            said.tiles);
  }
  if (is_said)
    module.mutable_extra(root).sharding = std::make_shared<const Sharding>(std::move(tuple));
  return {};
}

Result<Converter::Function> Converter::convert_function(const FunctionInfo& info,
                                                        const std::string& name,
                                                        std::span<const Shape> shapes,
                                                        std::span<const InstructionId> arguments) {
  const Operation& function = program[info.operation];
  if (function.regions.size() != 1 || program[function.regions[0]].blocks.empty())
    return fail(ErrorKind::Unsupported, "the function @{} has no body", name);
  HILO_TRY(const Block* block, only_block(function.regions[0]));
  if (block->arguments.size() != shapes.size())
    return fail(ErrorKind::Structure, "@{} takes {} arguments, not {}", name,
                block->arguments.size(), shapes.size());
  HILO_DO(enter());
  Scope scope{begin_computation(name)};
  for (size_t i = 0; i < shapes.size(); ++i) {
    HILO_TRY(const InstructionId parameter, add_argument(scope, function, i, shapes[i]));
    if (const auto* values = i < arguments.size() ? known.find(arguments[i]) : nullptr)
      known.set(parameter, KnownValues::Values(*values));
  }
  auto converted = convert_block(scope, *block);
  if (!converted && converted.error().place.computation.empty())
    converted.error().place.computation = name;
  if (!converted) return std::unexpected(converted.error());
  std::vector<InstructionId> results = std::move(*converted);
  for (size_t i = 0; i < results.size(); ++i) {
    HILO_TRY(results[i], with_result_sharding(scope, function, i, results[i]));
  }
  Function out{scope.computation, results.size()};
  HILO_TRY(module[out.computation].root, tuple(scope, results, {}));
  leave();
  return out;
}

Result<Converter::Function> Converter::function(const std::string& name,
                                                std::span<const InstructionId> arguments) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return fail(ErrorKind::Name, "there is no function @{}", name);
  FunctionInfo& info = found->second;
  std::string key = name;
  std::vector<Shape> shapes;
  for (InstructionId argument : arguments) shapes.push_back(module.shape(argument));
  if (find_open(info))
    for (size_t i = 0; i < arguments.size(); ++i) {
      key += fmt::format(" {}", to_string_without_layout(shapes[i]));
      if (const auto* values = known.find(arguments[i]))
        for (int64_t value : *values) key += fmt::format(",{}", value);
    }
  auto converted = converted_.find(key);
  if (converted == converted_.end()) {
    if (converted_.size() >= max_functions)
      return fail(ErrorKind::Limit, "more than {} functions", max_functions);
    if (!in_progress_.insert(name).second)
      return fail(ErrorKind::Structure, "@{} calls itself", name);
    for (Shape& shape : shapes)
      if (shape.is_array())
        shape.has_layout = true, shape.layout = Layout::descending(shape.dims.size());
    HILO_TRY(const Function made, convert_function(info, name, shapes, arguments));
    in_progress_.erase(name);
    converted = converted_.emplace(key, made).first;
  }
  const std::vector<InstructionId>& parameters = module[converted->second.computation].parameters;
  if (parameters.size() != arguments.size())
    return fail(ErrorKind::Structure, "@{} takes {} arguments, not {}", name, parameters.size(),
                arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!same_dims(module.shape(parameters[i]), module.shape(arguments[i])))
      return fail(ErrorKind::Shape, "@{} takes {} as argument {}, not {}", name,
                  to_string_without_layout(module.shape(parameters[i])), i,
                  to_string_without_layout(module.shape(arguments[i])));
  return converted->second;
}

Result<Converter::Function> Converter::declared(const std::string& name) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return fail(ErrorKind::Name, "there is no function @{}", name);
  const Operation& operation = program[found->second.operation];
  if (operation.regions.size() != 1) return fail(ErrorKind::Structure, "@{} has no body", name);
  HILO_TRY(const Block* block, only_block(operation.regions[0]));
  std::vector<Shape> shapes;
  for (ValueId argument : block->arguments) {
    HILO_TRY(shapes.emplace_back(), shape_of(program[argument].type));
  }
  if (!in_progress_.insert(name).second)
    return fail(ErrorKind::Structure, "@{} calls itself", name);
  auto made = convert_function(found->second, name, shapes, {});
  in_progress_.erase(name);
  return made;
}

Result<void> Converter::convert_main(FunctionInfo& info) {
  const Operation& function = program[info.operation];
  known.is_wanted = find_open(info);
  if (function.regions.size() != 1 || program[function.regions[0]].blocks.empty())
    return fail(ErrorKind::Unsupported, "the function main has no body");
  std::vector<Shape> shapes;
  const Block& block = program[program[function.regions[0]].blocks[0]];
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    HILO_TRY(Shape shape, shape_of(program[block.arguments[i]].type));
    const Shape* given = i < argument_shapes_.size() ? &argument_shapes_[i] : nullptr;
    for (size_t d = 0; d < shape.dims.size(); ++d) {
      if (shape.dims[d] != Shape::unbounded) continue;
      if (!given)
        return fail(ErrorKind::Unsupported,
                    "argument {} is {}: nothing says how large dimension {} is; hilo run takes it "
                    "from the inputs",
                    i, to_string_without_layout(shape), d);
      if (given->dims.size() != shape.dims.size() || given->dims[d] < 0)
        return fail(ErrorKind::Input, "argument {} is {}, and {} was given", i,
                    to_string_without_layout(shape), to_string_without_layout(*given));
      shape.dims[d] = given->dims[d];
    }
    if (element_count(shape) == INT64_MAX)
      return fail(ErrorKind::Limit, "argument {} has more than 2^63-2 elements", i);
    shapes.push_back(std::move(shape));
  }
  HILO_TRY(const Function main, convert_function(info, "main", shapes, {}));
  module.entry = main.computation;
  HILO_DO(say_result_shardings(function, main));
  return read_argument_attributes(function, main.results);
}

// Callees before callers, the entry last, as XLA prints them; what nobody calls was not converted.
void Converter::order_computations() {
  const std::vector<ComputationId> order = module.post_order();
  std::vector<ComputationId> renamed(module.computations.size());
  std::vector<Computation> computations;
  for (ComputationId id : order) {
    renamed[id.value] = {static_cast<uint32_t>(computations.size())};
    computations.push_back(std::move(module[id]));
  }
  for (uint32_t i = 0; i < module.instructions.size(); ++i) {
    Instruction& instruction = module.instructions[i];
    instruction.computation = renamed[instruction.computation.value];
    std::vector<ComputationId> called = module.called(instruction);
    if (called.empty()) continue;
    for (ComputationId& id : called) id = renamed[id.value];
    module.set_called({i}, called);
  }
  module.computations = std::move(computations);
  module.entry = renamed[module.entry.value];
}

Result<Module> Converter::convert() {
  HILO_DO(collect_functions());
  HILO_DO(read_header());
  const auto is_public = [&](const auto& one) {
    return text_attribute(program, program[one.second.operation], "sym_visibility") != "private";
  };
  auto main = functions_.find("main");
  if (main == functions_.end() && std::ranges::count_if(functions_, is_public) == 1)
    main = std::ranges::find_if(functions_, is_public);
  if (main == functions_.end())
    return fail(ErrorKind::Structure, "there is no function @main, nor a single public one");
  auto converted = convert_main(main->second);
  if (!converted) return std::unexpected(at(program[main->second.operation], converted.error()));
  order_computations();
  return std::move(module);
}

Result<Module> to_module(const Program& program, std::span<const Shape> argument_shapes,
                         const ParseOptions& options) {
  Converter converter(program, argument_shapes, options);
  auto module = converter.convert();
  if (!module && module.error().place.file.empty()) module.error().place.file = program.file;
  return module;
}

}  // namespace hilo::mlir
