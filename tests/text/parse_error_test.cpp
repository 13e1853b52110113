// Wrong text: the kind, the place and the words of each error, and texts made to break a parser.
#include <gtest/gtest.h>

#include "text/text.h"

namespace hilo {
namespace {

struct Wrong {
  const char* text;  // after "HloModule m\nENTRY e {\n p = f32[2] parameter(0)\n ", before "\n}"
  ErrorKind kind;
  int64_t line, column;
  const char* says;
};

class ParseError : public testing::TestWithParam<Wrong> {};
TEST_P(ParseError, SaysWhatAndWhere) {
  const Wrong& wrong = GetParam();
  const std::string text =
      std::string("HloModule m\nENTRY e {\n p = f32[2] parameter(0)\n ") + wrong.text + "\n}";
  ParseOptions options;
  options.file = "a.hlo";
  const Result<Module> module = parse(text, options);
  ASSERT_FALSE(module.has_value()) << text;
  const Error& error = module.error();
  EXPECT_EQ(text_of(error.kind), text_of(wrong.kind)) << to_string(error);
  EXPECT_NE(error.message.find(wrong.says), std::string::npos) << to_string(error);
  EXPECT_EQ(error.place.line, wrong.line) << to_string(error);
  EXPECT_EQ(error.place.column, wrong.column) << to_string(error);
  EXPECT_EQ(error.place.file, "a.hlo");
  EXPECT_EQ(error.place.computation, "e");
}
INSTANTIATE_TEST_SUITE_P(
    Texts, ParseError,
    testing::Values(
        Wrong{"r = f32[2] negate(pp)", ErrorKind::Name, 4, 20, "did you mean 'p'?"},
        Wrong{"r = f32[2] negate(p, p)", ErrorKind::Shape, 5, 1, "takes 1 operand, found 2"},
        Wrong{"r = f32[2] negat(p)", ErrorKind::Name, 4, 13, "did you mean 'negate'?"},
        Wrong{"p = f32[2] negate(p)", ErrorKind::Name, 4, 2, "two instructions named 'p'"},
        Wrong{"r = f32[2] negate(f32[3] p)", ErrorKind::Shape, 4, 27, "it is f32[2]"},
        Wrong{"r = f32[2] negate(p) junk", ErrorKind::Syntax, 5, 1, "after the name"},
        Wrong{"r = f32[2] parameter(5)", ErrorKind::Structure, 4, 2, "only 2 parameters"},
        Wrong{"r = f32[2] parameter(0)", ErrorKind::Structure, 4, 2, "two parameters 0"},
        Wrong{"r = f32[2,2]{0} negate(p)", ErrorKind::Shape, 4, 14, "its layout 1"},
        Wrong{"r = f32[2,2]{0,0} negate(p)", ErrorKind::Shape, 4, 14, "permutation"},
        Wrong{"r = f33[2] negate(p)", ErrorKind::Syntax, 4, 6, "expected an element type"},
        Wrong{"r = f32[-1] negate(p)", ErrorKind::Syntax, 4, 10, "0 or more"},
        Wrong{"r = f32[9223372036854775808] negate(p)", ErrorKind::Limit, 4, 10, "64 bits"},
        Wrong{"r = f32[4294967296,4294967296] negate(p)", ErrorKind::Limit, 4, 6, "2^63"},
        Wrong{"r = s8[] constant(128)", ErrorKind::Limit, 4, 20, "out of the range of s8"},
        Wrong{"r = u8[] constant(-1)", ErrorKind::Limit, 4, 20, "out of the range of u8"},
        Wrong{"r = f16[] constant(1e10)", ErrorKind::Limit, 4, 21, "out of the range of f16"},
        Wrong{"r = s32[] constant(1.5)", ErrorKind::Syntax, 4, 21, "an integer for s32"},
        Wrong{"r = f32[2] constant({1})", ErrorKind::Shape, 4, 24, "expected 2 elements"},
        Wrong{"r = f32[2] constant({1,2,3})", ErrorKind::Shape, 4, 27, "more than 2"},
        Wrong{"r = f32[1000000000] constant({1})", ErrorKind::Shape, 4, 31, "too short"},
        Wrong{"r = f32[4294967296] constant({...})", ErrorKind::Limit, 4, 36, "more bytes"},
        Wrong{"r = f8e4m3fn[] constant(nan(0x1))", ErrorKind::Shape, 4, 26, "no NaN payloads"},
        Wrong{"r = f32[] constant(nan(0x800000))", ErrorKind::Limit, 4, 21, "0x7fffff"},
        Wrong{"r = f32[] reduce(p, p), dimensions={0}", ErrorKind::Syntax, 4, 2, "'to_apply'"},
        Wrong{"r = f32[2] negate(p), metadata={}, metadata={}", ErrorKind::Syntax, 4, 37, "twice"},
        Wrong{"r = f32[2] negate(p), metadata={op_name=\"x}", ErrorKind::Syntax, 4, 42,
              "not closed"},
        Wrong{"r = f32[2] negate(p), metadata={op_name=\"\\q\"}", ErrorKind::Syntax, 4, 43,
              "escape"},
        Wrong{"r = f32[2] negate(p), foo={(}", ErrorKind::Syntax, 4, 30, "expected ')'"},
        Wrong{"r = f32[2] negate(p), sharding={devices=[2]0}", ErrorKind::Shape, 4, 42,
              "2 devices"},
        Wrong{"r = f32[2] negate(p), sharding={foo}", ErrorKind::Syntax, 4, 34, "a sharding"},
        Wrong{"r = pred[2] compare(p, p), direction=XX", ErrorKind::Syntax, 4, 39, "EQ, NE"},
        Wrong{"r = f32[2] custom-call(p)", ErrorKind::Syntax, 4, 2, "'custom_call_target'"},
        Wrong{"r = f32[2] negate(%p#0)", ErrorKind::Shape, 4, 24, "no element 0"},
        Wrong{"r = convert(p)", ErrorKind::Syntax, 5, 1, "must be given"},
        Wrong{"/* open", ErrorKind::Syntax, 4, 2, "comment is not closed"},
        Wrong{"ROOT r = f32[2] negate(p) ROOT s = f32[2] negate(p)", ErrorKind::Structure, 4, 33,
              "two roots"},
        Wrong{"r = f32[2] negate-start(p)", ErrorKind::Shape, 5, 1, "((operands), result"}));

TEST(ParseErrors, GoesOnAtTheNextInstruction) {
  std::vector<Error> errors;
  ParseOptions options;
  options.errors = &errors;
  const Result<Module> module = parse(
      "ENTRY e {\n p = f32[2] parameter(0)\n a = f32[2] negate(x)\n b = f32[2] negate(a)\n"
      " c = f32[2] foo(p)\n ROOT d = f32[2] add(b, p)\n}",
      options);
  ASSERT_FALSE(module.has_value());
  ASSERT_EQ(errors.size(), 2u);  // b and d only suffer from a
  EXPECT_EQ(errors[0].place.line, 3);
  EXPECT_EQ(errors[1].place.line, 5);
  EXPECT_EQ(module.error().message, errors[0].message);
}

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(ParseErrors, DeepNestingIsRefused) {
  const int deep = 100000;
  for (const std::string& text :
       {"ENTRY e { p = " + repeated("(", deep),
        "ENTRY e { p = f32[] constant(" + repeated("{", deep),
        "ENTRY e { p = f32[] " + repeated("add(f32[] ", deep),
        "ENTRY e { p = f32[] add(), foo=" + repeated("{[", deep),
        "ENTRY e { p = f32[] add(), sharding=" + repeated("{", deep),
        "ENTRY e { p = f32[] call(), to_apply=" + repeated("{ a = f32[] call(), to_apply=", deep),
        repeated("[", deep), repeated("ENTRY ", deep), repeated("/*", deep),
        "HloModule m, foo=" + repeated("{", deep)})
    EXPECT_FALSE(parse(text).has_value()) << text.substr(0, 60);
}

TEST(ParseErrors, EveryTruncationAndEveryChangedByteIsAResult) {
  const std::string text =
      "HloModule m, input_output_alias={ {0}: (0, {}) }, num_partitions=2\n"
      "f { a = f32[] parameter(0)\n ROOT b = f32[] add(a, a) }\n"
      "ENTRY %e (p: f32[2,3]) -> (f32[2]) {\n %p = f32[2,<=3]{1,0:T(8,128)S(1)} parameter(0)\n"
      " %z = f32[] constant(-nan(0x1)), sharding={devices=[2,1]<=[2]}\n"
      " %r = f32[2]{0} reduce(%p, %z), dimensions={1}, to_apply=f, metadata={op_name=\"a\\n\"}\n"
      " ROOT %t = (f32[2]) tuple(%r), backend_config={\"a\":\"}\"}, "
      "frontend_attributes={a=\"b\"}\n}";
  ASSERT_TRUE(parse(text).has_value()) << to_string(parse(text).error());
  int accepted = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    accepted += parse(text.substr(0, i)).has_value();
    for (char c : {'\0', '{', ')', '"', '9', '\xff', '*'}) {
      std::string changed = text;
      changed[i] = c;
      accepted += parse(changed).has_value();
    }
  }
  EXPECT_GT(accepted, 0);  // a changed letter of a string, say
  EXPECT_FALSE(parse(std::string_view(text).substr(0, text.size() - 1)).has_value());
}

// Each took quadratic time in some draft of the parser; now a run takes milliseconds.
TEST(ParseErrors, ManyOddThingsOnOneLineTakeLinearTime) {
  const int many = 50000;
  EXPECT_TRUE(parse("ENTRY e { p = f32[] parameter(0) ROOT t = () tuple(), x=1 }").has_value());
  EXPECT_TRUE(parse("e (" + repeated("p: (f32[] /*(((((*/ ), ", many) +
                    "q: f32[]) -> f32[] { p = f32[] parameter(0) }")
                  .has_value());
  EXPECT_TRUE(parse("e { p = f32[] parameter(0)" +
                    repeated(" metadata.x = f32[] negate(p), metadata={/*{*/}", 1) + " }")
                  .has_value());
  EXPECT_TRUE(
      parse("e { p = f32[] parameter(0), foo={" + repeated("{}", many) + "} }").has_value());
  std::string bodies = "e { p = f32[] parameter(0)\n";
  for (int i = 0; i < 5000; ++i)
    bodies += fmt::format(" c{} = f32[] call(p), to_apply={{ x = f32[] parameter(0) }}\n", i);
  const Result<Module> module = parse(bodies + "}");
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  EXPECT_EQ(module->computations.size(), 5001u);
}

TEST(ParseErrors, EmptyTexts) {
  for (const char* text : {"", " \n", "HloModule m", "HloModule", "ENTRY e { }", "// only this"})
    EXPECT_FALSE(parse(text).has_value()) << text;
}

}  // namespace
}  // namespace hilo
