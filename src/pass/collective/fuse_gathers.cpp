// Gathers that go on inside products, in the form that TPU compilers write:
//   start, product, done => a fusion that starts the gather, the product as a fusion that does
//   steps of it, a fusion that ends it
// All hold the gather, over one channel. What the start gives (its operand, where the result comes,
// counters and flags) goes through the products between and is written over in each. A gather
// beside which nothing is computed is done at once. Only on machines whose products do so
// (Machine::links). Assumes a schedule. Later passes may assume that a gather with a channel that
// stands in several fusions is one. Behind the scheduler, whose order stays.
#include <algorithm>

#include "pass/collective/device_groups.h"

namespace hilo {
namespace {

// What goes from the start through the products to the end.
struct State {
  std::vector<InstructionId> parts;
};
enum StatePart : size_t { shard_part, whole_part };

class GatherFuser {
 public:
  GatherFuser(Module& module, const Machine& machine)
      : module_(module),
        machine_(machine),
        times_(module, machine),
        editor_(module),
        channel_(next_channel(module)) {}

  bool run() {
    if (!times_.is_known()) return false;
    // Times are those of the module as it was.
    std::vector<std::pair<ComputationId, std::vector<Gather>>> found;
    for (ComputationId id : open_computations(module_))
      found.emplace_back(id, gathers_in(module_[id].instructions));
    bool changed = false;
    for (const auto& [id, gathers] : found) changed |= fuse_all(id, gathers);
    return changed;
  }

 private:
  struct Gather {
    InstructionId start, done;
    std::vector<InstructionId> products;  // between, in their order
    bool is_idle = true;                  // nothing is computed between
    InstructionId before;                 // the end of the gather that goes on when this one starts
  };

  bool fuse_all(ComputationId id, const std::vector<Gather>& gathers) {
    const std::vector<InstructionId> order = module_[id].instructions;
    new_.clear();
    for (const Gather& one : gathers)
      if (one.is_idle) gather_at_once(one);
      else if (!one.products.empty()) fuse(one);
    if (new_.empty()) return false;
    std::vector<InstructionId> after;
    for (InstructionId old : order)
      if (const auto found = new_.find(old.value); found != new_.end())
        after.insert(after.end(), found->second.begin(), found->second.end());
      else if (!module_[old].removed) after.push_back(old);
    module_[id].instructions = std::move(after);
    return true;
  }

  bool is_gather(InstructionId id) const {
    return module_[id].op == Op::AllGatherStart && module_[id].operand_count == 1 &&
           !editor_.is_pinned(id) && channel_of(module_, id);
  }

  std::vector<Gather> gathers_in(const std::vector<InstructionId>& order) const {
    std::vector<Gather> out;
    std::unordered_map<size_t, size_t> waits;  // of a gather: for which
    for (InstructionId id : order) {
      if (module_[id].removed) continue;
      const InstructionId start = times_.start_of(id);
      for (Gather& one : out) {
        if (one.done) continue;
        if (start == one.start) one.done = id;
        else if (times_.computation(id) > 0) one.is_idle = false;
      }
      if (is_gather(id)) {
        const auto going =
            std::ranges::find(out.rbegin(), out.rend(), InstructionId(), &Gather::done);
        if (going != out.rend()) waits[out.size()] = static_cast<size_t>(out.rend() - going) - 1;
        out.push_back({id, {}, {}});
      }
      // One after the other: the oldest goes on.
      const auto oldest = std::ranges::find(out, InstructionId(), &Gather::done);
      if (oldest != out.end() && is_product(id)) oldest->products.push_back(id);
    }
    for (const auto& [one, other] : waits) out[one].before = out[other].done;
    return out;
  }

  bool is_product(InstructionId id) const {
    const Op op = module_[id].op;
    if (op == Op::Fusion && module_.attributes<FusionAttributes>(id).kind != FusionKind::Output)
      return false;
    if (op != Op::Fusion && op != Op::Dot && op != Op::Convolution) return false;
    return !editor_.is_pinned(id) && (module_.shape(id).is_array() || is_read_by_element(id));
  }
  bool is_read_by_element(InstructionId id) const {
    return module_[module_[id].computation].root != id &&
           std::ranges::all_of(module_.users(id), [&](InstructionId user) {
             return module_[user].op == Op::GetTupleElement && !editor_.is_pinned(user);
           });
  }

  void gather_at_once(const Gather& one) {
    const std::vector<InstructionId> operand = {module_.operand(one.start, 0)};
    const InstructionId gather =
        editor_.add(one.start, Op::AllGather, module_.shape(one.done), operand,
                    AllGatherAttributes(module_.attributes<AllGatherAttributes>(one.start)));
    const Extra extra = module_.extra(module_[one.start]);
    if (module_[one.start].extra) module_.mutable_extra(gather) = extra;
    replace(one, gather);
    new_[one.start.value] = {gather};
  }

  // The start has no users left when its end has gone.
  void replace(const Gather& one, InstructionId value) {
    editor_.replace_moved(one.done, value);
    editor_.replace_moved(one.start, value);
    new_.try_emplace(one.done.value);
  }

  void fuse(const Gather& one) {
    const std::string chain = std::to_string(chains_++);
    // Channels of others need not be theirs alone.
    module_.mutable_attributes<AllGatherAttributes>(one.start).channel_id = channel_++;
    State state = start(one, chain);
    for (InstructionId product : one.products) state = step(one, product, state, chain);
    const InstructionId end = finish(one, state, chain);
    new_[one.done.value] = {end};
    // One goes on at a time.
    if (const auto end_before = new_.find(one.before.value);
        one.before && end_before != new_.end() && !end_before->second.empty()) {
      std::vector<InstructionId>& started = new_[one.start.value];
      end_before->second.insert(end_before->second.end(), started.begin(), started.end());
      started.clear();
    }
    replace(one, end);
  }

  Shape in_space(Shape shape, std::string_view name) const {
    const auto space = std::ranges::find(machine_.spaces, name, &MemorySpace::name);
    shape.layout = Layout::descending(shape.dims.size());
    shape.has_layout = true;
    if (space != machine_.spaces.end()) shape.layout.memory_space = space->number;
    return shape;
  }

  std::vector<Shape> state_shapes(const Gather& one) const {
    std::vector<Shape> out = {module_.shape(module_.operand(one.start, 0)), module_.shape(one.done),
                              in_space(Shape::array(ElementType::S32, {2}), "smem")};
    out.resize(out.size() + static_cast<size_t>(machine_.links.gather_flags),
               in_space(Shape::scalar(ElementType::U32), "sflag"));
    return out;
  }

  // The gather once more, of the first of the parameters.
  InstructionId gather_inside(const Gather& one, InstructionId shard, const std::string& chain) {
    const InstructionId out =
        editor_.add(shard, Op::AllGather, module_.shape(one.done), std::array{shard},
                    AllGatherAttributes(module_.attributes<AllGatherAttributes>(one.start)));
    FrontendAttributes attributes = module_.extra(module_[one.start]).frontend_attributes;
    attributes["chain_id"] = {chain};
    module_.mutable_extra(out).frontend_attributes = std::move(attributes);
    return out;
  }

  std::vector<InstructionId> add_parameters(ComputationId body, InstructionId like,
                                            std::span<const Shape> shapes) {
    std::vector<InstructionId> out;
    for (const Shape& shape : shapes) out.push_back(editor_.add_parameter(body, like, shape));
    return out;
  }

  InstructionId add_call(InstructionId like, std::string_view target, const Shape& shape,
                         std::span<const InstructionId> operands) {
    CustomCallAttributes attributes;
    attributes.custom_call_target = target;
    return editor_.add(like, Op::CustomCall, shape, operands, std::move(attributes));
  }

  InstructionId add_fusion(InstructionId like, std::string_view name, FusionKind kind,
                           ComputationId body, std::span<const InstructionId> operands,
                           OutputOperandAliases aliases) {
    const Shape shape = module_.shape(module_[body].root);
    const InstructionId out = editor_.add(like, Op::Fusion, shape, operands,
                                          FusionAttributes{kind, std::move(aliases), body});
    module_[out].name = editor_.fresh_name(name);
    return out;
  }

  // The elements of the tuple from `first` on that are the state; `skipped` is none of them.
  State state_from(InstructionId tuple, size_t first, std::optional<size_t> skipped,
                   std::vector<InstructionId>& added) {
    State out;
    const size_t size = module_.shape(tuple).elements.size();
    for (size_t i = first; i < size; ++i) {
      if (i == skipped) continue;
      out.parts.push_back(editor_.add_element(tuple, tuple, static_cast<int64_t>(i)));
      added.push_back(out.parts.back());
    }
    return out;
  }

  State start(const Gather& one, const std::string& chain) {
    const ComputationId body = module_.add_computation("async_collective_start");
    const std::vector<Shape> shapes = state_shapes(one);
    const auto parameters = add_parameters(body, one.start, std::span(shapes).first(1));
    const InstructionId gather = gather_inside(one, parameters[0], chain);
    module_[body].root =
        add_call(gather, "AsyncCollectiveStart", Shape::tuple(shapes), std::array{gather});
    const std::vector<InstructionId> operands = {module_.operand(one.start, 0)};
    const InstructionId fusion =
        add_fusion(one.start, "async-collective-start", FusionKind::Custom, body, operands,
                   {{{static_cast<int64_t>(shard_part)}, 0, {}}});
    std::vector<InstructionId>& added = new_[one.start.value] = {fusion};
    return state_from(fusion, 0, std::nullopt, added);
  }

  // Results of the product first, then the state, with the gather behind where it comes.
  State step(const Gather& one, InstructionId product, const State& before,
             const std::string& chain) {
    const ComputationId body = module_.add_computation("async_collective_fusion");
    const std::vector<Shape> shapes = state_shapes(one);
    const auto state = add_parameters(body, one.start, shapes);
    std::vector<InstructionId> operands = before.parts, arguments;
    for (InstructionId operand :
         std::vector(module_.operands(product).begin(), module_.operands(product).end())) {
      const Shape shape = module_.shape(operand);
      arguments.push_back(editor_.add_parameter(body, operand, shape));
      operands.push_back(operand);
    }
    std::vector<InstructionId> results = results_inside(product, body, arguments);
    const size_t count = results.size();
    results.insert(results.end(), {state[shard_part], state[whole_part]});
    results.push_back(gather_inside(one, state[shard_part], chain));
    results.insert(results.end(), state.begin() + whole_part + 1, state.end());
    module_[body].root = editor_.add_tuple(state[0], results);
    // The gather is written where its result comes.
    OutputOperandAliases aliases;
    for (size_t i = 0; i + count < results.size(); ++i)
      aliases.push_back({{static_cast<int64_t>(count + i)},
                         static_cast<int64_t>(i > whole_part ? i - 1 : i),
                         {}});
    const InstructionId fusion =
        add_fusion(product, "fusion", FusionKind::Output, body, operands, std::move(aliases));
    std::vector<InstructionId>& added = new_[product.value] = {fusion};
    move_results(product, fusion, added);
    return state_from(fusion, count, count + whole_part + 1, added);
  }

  std::vector<InstructionId> results_inside(InstructionId product, ComputationId body,
                                            std::span<const InstructionId> arguments) {
    if (module_[product].op != Op::Fusion) return {editor_.clone(product, body, arguments)};
    const ComputationId callee = module_.attributes<FusionAttributes>(product).calls;
    const InstructionId root = editor_.clone_body(callee, body, arguments);
    if (!module_.shape(root).is_tuple()) return {root};
    std::vector<InstructionId> out;
    for (size_t i = 0; i < module_.shape(root).elements.size(); ++i)
      out.push_back(module_[root].op == Op::Tuple
                        ? module_.operand(root, i)
                        : editor_.add_element(root, root, static_cast<int64_t>(i)));
    editor_.remove_unused(root);
    return out;
  }

  void move_results(InstructionId product, InstructionId fusion,
                    std::vector<InstructionId>& added) {
    if (module_.shape(product).is_array()) {
      added.push_back(editor_.add_element(product, fusion, 0));
      editor_.replace_moved(product, added.back());
      return;
    }
    for (InstructionId user : module_.users(product)) {
      const int64_t index = module_.attributes<GetTupleElementAttributes>(user).index;
      added.push_back(editor_.add_element(user, fusion, index));
      editor_.replace_moved(user, added.back());
    }
    if (!module_[product].removed) editor_.replace_moved(product, fusion);
  }

  InstructionId finish(const Gather& one, const State& state, const std::string& chain) {
    const ComputationId body = module_.add_computation("async_collective_done");
    const std::vector<Shape> shapes = state_shapes(one);
    std::vector<InstructionId> operands = add_parameters(body, one.start, shapes);
    const InstructionId gather = gather_inside(one, operands[shard_part], chain);
    operands.insert(operands.begin() + whole_part + 1, gather);
    const Shape whole = module_.shape(one.done);
    module_[body].root = add_call(gather, "AsyncCollectiveDone", whole, operands);
    return add_fusion(one.done, "async-collective-done", FusionKind::Custom, body, state.parts,
                      {{{}, static_cast<int64_t>(whole_part), {}}});
  }

  Module& module_;
  const Machine& machine_;
  StepTimes times_;
  Editor editor_;
  int64_t chains_ = 0, channel_;
  std::unordered_map<uint32_t, std::vector<InstructionId>> new_;  // what stands for an old one
};

}  // namespace

Result<bool> fuse_gathers(Module& module, const PassOptions& options) {
  if (!options.machine || options.machine->links.gather_flags == 0 || !module.header.is_scheduled)
    return false;
  return GatherFuser(module, *options.machine).run();
}

}  // namespace hilo
