#include <algorithm>

#include "report/advice.h"

namespace hilo {
namespace {

// The last moment at which the values of an allocation are read.
int64_t last_read(const MemoryPicture& picture, const PictureAllocation& allocation) {
  int64_t out = -1;
  for (const size_t v : allocation.values)
    for (const PicturePosition& use : picture.values[v].uses) {
      const int64_t moment = picture.instructions[use.instruction].moment;
      if (moment < 0) return INT64_MAX;
      out = std::max(out, moment);
    }
  return out;
}

int64_t first_written(const MemoryPicture& picture, const PictureAllocation& allocation) {
  int64_t out = INT64_MAX;
  for (const size_t v : allocation.values) out = std::min(out, picture.values[v].start);
  return out;
}

bool is_result(const MemoryPicture& picture, const PictureAllocation& allocation) {
  if (!allocation.is_live_out || allocation.parameter || allocation.is_constant) return false;
  return std::all_of(allocation.values.begin(), allocation.values.end(),
                     [&](size_t v) { return picture.values[v].has_range(); });
}

}  // namespace

// A result may lie in a parameter of its size that nobody reads any more when it is written.
void advise_donations(MemoryPicture& picture, const Dataflow&) {
  std::vector<bool> given(picture.allocations.size(), false);
  for (const PictureAllocation& result : picture.allocations) {
    if (!is_result(picture, result) || result.values.empty()) continue;
    const PictureSpace* space = nullptr;
    for (const PictureSpace& one : picture.spaces)
      if (one.space == result.space) space = &one;
    if (!space || result.bytes <= space->total_bytes / 1000) continue;
    for (size_t p = 0; p < picture.allocations.size(); ++p) {
      const PictureAllocation& parameter = picture.allocations[p];
      if (!parameter.parameter || parameter.is_live_out || given[p] || parameter.values.empty() ||
          parameter.bytes != result.bytes || parameter.space != result.space ||
          last_read(picture, parameter) >= first_written(picture, result))
        continue;
      given[p] = true;
      Advice advice;
      advice.kind = "donate";
      advice.space = result.space;
      advice.text = fmt::format(
          "donate parameter {}{} ({}): {} can be written in its place", *parameter.parameter,
          parameter.parameter_index.empty() ? "" : " " + text_of_index(parameter.parameter_index),
          picture.name_of(picture.values[parameter.values[0]]),
          picture.name_of(picture.values[result.values.back()]));
      advice.saved_bytes = result.bytes;
      advice.total_bytes = space->total_bytes - result.bytes;
      advice.values = result.values;
      advice.donated = parameter.values[0];
      picture.advice.push_back(std::move(advice));
      break;
    }
  }
}

}  // namespace hilo
