#include "pass/shard/sharding_rule.h"

#include <gtest/gtest.h>

#include <string>

namespace hilo::test {
namespace {

TEST(ShardingRule, NoPrefixIsARule) {
  const std::string rule =
      "#sdy.op_sharding_rule<([i, jk], [])->([i_1, kj]) {i=4, j=2, k=8, i_1=4} reduction={j} "
      "need_replication={k} permutation={i} blocked_propagation={i_1}, custom>";
  ASSERT_TRUE(parse_sharding_rule(rule)) << to_string(parse_sharding_rule(rule).error());
  for (size_t length = 0; length < rule.size(); ++length)
    EXPECT_FALSE(parse_sharding_rule(rule.substr(0, length))) << rule.substr(0, length);
}

}  // namespace
}  // namespace hilo::test
