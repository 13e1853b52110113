#include "expect.h"

namespace hilo {
namespace {

TEST(VerifyAsync, Mistakes) {
  const Mistake mistakes[] = {
      {R"(ENTRY main { p = f32[4] parameter(0)
  s = (f32[4], f32[4], u32[]) copy-start(p)
  d = f32[4] copy-done(s)
  e = f32[4] copy-done(s)
  ROOT t = (f32[4], f32[4]) tuple(d, e) })",
       "expected one user, copy-done, found 2 users", "s"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  s = (f32[4], f32[4], u32[]) copy-start(p)
  ROOT g = f32[4] get-tuple-element(s), index=0 })",
       "expected copy-done as user, found get-tuple-element", "s"},
      {R"(ENTRY main { p = (f32[4], f32[4], u32[]) parameter(0)
  ROOT d = f32[4] copy-done(p) })",
       "expected copy-start as operand, found parameter", "d"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  s = (f32[5], f32[4], u32[]) copy-start(p)
  ROOT d = f32[5] copy-done(s) })",
       "expected a result of (f32[4], f32[4], u32[]), found (f32[5], f32[4], u32[])", "s"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  s = (f32[4], f32[4], s32[]) copy-start(p)
  ROOT d = f32[4] copy-done(s) })",
       "expected a u32[] context, found s32[]", "s"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  s = (f32[4], f32[4], u32[]) copy-start(p)
  ROOT d = f32[5] copy-done(s) })",
       "expected a result of f32[4], found f32[5]", "d"},
      {R"(HloModule m
neg { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[8] parameter(0)
  s = ((f32[8]), f32[4]) async-start(p), calls=neg
  ROOT d = f32[4] async-done(s) })",
       "expected parameter 0 of calls=neg to be f32[8], found f32[4]", "s"},
      {R"(HloModule m
neg { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  s = ((f32[4]), f32[8]) async-start(p), calls=neg
  ROOT d = f32[8] async-done(s) })",
       "expected a result of ((f32[4]), f32[4]), found ((f32[4]), f32[8])", "s"},
      {R"(HloModule m
neg { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  s = ((f32[4]), ()) async-start(p), calls=neg
  ROOT d = () async-done(s) })",
       "expected a result of ((f32[4]), f32[4]), found ((f32[4]), ())", "s"},
      {R"(HloModule m
neg { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  s = ((), ()) async-start(), calls=neg
  u = ((f32[4]), f32[8]) async-update(s, p)
  ROOT d = f32[8] async-done(u) })",
       "expected a result of ((f32[4]), f32[4]), found ((f32[4]), f32[8])", "u"},
      {R"(HloModule m
neg { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) async-start(p), calls=neg
  u = ((f32[4]), f32[4], u32[]) async-update(s), output_to_operand_aliasing={{2}: (0, {3})}
  ROOT d = f32[4] async-done(u) })",
       "output_to_operand_aliasing: no part {3} in operand 0", "u"},
      {R"(HloModule m
neg { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }
ENTRY main { p = f32[4] parameter(0)
  s = f32[4] async-start(p), calls=neg
  ROOT d = f32[4] negate(s) })",
       "expected ((operands), result, contexts...), found f32[4]", "s"},
      {R"(HloModule m
neg { a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a) }, execution_thread="host"
ENTRY main { p = f32[4] parameter(0)
  s = ((f32[4]), f32[4]) async-start(p), async_execution_thread="other", calls=neg
  ROOT d = f32[4] async-done(s) })",
       "async_execution_thread is other, that of neg is host", "s"},
      {R"(ENTRY main { p = ((f32[4]), f32[4]) parameter(0)
  ROOT d = f32[4] async-done(p) })",
       "expected async-start or async-update as operand, found parameter", "d"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  k = token[] after-all()
  s = (f32[4], u32[], token[]) send(p, k), channel_id=1
  ROOT d = token[] send-done(s), channel_id=2 })",
       "expected channel_id=1 as in s, found 2", "d"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  k = token[] after-all()
  s = (f32[4], u32[], token[]) send(p, k), channel_id=1, is_host_transfer=true
  ROOT d = token[] send-done(s), channel_id=1 })",
       "expected is_host_transfer=true as in s", "d"},
      {R"(ENTRY main { k = token[] after-all()
  s = (f32[4], u32[], token[]) recv(k), channel_id=1
  ROOT d = token[] send-done(s), channel_id=1 })",
       "expected send as operand, found recv", "d"},
      {R"(ENTRY main { k = token[] after-all()
  ROOT s = (f32[4], token[]) recv(k), channel_id=1 })",
       "expected (value, u32[], token[]), found (f32[4], token[])", "s"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  ROOT s = (f32[4], u32[], token[]) send(p, p), channel_id=1 })",
       "expected a token as operand 1, found f32[4]", "s"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  ROOT s = token[] after-all(p) })",
       "expected a token as operand 0, found f32[4]", "s"},
      {R"(ENTRY main { p = f32[4] parameter(0)
  k = token[] after-all()
  ROOT s = token[] outfeed(p, k), outfeed_shape=f32[5]{0} })",
       "expected an operand of outfeed_shape=f32[5], found f32[4]", "s"},
  };
  for (const Mistake& mistake : mistakes) expect_mistake(mistake);
}

TEST(VerifyAsync, TransfersMayPassThroughLoops) {
  EXPECT_EQ(mistakes_of(R"(ENTRY main { p = (f32[4], u32[], token[]) parameter(0)
  ROOT d = (f32[4], token[]) recv-done(p), channel_id=1 })"),
            "");
}

}  // namespace
}  // namespace hilo
