// Functions, regions and the order of instructions.
#include "wire/stablehlo/from_module.h"

#include <algorithm>

#include "wire/legal_name.h"
#include "wire/stablehlo/exporter.h"
#include "wire/stablehlo/result_accuracy.h"

namespace hilo::mlir {
namespace {

constexpr int deepest_region = 200;
// Regions are written once for each use, so that a small module can ask for very many.
constexpr size_t max_operations = size_t{1} << 24;

}  // namespace

std::unexpected<Error> fail_mixed_widths() {
  return fail(ErrorKind::Unsupported,
              "widths of floats are mixed, which StableHLO does not; hilo opt "
              "--passes=explicit-converts writes the conversions that this means");
}

ValueId Exporter::new_value(TypeId type, std::string_view name, AttributeId location) {
  builder.program.values.push_back({.type = type, .name = legal_name(name), .location = location});
  return {static_cast<uint32_t>(builder.program.values.size() - 1)};
}

BlockId Exporter::new_block() {
  builder.program.blocks.emplace_back();
  return {static_cast<uint32_t>(builder.program.blocks.size() - 1)};
}

RegionId Exporter::region_of(BlockId block) {
  builder.program.regions.push_back({{block}});
  return {static_cast<uint32_t>(builder.program.regions.size() - 1)};
}

OpId Exporter::append(BlockId block, Operation operation) {
  const OpId id{static_cast<uint32_t>(builder.program.operations.size())};
  builder.program.operations.push_back(std::move(operation));
  builder.program.blocks[block.value].operations.push_back(id);
  return id;
}

Result<void> Exporter::convert_instruction(Target& target, InstructionId id) {
  const Instruction& instruction = module[id];
  const WriterRow* row = find_writer(instruction.op);
  if (!row) return fail(ErrorKind::Unsupported, "StableHLO has no op {}", text_of(instruction.op));
  for (const InstructionId operand : module.operands(id))
    if (!target.values.contains(operand))
      return fail(ErrorKind::Structure, "operand {} stands behind its user", module[operand].name);
  if (builder.program.operations.size() > max_operations)
    return fail(ErrorKind::Limit, "more than {} ops", max_operations);
  const Extra& extra = module.extra(instruction);
  if (!extra.control_predecessors.empty()) warn("control dependencies", instruction);
  if (!extra.backend_config.empty() && instruction.op != Op::CustomCall)
    warn("backend configurations", instruction);
  if (widened_shapes(module, instruction)) return fail_mixed_widths();
  Site site{*this, target, id, row->name};
  return row->handler(site);
}

Result<Leaves> Exporter::convert(ComputationId computation, BlockId block,
                                 std::vector<Leaves> parameters) {
  const Computation& from = module[computation];
  if (++depth_ > deepest_region)
    return fail(ErrorKind::Limit, "regions nest deeper than {}", deepest_region);
  if (parameters.size() != from.parameters.size())
    return fail(ErrorKind::Structure, "{} takes {} parameters, not {}", from.name,
                from.parameters.size(), parameters.size());
  Target target{block, {}};
  for (size_t i = 0; i < from.parameters.size(); ++i)
    target.values[from.parameters[i]] = std::move(parameters[i]);
  for (const InstructionId id : from.instructions) {
    if (module[id].removed || module[id].op == Op::Parameter) continue;
    if (auto done = convert_instruction(target, id); !done) {
      if (done.error().place.instruction.empty()) {
        std::string file = std::move(done.error().place.file);
        done.error().place = module.place(id);
        if (done.error().place.file.empty()) done.error().place.file = std::move(file);
      }
      return std::unexpected(done.error());
    }
  }
  --depth_;
  return target.values.at(from.root);
}

Result<RegionId> Exporter::region(ComputationId computation) {
  const BlockId block = new_block();
  std::vector<Leaves> parameters;
  for (const InstructionId parameter : module[computation].parameters) {
    HILO_TRY(const auto types, leaf_types(module.shape(parameter)));
    Leaves& leaves = parameters.emplace_back();
    for (const TypeId type : types)
      leaves.push_back(new_value(type, module[parameter].name, location_of(module[parameter])));
    auto& arguments = builder.program.blocks[block.value].arguments;
    arguments.insert(arguments.end(), leaves.begin(), leaves.end());
  }
  HILO_TRY(Leaves results, convert(computation, block, std::move(parameters)));
  append(block, {.name = "stablehlo.return",
                 .operands = std::move(results),
                 .location = location_of(module[module[computation].root])});
  return region_of(block);
}

Result<RegionId> Exporter::region(ComputationId computation, std::vector<Leaves> parameters) {
  const BlockId block = new_block();
  HILO_TRY(Leaves results, convert(computation, block, std::move(parameters)));
  append(block, {.name = "stablehlo.return",
                 .operands = std::move(results),
                 .location = location_of(module[module[computation].root])});
  return region_of(block);
}

std::string Exporter::unique_symbol(std::string_view name) {
  const std::string base = name.empty() ? "function" : legal_name(name);
  std::string out = base;
  for (int i = 0; !symbols_.insert(out).second; ++i) out = fmt::format("{}_{}", base, i);
  return out;
}

std::string Exporter::function(ComputationId computation) {
  const auto found = functions_.find(computation);
  if (found != functions_.end()) return found->second;
  const std::string name = unique_symbol(module[computation].name);
  functions_.emplace(computation, name);
  wanted_.push_back(computation);
  return name;
}

Result<void> Exporter::write_function(ComputationId computation) {
  const BlockId block = new_block();
  Type type{.kind = TypeKind::Function};
  std::vector<Leaves> parameters;
  for (const InstructionId parameter : module[computation].parameters) {
    HILO_TRY(const auto types, leaf_types(module.shape(parameter)));
    Leaves& leaves = parameters.emplace_back();
    for (const TypeId leaf : types) {
      type.types.push_back(leaf);
      leaves.push_back(new_value(leaf, module[parameter].name, location_of(module[parameter])));
    }
    auto& arguments = builder.program.blocks[block.value].arguments;
    arguments.insert(arguments.end(), leaves.begin(), leaves.end());
  }
  type.inputs = type.types.size();
  HILO_TRY(Leaves results, convert(computation, block, std::move(parameters)));
  for (const ValueId result : results) type.types.push_back(builder.program[result].type);
  const size_t inputs = type.inputs, outputs = results.size();
  const bool is_entry = computation == module.entry;
  append(block, {.name = "func.return",
                 .operands = std::move(results),
                 .location = location_of(module[module[computation].root])});
  Operation out{.name = "func.func"};
  out.location = builder.structure("loc.unknown", {});
  out.attributes = {{"function_type", builder.type_attribute(builder.intern(std::move(type)))},
                    {"sym_name", builder.string(functions_.at(computation))},
                    {"sym_visibility", builder.string(is_entry ? "public" : "private")}};
  if (is_entry) HILO_DO(describe_entry(out.attributes, inputs, outputs));
  sort_fields(out.attributes);
  complete(builder, *find_vhlo_op("func"), out.attributes);
  out.regions = {region_of(block)};
  append(top_, std::move(out));
  return {};
}

Result<Program> Exporter::run() {
  warn_of_header();
  top_ = new_block();
  symbols_.insert("main");
  functions_.emplace(module.entry, "main");
  wanted_.push_back(module.entry);
  for (size_t i = 0; i < wanted_.size(); ++i) HILO_DO(write_function(wanted_[i]));
  Operation top{.name = "builtin.module"};
  describe_module(top);
  top.regions = {region_of(top_)};
  builder.program.module = {static_cast<uint32_t>(builder.program.operations.size())};
  builder.program.operations.push_back(std::move(top));
  builder.program.file = module.file;
  return std::move(builder.program);
}

Leaves Site::all_leaves(size_t from) const {
  Leaves out;
  for (size_t i = from; i < count(); ++i) {
    const Leaves& one = leaves(i);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

Result<Leaves> Site::emit(std::string_view op, std::span<const ValueId> operands,
                          std::vector<TypeId> results, Fields attributes,
                          std::vector<RegionId> regions) {
  Operation out{.name = std::string(op), .operands = {operands.begin(), operands.end()}};
  sort_fields(attributes);
  if (const VhloOp* known = find_stablehlo_op(op)) {
    if (const std::string fault = complete(builder(), *known, attributes); !fault.empty())
      return fail(ErrorKind::Structure, "{}: {}", op, fault);
    const Release& release = exporter.release;
    const int version = version_at(*known, release);
    for (const VhloAttribute& spec : known->all())
      if (!spec.is_in(version) && spec.is_in(known->newest) &&
          !is_fallback(builder().program, spec,
                       builder().program[find_field(attributes, spec.name)]))
        return fail(ErrorKind::Unsupported, "{} of {} came with StableHLO {}; {} is written",
                    spec.name, op, to_string(release_of(*known, spec.since)), to_string(release));
    if (version_at(*known, release) == 0)
      return fail(ErrorKind::Unsupported, "{} came with StableHLO {}; {} is written", op,
                  to_string(first_release(*known)), to_string(release));
  }
  out.attributes = std::move(attributes);
  out.regions = std::move(regions);
  out.location = exporter.location_of(instruction());
  for (const TypeId type : results)
    out.results.push_back(exporter.new_value(type, instruction().name));
  Leaves values = out.results;
  exporter.append(target.block, std::move(out));
  return values;
}

// Of an op that has it in the release that is written.
static void add_accuracy(Site& site, std::string_view op, Fields& attributes) {
  const std::string& text = site.module().extra(site.instruction()).result_accuracy;
  if (text.empty()) return;
  const VhloOp* known = find_stablehlo_op(op);
  const auto all = known ? known->all() : std::span<const VhloAttribute>();
  const auto spec = std::ranges::find(all, "result_accuracy", &VhloAttribute::name);
  const bool has_it = spec != all.end() && spec->is_in(version_at(*known, site.exporter.release));
  const auto accuracy = has_it ? accuracy_of(site.builder(), text) : std::nullopt;
  if (accuracy) attributes.emplace_back("result_accuracy", *accuracy);
  else site.exporter.warn("accuracies of results", site.instruction());
}

Result<void> Site::become(std::string_view op, std::span<const ValueId> operands, Fields attributes,
                          std::vector<RegionId> regions) {
  HILO_TRY(auto types, exporter.leaf_types(shape()));
  annotate(builder(), module().extra(instruction()), attributes);
  add_accuracy(*this, op, attributes);
  HILO_TRY(Leaves values,
           emit(op, operands, std::move(types), std::move(attributes), std::move(regions)));
  give(std::move(values));
  return {};
}

Result<void> Site::become(Fields attributes, std::vector<RegionId> regions) {
  return become(name, all_leaves(), std::move(attributes), std::move(regions));
}

Result<Program> from_module(const Module& module, Release release, std::vector<Warning>* warnings) {
  return Exporter(module, release, warnings).run();
}

}  // namespace hilo::mlir
