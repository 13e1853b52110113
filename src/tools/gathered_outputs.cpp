#include "tools/gathered_outputs.h"

#include <algorithm>
#include <charconv>

namespace hilo::tools {
namespace {

// The sizes that dynamic dimensions have now, in numbers with blanks.
std::string sizes_text(const Literal& value) {
  std::string out;
  for (const int64_t size : value.dynamic_sizes()) out += fmt::format("{} ", size);
  return out;
}

void set_sizes(Literal& value, std::string_view text) {
  for (size_t dim = 0; dim < value.shape().dims.size() && !text.empty(); ++dim) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), size);
    if (error != std::errc() || size < 0 || size > value.shape().dims[dim]) return;
    value.set_size(dim, size);
    text.remove_prefix(std::min<size_t>(text.size(), end - text.begin() + 1));
  }
}

}  // namespace

Result<GatheredOutputs> GatheredOutputs::from(const Module& module, const Outputs& outputs,
                                              const EvalOptions& eval, RunProcesses& processes,
                                              bool with_remote) {
  GatheredOutputs out(processes, eval.ideal_floats);
  HILO_TRY(const std::vector<int64_t> local, local_devices(module, eval));
  const int64_t devices = device_count(module, eval);
  out.leaves_ = output_leaves(module, outputs);
  for (OutputLeaf& leaf : out.leaves_) {
    leaf.device = local[static_cast<size_t>(leaf.device)];
    leaf.has_several_devices = devices > 1;
  }
  if (!with_remote || !processes.is_first()) return out;
  const int64_t each = std::ssize(out.leaves_) / std::max<int64_t>(1, std::ssize(local));
  for (int rank = 1; rank < processes.size(); ++rank) {
    HILO_TRY(const std::vector<int64_t> there, local_devices(module, eval, rank));
    out.add_remote(there, rank, each);
  }
  return out;
}

// Several ranks may have the outputs of one device, which are the same.
void GatheredOutputs::add_remote(std::span<const int64_t> devices, int rank, int64_t each) {
  for (size_t i = 0; i < devices.size(); ++i) {
    if (std::ranges::find(leaves_, devices[i], &OutputLeaf::device) != leaves_.end()) continue;
    for (int64_t leaf = 0; leaf < each; ++leaf) {
      OutputLeaf remote = leaves_[static_cast<size_t>(leaf)];
      remote.device = devices[i];
      remote.value = {};
      leaves_.push_back(std::move(remote));
      remote_.push_back({rank, static_cast<int64_t>(i) * each + leaf});
    }
  }
}

Result<OutputLeaf> GatheredOutputs::whole(const OutputLeaf& leaf) const {
  OutputLeaf out = leaf;
  const auto number = &leaf - leaves_.data() - (std::ssize(leaves_) - std::ssize(remote_));
  if (number < 0 || !leaf.declared.is_array()) return out;
  const Remote& from = remote_[static_cast<size_t>(number)];
  HILO_TRY(Message message, processes_->ask(from.rank, from.number));
  const Shape shape =
      Shape::array(held_type(leaf.declared.type, ideal_floats_), leaf.declared.dims);
  if (message.body.size() != 1 || message.body[0].size != literal_bytes(shape))
    return fail(ErrorKind::Format, "rank {} has sent another output", from.rank);
  out.value = Literal::view(shape, std::move(message.body[0].bytes));
  set_sizes(out.value, message.head);
  return out;
}

Result<int> GatheredOutputs::answer_others() const {
  return processes_->answer_until_released([&](int64_t question) {
    Message out;
    if (question < 0 || question >= std::ssize(leaves_)) return out;
    const Literal& value = leaves_[static_cast<size_t>(question)].value;
    out.head = sizes_text(value);
    out.body.push_back({value.storage(), static_cast<int64_t>(value.raw().size())});
    return out;
  });
}

}  // namespace hilo::tools
