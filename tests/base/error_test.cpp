#include <gtest/gtest.h>

#include <set>

#include "base/base.h"

namespace hilo {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorKind::Input, "{} is odd", value);
  return value / 2;
}
Result<int> quarter(int value) {
  HILO_TRY(const int once, half(value));
  HILO_TRY(const int twice, half(once));
  return twice;
}
Result<void> must_be_even(int value) {
  HILO_DO(half(value));
  return {};
}

TEST(Error, TryHandsOverValuesAndErrors) {
  EXPECT_EQ(quarter(12), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_EQ(quarter(6).error().kind, ErrorKind::Input);
  EXPECT_TRUE(must_be_even(2));
  EXPECT_EQ(must_be_even(3).error().message, "3 is odd");
}

TEST(Error, TextNamesThePlace) {
  Error error{ErrorKind::Shape, "expected f32[4], found f32[5]", {}};
  EXPECT_NE(to_string(error).find("error: expected f32[4], found f32[5]"), std::string::npos);
  error.place = {"m.txt", 12, 7, "main", "add.1", "add"};
  const std::string text = to_string(error);
  EXPECT_EQ(text.rfind("m.txt:12:7: error: expected f32[4], found f32[5]", 0), 0u) << text;
  for (const char* part : {"main", "add.1"}) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Error, EveryKindHasItsOwnText) {
  std::set<std::string_view> texts;
  int kinds = 0;
#define ERROR_KIND(name, text, meaning) ++kinds, texts.insert(text_of(ErrorKind::name));
#include "base/errors.def"
#undef ERROR_KIND
  EXPECT_EQ(static_cast<int>(texts.size()), kinds);
  EXPECT_EQ(text_of(ErrorKind::Unsupported), "unsupported");
}

TEST(CheckDeathTest, StopsWithTheMessage) {
  check(true, "not this");
  EXPECT_DEATH(check(false, "the tables disagree"), "the tables disagree");
}

TEST(Id, DefaultMeansNone) {
  struct Tag;
  EXPECT_FALSE(Id<Tag>());
  EXPECT_TRUE(Id<Tag>{0});
  EXPECT_EQ(std::hash<Id<Tag>>()(Id<Tag>{3}), std::hash<Id<Tag>>()(Id<Tag>{3}));
}

TEST(SmallInt, WrapsOnStoring) {
  EXPECT_EQ(S4(7), 7);
  EXPECT_EQ(S4(8), -8);
  EXPECT_EQ(S4(-9), 7);
  EXPECT_EQ(U4(-1), 15);
  EXPECT_EQ(U4(16), 0);
  EXPECT_EQ(S2(2), -2);
  EXPECT_EQ(U2(5), 1);
  EXPECT_EQ(S1(1), -1);
  EXPECT_EQ(U1(3), 1);
}

}  // namespace
}  // namespace hilo
