#include "eval/collective.h"
#include "eval/storage.h"

namespace hilo {
namespace {

struct Partners {
  std::optional<int64_t> source;
  std::vector<int64_t> targets;
};

Result<Partners> find_partners(const Call& call) {
  const auto& attributes = call.attributes<CollectivePermuteAttributes>();
  const GroupMode mode = group_mode(attributes.channel_id);
  const DeviceGrid grid = call.device.traffic.rendezvous->grid();
  const int64_t ids = mode == GroupMode::CrossPartition ? grid.partitions : grid.replicas;
  const int64_t mine = id_in_mode(call.device, mode);
  Partners partners;
  for (auto [source, target] : attributes.source_target_pairs.pairs) {
    if (std::min(source, target) < 0 || std::max(source, target) >= ids)
      return call.error(ErrorKind::Evaluation,
                        fmt::format("the pair {},{} where ids are below {}", source, target, ids));
    if (source == mine) partners.targets.push_back(device_in_mode(call, target, mode));
    if (target == mine && !partners.source) partners.source = device_in_mode(call, source, mode);
  }
  return partners;
}

// Sends to the targets and takes what the source sent; nothing when there is none. Only receivers
// wait.
Result<std::vector<Literal>> permute(const Call& call, const std::vector<Literal>& values) {
  HILO_TRY(Partners partners, find_partners(call));
  Traffic& traffic = call.device.traffic;
  const int64_t ordinal = traffic.executions[call.id.value]++;
  for (int64_t target : partners.targets)
    traffic.rendezvous->post({false, call.id.value, call.device.id, target, ordinal},
                             kept(call, values));
  if (!partners.source) return std::vector<Literal>{};
  return traffic.rendezvous->take(
      call, {false, call.id.value, *partners.source, call.device.id, ordinal}, shapes_of(values));
}

Result<Literal> permute_whole(const Call& call, const Shape& stated) {
  remember_operands(call);
  HILO_TRY(std::vector<Literal> received,
           permute(call, {call.operands.begin(), call.operands.end()}));
  if (received.empty()) return make_zeros(call, call.held(stated));
  return pack_results(call, stated, std::move(received));
}

// Start indices of one slice: a vector, scalars in a tuple, or one element of such a tuple or list.
Dims start_of(const Literal& indices, size_t slice, size_t rank) {
  const Literal* from = &indices;
  if (from->shape().is_tuple() && !from->elements().empty() &&
      (from->elements()[0].shape().is_tuple() || from->elements()[0].shape().rank() == 1))
    from = &from->elements()[std::min(slice, from->elements().size() - 1)];
  Dims start(rank);
  for (size_t d = 0; d < rank; ++d)
    start[d] =
        from->shape().is_tuple() ? from->elements().at(d).integer_at(0) : from->integer_at(d);
  return start;
}

Result<void> copy_box(const Call& call, const Literal& from, const Dims& from_start, Literal& to,
                      const Dims& to_start, const Dims& sizes) {
  for (size_t d = 0; d < sizes.size(); ++d)
    if (from_start[d] < 0 || to_start[d] < 0 || from_start[d] + sizes[d] > from.shape().dims[d] ||
        to_start[d] + sizes[d] > to.shape().dims[d])
      return call.error(ErrorKind::Evaluation, "a slice lies outside its array");
  if (element_count(sizes) == 0) return {};
  const Dims from_strides = row_major_strides(from.shape().dims);
  const Dims to_strides = row_major_strides(to.shape().dims);
  const int64_t bytes = storage_bytes(from.type());
  const std::byte* source = from.raw().data();
  std::byte* target = to.mutable_raw().data();
  Dims index(sizes.size());
  do {
    int64_t read = 0, write = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      read += (from_start[d] + index[d]) * from_strides[d];
      write += (to_start[d] + index[d]) * to_strides[d];
    }
    std::copy_n(source + read * bytes, bytes, target + write * bytes);
  } while (next_index(index, sizes));
  return {};
}

// Operands: input, output, input start indices, output start indices. Slice k of the source's input
// is written into the receiver's output at the receiver's start indices, as dynamic-slice,
// collective-permute and dynamic-update-slice would do.
Result<Literal> permute_in_place(const Call& call) {
  const auto& lists = call.attributes<CollectivePermuteAttributes>().slice_sizes.lists;
  HILO_TRY(std::vector<Literal> received, permute(call, {call.operands[0], call.operands[2]}));
  Literal out = std::move(call.operands[1]);
  if (received.empty()) return out;
  const bool tuples = out.shape().is_tuple();
  for (size_t slice = 0; slice < lists.size(); ++slice) {
    const size_t rank = lists[slice].size();
    const size_t array = tuples && slice < out.elements().size() ? slice : 0;
    const Literal& input = tuples ? received[0].elements().at(array) : received[0];
    HILO_DO(copy_box(call, input, start_of(received[1], slice, rank),
                     tuples ? out.mutable_elements()[array] : out,
                     start_of(call.operands[3], slice, rank), lists[slice]));
  }
  return out;
}

Result<Literal> evaluate(const Call& call, const Shape& stated) {
  const bool in_place = !call.attributes<CollectivePermuteAttributes>().slice_sizes.lists.empty();
  if (!in_place) return permute_whole(call, stated);
  if (call.operands.size() != 4)
    return call.error(ErrorKind::Shape, fmt::format("slice_sizes with {} operands; expected 4",
                                                    call.operands.size()));
  return permute_in_place(call);
}

}  // namespace

Result<Literal> evaluate_CollectivePermute(Call& call) { return evaluate(call, call.shape()); }

Result<Literal> evaluate_CollectivePermuteStart(Call& call) {
  HILO_TRY(Literal results, evaluate(call, call.shape().elements[1]));
  std::vector<Literal> parts{call.operands[0], std::move(results)};
  const Shape& stated = call.shape();
  if (call.operands.size() > 1 && stated.elements[0].is_tuple() &&
      call.attributes<CollectivePermuteAttributes>().slice_sizes.lists.empty())
    return pack_start(call, std::move(parts[1]));
  for (size_t i = 2; i < stated.elements.size(); ++i)
    parts.push_back(make_zeros(call, call.held(stated.elements[i])));
  return Literal::tuple(std::move(parts));
}

Result<Literal> evaluate_CollectivePermuteDone(Call& call) {
  return std::move(call.operands[0].mutable_elements()[1]);
}

}  // namespace hilo
