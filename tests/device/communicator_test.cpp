// Processes that talk, wait for each other, fail, leave and die.
#include "in_processes.h"

#include "../eval/devices.h"

namespace hilo::test {
namespace {

Message text(const std::string& head) { return {head, {}}; }

TEST(Communicator, MessagesOfOneTagKeepTheirOrder) {
  const auto all = communicators(2);
  const MessageTag first = {1, {1}}, second = {1, {2}};
  for (const char* head : {"a", "b", "c"}) all[0]->send(1, first, text(head));
  all[0]->send(1, second, text("other"));
  EXPECT_EQ(all[1]->receive(0, second)->head, "other");
  for (const char* head : {"a", "b", "c"}) EXPECT_EQ(all[1]->receive(0, first)->head, head);
}

TEST(Communicator, AFailureEndsItsRunAndNoOther) {
  const auto all = communicators(2);
  all[0]->stop(5, {ErrorKind::Evaluation, "it is odd", {}});
  all[0]->send(1, {6, {1}}, text("well"));
  const auto failed = all[1]->receive(0, {5, {1}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::Evaluation);
  EXPECT_EQ(failed.error().message, "rank 0: it is odd");
  EXPECT_EQ(all[1]->receive(0, {6, {1}})->head, "well");
}

TEST(Communicator, WhoHasLeftIsNotWaitedFor) {
  auto all = communicators(2);
  all[0]->send(1, {1, {1}}, text("last"));
  all[0].reset();
  EXPECT_EQ(all[1]->receive(0, {1, {1}})->head, "last");
  const auto nothing = all[1]->receive(0, {1, {1}});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message, "rank 0 has ended");
}

TEST(Communicator, AnInterruptEndsAWait) {
  const auto all = communicators(2);
  const std::atomic<bool> interrupt = true;
  const auto stopped = all[1]->receive(0, {1, {1}}, {nullptr, &interrupt, {}});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::Interrupted);
}

// Rank 0 waits for a sum that rank 1 never comes to, for it waits for another.
TEST(Communicator, RanksAtDifferentStepsAreNamed) {
  const std::string body =
      "ENTRY e { p = f32[2] parameter(0)\n ROOT NAME = f32[2] all-reduce(p), channel_id=1, "
      "replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add\n}\n";
  const auto results = run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    std::string own = body;
    const bool is_first = communicator->rank() == 0;
    own.replace(own.find("NAME"), 4, is_first ? "early" : "late");
    const std::string more = is_first ? ""
                                      : "unused { u = f32[] parameter(0)\n ROOT v = f32[] "
                                        "negate(u)\n}\n";
    Module module = *parse(partitioned(2, std::string(add_f32) + more + own));
    EvalOptions options;
    options.processes.communicator = communicator;
    return evaluate(module, Inputs{{{f32({2}, {1, 2})}}}, options);
  });
  for (const Result<Outputs>& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Deadlock) << result.error().message;
    for (const char* part : {"rank 0: device 0 waits in all-reduce 'early'", "for rank 1",
                             "rank 1: device 1 waits in all-reduce 'late'"})
      EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  }
}

TEST(Communicator, OneRanksErrorIsEverybodys) {
  const std::string text = partitioned(
      2, std::string(add_f32) +
             "ENTRY e { p = f32[2] parameter(0)\n ROOT r = f32[2] all-reduce(p), channel_id=1, "
             "replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add\n}\n");
  const Module module = *parse(text);
  const auto results = run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    EvalOptions options;
    options.processes.communicator = communicator;
    const Dims dims = {communicator->rank() == 0 ? 2 : 3};
    const std::vector<float> values(static_cast<size_t>(dims[0]), 1);
    return evaluate(module, Inputs{{{f32(dims, values)}}}, options);
  });
  for (const Result<Outputs>& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Input);
  }
  EXPECT_TRUE(results[0].error().message.starts_with("rank 1: ")) << results[0].error().message;
}

TEST(Communicator, ProcessesMustShareTheDevices) {
  const Module module = *parse(partitioned(3, "ENTRY e { ROOT p = f32[2] parameter(0)\n}\n"));
  const auto results = run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    EvalOptions options;
    options.processes.communicator = communicator;
    return evaluate(module, Inputs{{{f32({2}, {1, 2})}}}, options);
  });
  for (const Result<Outputs>& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Usage);
    EXPECT_NE(result.error().message.find("2 processes cannot share the 3 devices"),
              std::string::npos)
        << result.error().message;
  }
}

}  // namespace
}  // namespace hilo::test
