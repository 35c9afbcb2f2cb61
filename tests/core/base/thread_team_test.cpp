#include "core/base/thread_team.h"

#include <atomic>
#include <barrier>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/failing_threads.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ThreadTeam, EachIndexIsCalledOnceOnAThreadOfItsOwn) {
  std::vector<std::thread::id> ids(5);
  {
    ThreadTeam group(5, [&](int index) { ids[static_cast<std::size_t>(index)] = std::this_thread::get_id(); });
    EXPECT_EQ(group.size(), 5);
    group.join();
    group.join();
  }
  ids.push_back(std::this_thread::get_id());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(ids[i], ids[k]);
  }
}

TEST(ThreadTeam, MembersMayWaitForEachOther) {
  std::barrier together(8);
  std::atomic<int> calls = 0;
  ThreadTeam(8, [&](int) {
    together.arrive_and_wait();
    ++calls;
  }).join();
  EXPECT_EQ(calls, 8);
}

TEST(ThreadTeam, ItsEndJoinsTheThreads) {
  std::atomic<int> calls = 0;
  {
    const ThreadTeam group(3, [&](int) { ++calls; });
  }
  EXPECT_EQ(calls, 3);
}

TEST(ThreadTeam, WhereOneCannotBeStartedNoneIsCalled) {
  for (int allowed = 0; allowed < 6; ++allowed) {
    std::barrier together(6);  // the members that come would wait for ever
    std::atomic<int> calls = 0;
    const FailingThreads failing(allowed);
    EXPECT_ERROR(AllOf(HasSubstr("no more threads can be started: " + std::to_string(allowed) + " of 6")),
                 ThreadTeam(6, [&](int) {
                   ++calls;
                   together.arrive_and_wait();
                 }));
    EXPECT_EQ(calls, 0);
  }
}

TEST(ThreadTeam, OfNoThreadsIsDone) {
  const FailingThreads failing(0);
  for (const int count : {0, -1}) {
    EXPECT_EQ(ThreadTeam(count, [](int) { FAIL() << "it was called"; }).size(), 0);
  }
}

TEST(ThreadTeam, MoreThreadsAreCheckedWithoutKeepingThem) {
  check_more_threads(3);
  const FailingThreads failing(3);
  EXPECT_NO_THROW(check_more_threads(3));
  EXPECT_THROW(check_more_threads(1), Error);
}

}  // namespace
}  // namespace gpubench
