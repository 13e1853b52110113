// Ops with regions, calls, tuples, tokens and transfers.
#include "wire/stablehlo/exporter.h"

namespace hilo::mlir {

void add_window(Site& site, const Window& window, std::string_view base, std::string_view dilation,
                Fields& fields) {
  Dims sizes, strides, padding, bases, dilations;
  for (const WindowDim& dim : window.dims) {
    sizes.push_back(dim.size);
    strides.push_back(dim.stride);
    padding.push_back(dim.padding_low);
    padding.push_back(dim.padding_high);
    bases.push_back(dim.base_dilation);
    dilations.push_back(dim.window_dilation);
  }
  const auto rank = static_cast<int64_t>(sizes.size());
  fields.emplace_back("window_dimensions", site.numbers(sizes));
  fields.emplace_back("window_strides", site.numbers(strides));
  fields.emplace_back("padding", site.builder().numbers(std::move(padding), {rank, 2}));
  if (!base.empty()) fields.emplace_back(base, site.numbers(bases));
  if (!dilation.empty()) fields.emplace_back(dilation, site.numbers(dilations));
}

// Whether the body computes in the types of the operands.
static bool fits_body(const Site& site, ComputationId body) {
  const auto& parameters = site.module()[body].parameters;
  for (size_t i = 0; i < parameters.size() && i < site.count(); ++i)
    if (site.module().shape(parameters[i]).type != site.operand_shape(i).type) return false;
  return true;
}

Result<void> write_reduce(Site& site) {
  const auto& a = site.attributes<ReduceAttributes>();
  if (!fits_body(site, a.to_apply)) return fail_mixed_widths();
  HILO_TRY(const RegionId body, site.exporter.region(a.to_apply));
  return site.become({{"dimensions", site.numbers(a.dimensions)}}, {body});
}

Result<void> write_reduce_window(Site& site) {
  const auto& a = site.attributes<ReduceWindowAttributes>();
  HILO_TRY(const RegionId body, site.exporter.region(a.to_apply));
  Window window = a.window;
  window.dims.resize(site.operand_shape(0).dims.size());
  for (const WindowDim& dim : window.dims)
    if (dim.reversal) return site.unsupported("StableHLO has no reversed windows of reductions");
  Fields fields;
  add_window(site, window, "base_dilations", "window_dilations", fields);
  return site.become(std::move(fields), {body});
}

Result<void> write_select_and_scatter(Site& site) {
  const auto& a = site.attributes<SelectAndScatterAttributes>();
  HILO_TRY(const RegionId select, site.exporter.region(a.select));
  HILO_TRY(const RegionId scatter, site.exporter.region(a.scatter));
  Window window = a.window;
  window.dims.resize(site.operand_shape(0).dims.size());
  Fields fields;
  add_window(site, window, "", "", fields);
  return site.become(std::move(fields), {select, scatter});
}

Result<void> write_map(Site& site) {
  const auto& a = site.attributes<MapAttributes>();
  if (!fits_body(site, a.to_apply)) return fail_mixed_widths();
  HILO_TRY(const RegionId body, site.exporter.region(a.to_apply));
  Dims dims = a.dimensions;
  if (dims.empty())
    for (int64_t i = 0; i < site.shape().rank(); ++i) dims.push_back(i);
  return site.become({{"dimensions", site.numbers(dims)}}, {body});
}

Result<void> write_sort(Site& site) {
  const auto& a = site.attributes<SortAttributes>();
  if (a.dimensions.size() != 1) return fail(ErrorKind::Structure, "expected one dimension");
  HILO_TRY(const RegionId body, site.exporter.region(a.to_apply));
  return site.become({{"dimension", site.integer(a.dimensions[0])},
                      {"is_stable", site.builder().boolean(a.is_stable)}},
                     {body});
}

Result<void> write_while(Site& site) {
  const auto& a = site.attributes<WhileAttributes>();
  HILO_TRY(const RegionId condition, site.exporter.region(a.condition));
  HILO_TRY(const RegionId body, site.exporter.region(a.body));
  return site.become({}, {condition, body});
}

// Branches take no arguments: they use the values around them.
Result<void> write_conditional(Site& site) {
  const auto& a = site.attributes<ConditionalAttributes>();
  const bool is_if = static_cast<bool>(a.true_computation);
  std::vector<ComputationId> branches = a.branch_computations;
  if (is_if) branches = {a.true_computation, a.false_computation};
  if (branches.size() + 1 != site.count())
    return fail(ErrorKind::Structure, "{} branches and {} operands", branches.size(), site.count());
  std::vector<RegionId> regions;
  for (size_t i = 0; i < branches.size(); ++i) {
    HILO_TRY(regions.emplace_back(),
             site.exporter.region(branches[i], std::vector<Leaves>{site.leaves(i + 1)}));
  }
  const bool is_pred = site.operand_shape(0).type == ElementType::Pred;
  return site.become(is_pred ? "stablehlo.if" : "stablehlo.case", site.leaves(0), {},
                     std::move(regions));
}

namespace {

Result<void> call(Site& site, ComputationId computation) {
  Fields fields = {{"callee", site.builder().string(site.exporter.function(computation))}};
  return site.become("func.call", site.all_leaves(), std::move(fields));
}

// The fields that XLA gives a composite among its frontend attributes.
Result<bool> composite(Site& site) {
  const FrontendAttributes& from = site.module().extra(site.instruction()).frontend_attributes;
  const auto name = from.find("composite.name"), options = from.find("composite.attributes"),
             version = from.find("composite.version");
  if (name == from.end()) return false;
  const auto parsed = parse_dictionary(
      site.builder(), options == from.end() ? std::string_view("{}") : options->second.text);
  if (!parsed) {
    site.exporter.warn("attributes of composites that are not MLIR's", site.instruction());
    return false;
  }
  const auto& a = site.attributes<CallAttributes>();
  const int64_t number =
      version == from.end() ? 0 : std::strtoll(version->second.text.c_str(), nullptr, 10);
  HILO_TRY(auto types, site.exporter.leaf_types(site.shape()));
  HILO_TRY(Leaves values,
           site.emit("stablehlo.composite", site.all_leaves(), std::move(types),
                     {{"name", site.builder().string(name->second.text)},
                      {"composite_attributes", *parsed},
                      {"decomposition", site.builder().string(site.exporter.function(a.to_apply))},
                      {"version", site.integer32(number)}}));
  site.give(std::move(values));
  return true;
}

}  // namespace

Result<void> write_call(Site& site) {
  const auto& a = site.attributes<CallAttributes>();
  if (a.is_composite) {
    HILO_TRY(const bool is_done, composite(site));
    if (is_done) return {};
  }
  return call(site, a.to_apply);
}

Result<void> write_fusion(Site& site) {
  return call(site, site.attributes<FusionAttributes>().calls);
}

// The computation's results are the value of the start and of its done.
Result<void> write_async_start(Site& site) {
  const ComputationId computation = site.attributes<AsyncAttributes>().calls;
  if (!computation) return site.unsupported("an async-start without a computation");
  std::vector<Leaves> parameters;
  for (size_t i = 0; i < site.count(); ++i) parameters.push_back(site.leaves(i));
  if (parameters.size() != site.module()[computation].parameters.size())
    return site.unsupported("an async-start whose computation takes other parameters");
  HILO_TRY(Leaves values,
           site.exporter.convert(computation, site.target.block, std::move(parameters)));
  site.give(std::move(values));
  return {};
}

Result<void> write_tuple(Site& site) {
  site.give(site.all_leaves());
  return {};
}

Result<void> write_get_tuple_element(Site& site) {
  const int64_t index = site.attributes<GetTupleElementAttributes>().index;
  const Shape& whole = site.operand_shape(0);
  if (!whole.is_tuple() || index < 0 || index >= std::ssize(whole.elements))
    return fail(ErrorKind::Structure, "no element {} in {}", index, to_string(whole));
  int64_t first = 0;
  for (int64_t i = 0; i < index; ++i) first += leaf_count(whole.elements[i]);
  const int64_t count = leaf_count(site.shape());
  const Leaves& all = site.leaves(0);
  if (std::ssize(all) != leaf_count(whole))
    return site.unsupported("an element of an operation that is not done");
  site.give(Leaves(all.begin() + first, all.begin() + first + count));
  return {};
}

Result<void> write_after_all(Site& site) {
  if (site.count() > 0) return site.become();
  return site.become("stablehlo.create_token", {});
}

// The value behind a barrier that the token stands before too.
Result<void> write_add_dependency(Site& site) {
  const Leaves operands = site.all_leaves();
  HILO_TRY(auto types, site.exporter.leaf_types(site.operand_shape(0)));
  HILO_TRY(const auto tokens, site.exporter.leaf_types(site.operand_shape(1)));
  types.insert(types.end(), tokens.begin(), tokens.end());
  HILO_TRY(Leaves values, site.emit(site.name, operands, std::move(types)));
  values.resize(site.leaves(0).size());
  site.give(std::move(values));
  return {};
}

namespace {

constexpr int64_t device_to_device = 1, device_to_host = 2, host_to_device = 3;

Fields transfer_fields(Site& site, int64_t host_type) {
  const auto& a = site.attributes<TransferAttributes>();
  return {{"channel_id", site.integer(a.channel_id.value_or(0))},
          {"channel_type", site.integer(a.is_host_transfer ? host_type : device_to_device)},
          {"is_host_transfer", site.builder().boolean(a.is_host_transfer)}};
}

}  // namespace

Result<void> write_infeed(Site& site) {
  const auto& a = site.attributes<InfeedAttributes>();
  return site.become({{"infeed_config", site.builder().string(a.infeed_config)}});
}

Result<void> write_outfeed(Site& site) {
  const auto& a = site.attributes<OutfeedAttributes>();
  return site.become({{"outfeed_config", site.builder().string(a.outfeed_config)}});
}

// What is received and the token; the context between start and done is nobody's.
Result<void> write_recv(Site& site) {
  if (!site.shape().is_tuple() || site.shape().elements.empty())
    return fail(ErrorKind::Structure, "a recv that is no tuple");
  HILO_TRY(auto types, site.exporter.leaf_types(site.shape().elements[0]));
  HILO_TRY(types.emplace_back(), site.exporter.type_of(Shape::token()));
  Fields fields = transfer_fields(site, host_to_device);
  annotate(site.builder(), site.module().extra(site.instruction()), fields);
  HILO_TRY(Leaves values,
           site.emit(site.name, site.all_leaves(), std::move(types), std::move(fields)));
  site.give(std::move(values));
  return {};
}

Result<void> write_send(Site& site) {
  HILO_TRY(const TypeId token, site.exporter.type_of(Shape::token()));
  Fields fields = transfer_fields(site, device_to_host);
  annotate(site.builder(), site.module().extra(site.instruction()), fields);
  HILO_TRY(Leaves values, site.emit(site.name, site.all_leaves(), {token}, std::move(fields)));
  site.give(std::move(values));
  return {};
}

}  // namespace hilo::mlir
