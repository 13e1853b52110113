// Any text as a dump: an error, or a picture of which every text and all advice can be made, whose
// totals are the sums of its allocations.
#include <cstdint>
#include <cstdio>

#include "report/report.h"

namespace {

int64_t sum_of(const hilo::MemoryPicture& picture, int64_t space) {
  int64_t out = 0;
  for (const hilo::PictureAllocation& allocation : picture.allocations)
    if (allocation.space == space && !allocation.is_thread_local) out += allocation.bytes;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hilo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)dump_kind(text);
  // A 0 byte parts two dumps of one module.
  const size_t cut = text.find('\0');
  std::vector<DumpText> dumps = {{"a", text.substr(0, cut)}};
  if (cut != std::string_view::npos) dumps.push_back({"b", text.substr(cut + 1)});
  auto picture = read_dumps(dumps);
  if (!picture) return 0;
  find_advice(*picture);
  (void)memory_report(*picture);
  (void)memory_json(*picture);
  (void)buffer_assignment_text(*picture);
  (void)memory_usage_text(*picture);
  (void)values_text(*picture);
  (void)older_dump_text(*picture);
  if (picture->is_partial) return 0;
  for (const PictureSpace& space : picture->spaces)
    if (space.total_bytes != sum_of(*picture, space.space)) {
      std::fprintf(stderr, "a silent wrong total\n");
      __builtin_trap();
    }
  return 0;
}
