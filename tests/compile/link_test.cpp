// Code where the process's addresses have holes.
#include <sys/mman.h>
#include <unistd.h>

#include "both.h"

namespace hilo::test {
namespace {

const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));

// Addresses without memory; all are given back at the end.
class Addresses {
 public:
  ~Addresses() {
    for (const auto& [begin, bytes] : taken_) munmap(begin, bytes);
  }
  std::byte* take(size_t bytes) {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const begin = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
    if (begin == MAP_FAILED) return nullptr;
    taken_.emplace_back(begin, bytes);
    return static_cast<std::byte*>(begin);
  }
  // The system gives the highest hole that is large enough.
  void fill_holes_above(const std::byte* limit) {
    for (size_t bytes = size_t{1} << 30; bytes >= page; bytes /= 2)
      while (const std::byte* begin = take(bytes))
        if (begin < limit) break;
  }

 private:
  std::vector<std::pair<void*, size_t>> taken_;
};

// Sections of one page find a place, larger ones only 8 GiB away.
TEST(Link, SectionsLieSideBySideWhereHolesAreFarApart) {
  constexpr size_t far = size_t{8} << 30;
  Addresses addresses;
  std::byte* const block = addresses.take(far);
  if (!block) GTEST_SKIP() << "the process may not have 8 GiB of addresses";
  addresses.fill_holes_above(block);
  for (size_t hole = 1; hole <= 16; ++hole) munmap(block + far - 2 * hole * page, page);
  std::string parameters, steps, types, products;
  for (int i = 0; i < 150; ++i) {
    parameters += fmt::format("  p{0} = f32[{1}] parameter({0})\n", i, 100 + i);
    steps += fmt::format(
        "  c{0} = f32[] constant({2}.5)\n  b{0} = f32[{1}] broadcast(c{0}), dimensions={{}}\n"
        "  m{0} = f32[{1}] multiply(p{0}, b{0})\n",
        i, 100 + i, i);
    types += fmt::format("{}f32[{}]", i ? ", " : "", 100 + i);
    products += fmt::format("{}m{}", i ? ", " : "", i);
  }
  expect_native("HloModule m\nENTRY e {\n" + parameters + steps + "  ROOT r = (" + types +
                ") tuple(" + products + ")\n}\n");
}

}  // namespace
}  // namespace hilo::test
