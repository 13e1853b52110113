// What the buffers that an out-of-memory message lists, and its totals, show of ways out.
#include <algorithm>

#include "report/advice.h"
#include "report/report_parts.h"
#include "text/text.h"

namespace hilo {
namespace {

// Listed buffers of one shape that come from one line of the source.
struct Group {
  std::vector<size_t> values;
  int64_t bytes = 0;  // together
};

class BufferAdvice {
 public:
  explicit BufferAdvice(MemoryPicture& picture) : picture_(picture), message_(*picture.message) {
    std::map<std::string, size_t> known;
    for (size_t v = 0; v < picture.values.size(); ++v) {
      const PictureValue& value = picture.values[v];
      const std::string key = fmt::format("{} {} {} {}", value.shape, value.kind, value.space,
                                          short_source(picture.instruction_of(value)));
      const auto [place, is_new] = known.emplace(key, groups_.size());
      if (is_new) groups_.emplace_back();
      groups_[place->second].values.push_back(v);
      groups_[place->second].bytes = add_bytes(groups_[place->second].bytes, value.bytes);
    }
  }

  void advise() {
    for (const Group& group : groups_) {
      advise_padding(group);
      advise_recomputing(group);
    }
    advise_narrower();
    advise_donation();
    advise_fragmentation();
    advise_arguments();
    advise_batch();
  }

 private:
  void add(std::string kind, std::string text, std::vector<size_t> values = {},
           int64_t saved = -1) {
    Advice advice;
    advice.kind = std::move(kind);
    advice.text = std::move(text);
    advice.space = message_.space;
    advice.saved_bytes = saved;
    advice.total_bytes = saved >= 0 && message_.needed >= 0 ? message_.needed - saved : -1;
    advice.values = std::move(values);
    picture_.advice.push_back(std::move(advice));
  }

  const PictureValue& first(const Group& group) const { return picture_.values[group.values[0]]; }

  // Of a shape as the message writes it; XLA's usual tile where it writes none.
  std::optional<Shape> tiled_shape(const PictureValue& value, int64_t padded) const {
    auto shape = parse_shape(value.shape);
    if (!shape || !shape->is_array() || !shape->has_layout || !layout_fault(*shape).empty())
      return std::nullopt;
    if (shape->layout.tiles.empty()) {
      const auto tiled = parse_shape(value.shape.substr(0, value.shape.find('}')) + ":T(8,128)}");
      if (!tiled || padded_bytes(*tiled) != padded) return std::nullopt;
      return *tiled;
    }
    return *shape;
  }

  void advise_padding(const Group& group) {
    const PictureValue& value = first(group);
    const int64_t padded = value.array_bytes >= 0 ? value.array_bytes : value.bytes;
    const int64_t lost = padded - value.unpadded_bytes;
    if (value.unpadded_bytes < 0 || lost <= padded / 20) return;
    const bool is_all = padded >= value.bytes - value.bytes / 100;  // and no scratch beside it
    const auto count = static_cast<int64_t>(group.values.size());
    std::string text =
        fmt::format("avoid padding in {}: {} of {} hold nothing ({:.1f}x)",
                    names_of(picture_, group.values), human_bytes(lost), human_bytes(padded),
                    static_cast<double>(padded) /
                        static_cast<double>(std::max<int64_t>(1, value.unpadded_bytes)));
    const auto shape = tiled_shape(value, padded);
    const std::string dims = shape ? padded_dims(*shape) : "";
    if (!dims.empty()) text += ", as " + dims;
    int64_t saved = lost;
    if (!dims.empty() && shape->dims.size() <= 5) {
      const Shape best = min_padded_shape(*shape);
      if (padded_bytes(best) < padded) {
        text += fmt::format("; {} takes {}: transpose, so that another dimension is the last one",
                            to_string(best), human_bytes(padded_bytes(best)));
        saved = padded - padded_bytes(best);
      } else {
        text += "; merge small dimensions by a reshape, or make them multiples of the tile";
      }
    }
    if (!is_all) text += ". The rest of the allocation is not this array but scratch memory";
    add("unpad", std::move(text), group.values, is_all ? saved * count : -1);
  }

  // Forward values that the backward pass reads carry jvp in their names, not transpose.
  void advise_recomputing(const Group& group) {
    const PictureInstruction& instruction = picture_.instruction_of(first(group));
    const std::string& name = instruction.op_name;
    if (!name.contains("jvp(") || name.contains("transpose(")) return;
    const bool again = instruction.name.contains("remat") || name.contains("/rematted") ||
                       name.contains("checkpoint");
    std::string text = fmt::format(
        "{} ({}{}) {} to the forward pass and may wait for the backward one: ",
        names_of(picture_, group.values), human_bytes(group.bytes),
        group.values.size() > 1 ? " together" : "", group.values.size() > 1 ? "belong" : "belongs");
    text += again ? "it is recomputed already (its name says remat), so it is large where it is "
                    "used; compute it in slices, or shard it"
                  : "jax.checkpoint around the layer recomputes it instead";
    add("recompute", std::move(text), group.values);
  }

  void advise_narrower() {
    std::vector<size_t> wide;
    int64_t bytes = 0;
    for (size_t v = 0; v < picture_.values.size(); ++v) {
      const PictureValue& value = picture_.values[v];
      if (value.space != message_.space || !value.shape.starts_with("f32[")) continue;
      if (value.kind.contains("scoped")) continue;
      wide.push_back(v);
      bytes = add_bytes(bytes, value.bytes);
    }
    if (wide.empty()) return;
    add("narrow",
        fmt::format("keep {} in bf16 instead of f32, if the model bears it; of {} listed in f32",
                    names_of(picture_, wide), human_bytes(bytes)),
        wide, bytes / 2);
  }

  int64_t sum_of(bool PictureAllocation::* mark, bool parameters) const {
    int64_t out = 0;
    for (const PictureAllocation& allocation : picture_.allocations)
      if (mark ? allocation.*mark : parameters && allocation.parameter.has_value())
        out = add_bytes(out, allocation.bytes);
    return out;
  }

  void advise_donation() {
    const int64_t stated_output = message_.part("output");
    const int64_t shared = std::max<int64_t>(0, message_.part("output in arguments"));
    const int64_t arguments =
        stated_output >= 0 ? message_.part("arguments") : sum_of(nullptr, true);
    const int64_t output = stated_output >= 0 ? stated_output - shared
                                              : sum_of(&PictureAllocation::is_live_out, false);
    const int64_t saved = std::min(output, arguments - shared);
    if (saved <= 0) return;
    std::string text = fmt::format(
        "donate arguments whose shape a result has (donate_argnums of jax.jit): {} of results lie "
        "beside {} of arguments",
        human_bytes(output), human_bytes(arguments));
    std::vector<size_t> parameters;
    for (size_t v = 0; v < picture_.values.size(); ++v)
      if (picture_.instruction_of(picture_.values[v]).op == "parameter") parameters.push_back(v);
    if (!parameters.empty())
      text += fmt::format("; the largest argument is {}", picture_.values[parameters[0]].shape);
    add("donate", text + "; at most", parameters, saved);
    picture_.advice.back().text = text + ", so this is the most";
  }

  void advise_fragmentation() {
    const int64_t lost = message_.part("fragmentation");
    if (lost <= 0 || message_.needed < 0 || lost < message_.needed / 50) return;
    add("repack",
        fmt::format("fragmentation takes {}: gaps between buffers that are alive at different "
                    "times{}",
                    human_bytes(lost),
                    message_.needed - lost <= message_.limit ? "; without them it would fit" : ""),
        {}, lost);
  }

  void advise_arguments() {
    const int64_t arguments = message_.part("arguments");
    if (arguments <= 0 || message_.limit <= 0 || arguments < message_.limit / 2) return;
    add("shard",
        fmt::format("arguments (parameters, optimiser state, inputs) alone take {} of {}: shard "
                    "them over more devices, keep them narrower, or keep optimiser state in the "
                    "host's memory",
                    human_bytes(arguments), human_bytes(message_.limit)));
  }

  // What comes and goes grows with the batch in most programs; the rest does not.
  void advise_batch() {
    int64_t temporary = message_.part("HLO temp");
    if (temporary < 0) temporary = sum_of(&PictureAllocation::is_temp, false);
    if (message_.space != 0 || temporary <= 0 || message_.needed <= message_.limit) return;
    const int64_t room = message_.limit - (message_.needed - temporary);
    if (room <= 0) return;
    const double share = static_cast<double>(room) / static_cast<double>(temporary);
    add("batch",
        fmt::format("temporary values take {} and there is room for {}: if they grow with the "
                    "batch, {:.0f}% of this batch on a device fits, or more in micro-batches",
                    human_bytes(temporary), human_bytes(room), 100 * share));
  }

  MemoryPicture& picture_;
  const MemoryMessage message_;
  std::vector<Group> groups_;
};

}  // namespace

void advise_on_buffers(MemoryPicture& picture) {
  if (picture.message) BufferAdvice(picture).advise();
}

}  // namespace hilo
