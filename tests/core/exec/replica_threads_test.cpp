#include "core/exec/replica_threads.h"

#include <array>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>

#include "core/base/error.h"
#include "tests/support/failing_threads.h"

namespace gpubench {
namespace {

const auto ignored = [](int, const std::exception_ptr&) {};

TEST(ReplicaThreads, EachReplicaHasAThreadAndTheFirstTheCallers) {
  ReplicaThreads threads(3);
  ASSERT_EQ(threads.size(), 3);
  std::array<std::thread::id, 3> first, second;
  threads.run([&](int replica) { first[static_cast<std::size_t>(replica)] = std::this_thread::get_id(); }, ignored);
  threads.run([&](int replica) { second[static_cast<std::size_t>(replica)] = std::this_thread::get_id(); }, ignored);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first[0], std::this_thread::get_id());
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 3U);
}

TEST(ReplicaThreads, AllHaveReturnedWhenACallReturns) {
  ReplicaThreads threads(4);
  std::atomic<int> calls = 0;
  for (int round = 1; round <= 2000; ++round) {
    threads.run([&](int) { ++calls; }, ignored);
    ASSERT_EQ(calls, 4 * round);
  }
}

TEST(ReplicaThreads, AreAllThereOrNone) {
  for (int allowed = 0; allowed < 3; ++allowed) {
    const FailingThreads failing(allowed);
    EXPECT_THROW(ReplicaThreads(4), Error);
  }
  EXPECT_EQ(ReplicaThreads(4).size(), 4);
}

TEST(ReplicaThreads, OneReplicaTakesTheSamePath) {
  ReplicaThreads threads(1);
  int calls = 0;
  threads.run([&](int replica) { calls += 1 + replica; }, ignored);
  EXPECT_EQ(calls, 1);
}

TEST(ReplicaThreads, AFailureIsToldAtOnceAndThrownWhenAllHaveReturned) {
  ReplicaThreads threads(3);
  std::atomic<bool> told = false, others_waited = true;
  const auto work = [&](int replica) {
    if (replica == 1) throw std::runtime_error("lost");
    while (!told) std::this_thread::yield();  // for the others, only the report ends this
  };
  const auto failed = [&](int replica, const std::exception_ptr&) {
    others_waited = others_waited && replica == 1;
    told = true;
  };
  EXPECT_THROW(threads.run(work, failed), std::runtime_error);
  EXPECT_TRUE(others_waited);
  int calls = 0;
  threads.run([&](int replica) { calls += replica == 0 ? 1 : 0; }, ignored);
  EXPECT_EQ(calls, 1);  // the next call knows nothing of it
}

TEST(ReplicaThreads, TheFirstFailureIsThrown) {
  ReplicaThreads threads(2);
  std::atomic<bool> told = false;
  const auto work = [&](int replica) {
    if (replica == 1) throw std::runtime_error("first");
    while (!told) std::this_thread::yield();
    throw std::logic_error("second");
  };
  EXPECT_THROW(threads.run(work, [&](int, const std::exception_ptr&) { told = true; }), std::runtime_error);
}

}  // namespace
}  // namespace gpubench
