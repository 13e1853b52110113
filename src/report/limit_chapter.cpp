#include <algorithm>

#include "report/report_parts.h"

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
    const std::string source = short_source(picture.instruction_of(value));
    out += fmt::format("    {:>10}  {}{}\n", human_bytes(value.bytes), picture.name_of(value),
                       source.empty() ? "" : " (" + source + ")");
  }
  return out.empty() ? out : "  the largest at the peak:\n" + out;
}

std::string what_is_enough(const MemoryPicture& picture) {
  std::string out;
  for (const Advice& advice : picture.advice)
    if (advice.space == 0 && advice.total_bytes <= *picture.limit)
      out += "    " + plain_text(advice.text) + '\n';
  if (!out.empty()) return "  enough alone:\n" + out;
  for (const CombinedAdvice& combined : picture.combined)
    if (combined.space == 0)
      return combined.total_bytes <= *picture.limit
                 ? fmt::format(
                       "  no single change that was tried is enough; those with + above are, "
                       "together: {} bytes\n",
                       combined.total_bytes)
                 : fmt::format(
                       "  not enough, even together: what was tried comes to {} bytes, {} "
                       "too much\n",
                       combined.total_bytes, human_bytes(combined.total_bytes - *picture.limit));
  return "  no single change that was tried is enough\n";
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
