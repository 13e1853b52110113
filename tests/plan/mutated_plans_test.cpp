// Plans of random modules, changed at random: either the checker objects, or the change does no
// harm. HILO_MUTATED_PLANS says of how many modules, HILO_RANDOM_SEED which one is the first.
#include <cstdlib>

#include "../base/environment.h"
#include "planned.h"
#include "random_module.h"

namespace hilo::test {
namespace {

class Mutator {
 public:
  Mutator(Planned& planned, uint64_t seed) : planned_(planned), random_(seed) {}

  void mutate() {
    const int kind = below(5);
    if (kind == 0) shift();
    if (kind == 1) swap_places();
    if (kind == 2) move();
    if (kind == 3) swap_steps();
    if (kind == 4) shorten();
    sum_up();
  }

 private:
  int below(size_t many) { return static_cast<int>(random_() % many); }
  Plan& plan() { return planned_.plan; }

  // A buffer with a place.
  const Buffer& any_buffer() {
    while (true) {
      const Buffer& buffer =
          plan().aliases.buffers[static_cast<size_t>(below(plan().aliases.buffers.size()))];
      if (plan().where[buffer.values[0].value].first != UINT32_MAX) return buffer;
    }
  }
  Allocation& allocation_of(const Buffer& buffer) {
    return plan().allocations[plan().where[buffer.values[0].value].first];
  }
  int64_t offset_of(const Buffer& buffer) {
    return allocation_of(buffer).slots[plan().where[buffer.values[0].value].second].offset;
  }

  void put(const Buffer& buffer, uint32_t number, int64_t offset) {
    Allocation& into = plan().allocations[number];
    for (ValueId value : buffer.values) {
      const auto [from, slot] = plan().where[value.value];
      Slot moved = plan().allocations[from].slots[slot];
      moved.offset = offset;
      into.bytes = std::max(into.bytes, offset + moved.bytes);
      into.slots.push_back(moved);
      plan().where[value.value] = {number, static_cast<uint32_t>(into.slots.size() - 1)};
    }
  }

  void shift() {
    const Buffer& buffer = any_buffer();
    const int64_t by = 64 * (1 + below(3)) * (below(2) ? 1 : -1);
    put(buffer, plan().where[buffer.values[0].value].first,
        std::max<int64_t>(0, offset_of(buffer) + by));
  }
  void swap_places() {
    const Buffer &a = any_buffer(), &b = any_buffer();
    const uint32_t place_a = plan().where[a.values[0].value].first;
    const uint32_t place_b = plan().where[b.values[0].value].first;
    const int64_t at_a = offset_of(a), at_b = offset_of(b);
    put(a, place_b, at_b);
    put(b, place_a, at_a);
  }
  void move() {
    const auto to = static_cast<size_t>(below(plan().allocations.size()));
    const int64_t places = 1 + plan().allocations[to].bytes / 64;
    put(any_buffer(), static_cast<uint32_t>(to), 64 * below(static_cast<size_t>(places)));
  }
  void swap_steps() {
    const std::vector<ComputationId> computations = planned_.module.post_order();
    auto& order =
        plan().schedule.orders[computations[static_cast<size_t>(below(computations.size()))].value];
    std::swap(order[static_cast<size_t>(below(order.size()))],
              order[static_cast<size_t>(below(order.size()))]);
  }
  void shorten() {
    Allocation& one = plan().allocations[static_cast<size_t>(below(plan().allocations.size()))];
    one.bytes -= std::min<int64_t>(one.bytes, 64);
  }

  void sum_up() {
    for (SpacePlan& space : plan().spaces) {
      space.total_bytes = space.temp_bytes = 0;
      for (const Allocation& one : plan().allocations) {
        if (one.space != space.space || one.is_thread_local) continue;
        space.total_bytes += one.bytes;
        if (one.is_temp()) space.temp_bytes += one.bytes;
      }
    }
  }

  Planned& planned_;
  std::mt19937_64 random_;
};

TEST(MutatedPlans, AreRefusedOrDoNoHarm) {
  const uint64_t first = number_from("HILO_RANDOM_SEED", 1);
  const uint64_t count = number_from("HILO_MUTATED_PLANS", 100);
  uint64_t refused = 0, harmless = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = RandomModule(seed).text();
    const auto made = make_plan(text);
    ASSERT_TRUE(made) << seed;
    for (uint64_t change = 0; change < 10; ++change) {
      Planned changed = *made;
      Mutator(changed, 100 * seed + change).mutate();
      if (!faults_of(changed.module, changed.plan).empty()) {
        ++refused;
        continue;
      }
      ++harmless;
      EXPECT_EQ(difference_inside(changed, seed), "")
          << "seed " << seed << ", change " << change << "\n"
          << text;
    }
  }
  RecordProperty("refused", static_cast<int>(refused));
  RecordProperty("harmless", static_cast<int>(harmless));
  EXPECT_GT(refused, 4 * count);
  EXPECT_GT(harmless, count);
}

}  // namespace
}  // namespace hilo::test
