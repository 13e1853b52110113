#include "kernels/sort/sort_exchanges.h"

#include <algorithm>

namespace hilo {
namespace {

std::vector<Exchange> selection(int64_t size, int64_t kept) {
  std::vector<Exchange> out;
  for (int64_t done = 0; done < std::min(kept, size - 1); ++done)
    for (int64_t i = size - 2; i >= done; --i) out.push_back({i, i + 1});
  return out;
}

std::vector<Exchange> merge_exchange(int64_t size) {
  std::vector<Exchange> out;
  int64_t top = 1;
  while (2 * top < size) top *= 2;
  for (int64_t p = top; p > 0; p /= 2)
    for (int64_t q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
      for (int64_t i = 0; i < size - d; ++i)
        if ((i & p) == r) out.push_back({i, i + d});
      if (q == p) break;
    }
  return out;
}

std::vector<Exchange> needed(const std::vector<Exchange>& all, int64_t size, int64_t kept) {
  std::vector<Exchange> out;
  std::vector<bool> is_needed(static_cast<size_t>(size));
  std::fill_n(is_needed.begin(), kept, true);
  for (auto e = all.rbegin(); e != all.rend(); ++e) {
    if (!is_needed[e->first] && !is_needed[e->second]) continue;
    is_needed[e->first] = is_needed[e->second] = true;
    out.push_back(*e);
  }
  std::ranges::reverse(out);
  return out;
}

}  // namespace

std::vector<Exchange> find_exchanges(int64_t size, int64_t kept) {
  std::vector<Exchange> merged = needed(merge_exchange(size), size, kept),
                        selected = selection(size, kept);
  return selected.size() < merged.size() ? selected : merged;
}

}  // namespace hilo
