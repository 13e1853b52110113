#include <algorithm>

#include "report/report_parts.h"
#include "report/roles.h"

namespace hilo {
namespace {

const PictureSpace* main_space(const MemoryPicture& picture) {
  for (const PictureSpace& space : picture.spaces)
    if (space.space == 0) return &space;
  return nullptr;
}

std::string largest_there(const MemoryPicture& picture, const PictureSpace& space) {
  constexpr size_t most = 5;
  std::string out;
  const std::vector<size_t> values = values_at(picture, space.peak_moment, 0);
  for (size_t i = 0; i < std::min(most, values.size()); ++i) {
    const PictureValue& value = picture.values[values[i]];
    const auto writer = writer_in_body(picture, value);
    const std::string source =
        short_source(writer ? picture.instructions[*writer] : picture.instruction_of(value));
    out += fmt::format("    {:>10}  {}{}\n", human_bytes(value.bytes), shown_name(picture, value),
                       source.empty() ? "" : " (" + source + ")");
  }
  return out.empty() ? out : "  the largest at the peak:\n" + out;
}

// The changes that were packed together and leave the least.
std::optional<CombinedAdvice> best_combination(const MemoryPicture& picture) {
  std::optional<CombinedAdvice> best;
  for (const CombinedAdvice& combined : picture.combined)
    if (combined.space == 0 && (!best || combined.total_bytes < best->total_bytes)) best = combined;
  return best;
}

std::string what_is_enough(const MemoryPicture& picture) {
  std::string out;
  int64_t least = INT64_MAX;
  for (const Advice& advice : picture.advice) {
    if (advice.space != 0 || advice.total_bytes < 0) continue;
    least = std::min(least, advice.total_bytes);
    if (advice.total_bytes <= *picture.limit) out += "    " + plain_text(advice.text) + '\n';
  }
  if (!out.empty()) return "  enough alone:\n" + out;
  const auto best = best_combination(picture);
  if (best && best->total_bytes <= *picture.limit)
    return fmt::format(
        "  no single change that was tried is enough; together they are{}: {} bytes\n",
        best->in_found_order ? ", in the order that Hilo finds" : "", best->total_bytes);
  if (best) least = std::min(least, best->total_bytes);
  if (least == INT64_MAX) return "  nothing that was tried helps\n";
  return fmt::format("  not enough, even together: what was tried comes to {} bytes, {} too much\n",
                     least, human_bytes(least - *picture.limit));
}

}  // namespace

bool MemoryPicture::fits() const {
  const PictureSpace* space = main_space(*this);
  return !limit || !space || space->total_bytes <= *limit;
}

std::string limit_chapter(const MemoryPicture& picture) {
  const PictureSpace* space = main_space(picture);
  if (!space || !picture.limit) return "";
  if (picture.fits())
    return fmt::format("fits: {} needs {} of {} bytes, {} are left\n", space->name,
                       space->total_bytes, *picture.limit,
                       human_bytes(*picture.limit - space->total_bytes));
  std::string out = fmt::format("does not fit: {} needs {} bytes, the limit is {}: {} too much\n",
                                space->name, space->total_bytes, *picture.limit,
                                human_bytes(space->total_bytes - *picture.limit));
  out += largest_there(picture, *space);
  if (space->lower_bound_bytes >= 0) {
    const int64_t least = space->total_bytes - space->fragmentation_bytes();
    if (least > *picture.limit)
      out += fmt::format("  no other placement fits: in this order {} bytes are there at once\n",
                         least);
  }
  return out + what_is_enough(picture);
}

}  // namespace hilo
