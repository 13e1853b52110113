// Processes over TCP: threads of this one, each with its connections.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "device/device.h"

namespace hilo::test {
namespace {

void on_ranks(int size, const std::function<void(Communicator&)>& body) {
  auto server = KeyValueServer::start("");
  ASSERT_TRUE(server) << to_string(server.error());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      auto store = open_store((*server)->address(), 10);
      ASSERT_TRUE(store) << to_string(store.error());
      auto joined = join_processes(rank, size, **store, {});
      ASSERT_TRUE(joined) << to_string(joined.error());
      body(**joined);
    });
  for (std::thread& thread : threads) thread.join();
}

Message numbers(int64_t count, int first) {
  const Bytes bytes = allocate_bytes(count * 4);
  auto* values = reinterpret_cast<int32_t*>(bytes.get());
  for (int64_t i = 0; i < count; ++i) values[i] = first + static_cast<int32_t>(i);
  return {"numbers", {{bytes, count * 4}}};
}

TEST(Mesh, EverybodyReachesEverybody) {
  for (const int64_t count : {int64_t{1}, int64_t{1000}, int64_t{1} << 20})
    on_ranks(3, [&](Communicator& own) {
      const MessageTag tag = {1, {count}};
      for (int to = 0; to < own.size(); ++to)
        if (to != own.rank()) own.send(to, tag, numbers(count, own.rank() * 100 + to));
      for (int from = 0; from < own.size(); ++from) {
        if (from == own.rank()) continue;
        const auto came = own.receive(from, tag);
        ASSERT_TRUE(came) << to_string(came.error());
        ASSERT_EQ(came->body.size(), 1U);
        const Message expected = numbers(count, from * 100 + own.rank());
        ASSERT_EQ(came->body[0].size, expected.body[0].size);
        EXPECT_EQ(std::memcmp(came->body[0].bytes.get(), expected.body[0].bytes.get(),
                              static_cast<size_t>(count) * 4),
                  0);
      }
    });
}

TEST(Mesh, WhatWasSentComesThoughTheSenderLeaves) {
  on_ranks(2, [](Communicator& own) {
    constexpr int64_t count = int64_t{1} << 22;
    if (own.rank() == 0) return own.send(1, {1, {1}}, numbers(count, 7));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto came = own.receive(0, {1, {1}});
    ASSERT_TRUE(came) << to_string(came.error());
    EXPECT_EQ(came->body[0].size, count * 4);
  });
}

// Any bytes, by who holds the message, in any order of the messages; also when the sender leaves.
TEST(Mesh, LargeArraysAreReadWhereTheyLie) {
  constexpr int64_t count = int64_t{1} << 20;
  on_ranks(2, [&](Communicator& own) {
    if (own.rank() == 0) {
      for (const int first : {1, 2, 3}) own.send(1, {1, {first}}, numbers(count, first));
      const auto heard = own.receive(1, {2, {1}});  // when two were read
      ASSERT_TRUE(heard) << to_string(heard.error());
      return;
    }
    MessageWait wait;
    wait.takes_far_arrays = true;
    std::vector<Message> came;
    for (const int first : {3, 2, 1}) {
      auto one = own.receive(0, {1, {first}}, wait);
      ASSERT_TRUE(one) << to_string(one.error());
      ASSERT_EQ(one->body[0].size, count * 4);
      came.push_back(std::move(*one));
    }
    const auto last_of = [&](const Message& message) {
      int32_t out = 0;
      const int64_t offset = (count - 1) * 4;
      if (!message.far) std::memcpy(&out, message.body[0].bytes.get() + offset, 4);
      else EXPECT_TRUE(message.far->read(0, offset, reinterpret_cast<std::byte*>(&out), 4));
      return out;
    };
    EXPECT_EQ(last_of(came[1]), 2 + count - 1);
    EXPECT_EQ(last_of(came[2]), 1 + count - 1);
    came.resize(1);
    own.send(0, {2, {1}}, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(last_of(came[0]), 3 + count - 1);
  });
}

TEST(Mesh, WhoDoesNotComeIsNamed) {
  auto server = KeyValueServer::start("");
  ASSERT_TRUE(server);
  auto store = open_store((*server)->address(), 10);
  ASSERT_TRUE(store);
  JobOptions options;
  options.timeout_s = 0.3;
  const auto joined = join_processes(0, 2, **store, options);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().message, "rank 1 has not come within 0.3 s");
}

TEST(KeyValueStore, GivesWhatWasPut) {
  auto server = KeyValueServer::start("");
  ASSERT_TRUE(server);
  auto one = open_store((*server)->address(), 10), two = open_store((*server)->address(), 10);
  ASSERT_TRUE(one && two);
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE((*one)->put("key", std::string("a\0b", 3)));
  });
  EXPECT_EQ(*(*two)->get("key", 10), std::string("a\0b", 3));
  late.join();
  EXPECT_EQ((*two)->get("other", 0.05).error().message, "other did not come within 0.05 s");
}

TEST(Job, OptionsMustNameAllOfIt) {
  const auto said = [](int processes, int rank, const std::string& coordinator) {
    const auto joined = join_job({processes, rank, coordinator, 0.2, {}});
    return joined ? std::string() : std::string(text_of(joined.error().kind));
  };
  EXPECT_EQ(said(2, 1, ""), "usage");
  EXPECT_EQ(said(2, 2, "localhost:1"), "usage");
  EXPECT_EQ(said(2, 0, "localhost"), "usage");
  EXPECT_EQ(said(2, 1, "localhost:1"), "io");
}

}  // namespace
}  // namespace hilo::test
