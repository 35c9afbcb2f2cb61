#include "core/group/watch/peer_watch.h"

#include <atomic>
#include <fmt/format.h>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/group/process_group.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

constexpr WatchLimits patient{.silence = Seconds(600), .absence = Seconds(600)};

std::vector<std::string> names(int count) {
  std::vector<std::string> list;
  for (int rank = 0; rank < count; ++rank) list.push_back(fmt::format("process {}", rank));
  return list;
}

/// Watches of several ranks in this process.
class PeerWatches : public ::testing::Test {
 protected:
  void start(int count, WatchLimits limits = patient) {
    auto listener = std::make_unique<LineListener>(0);
    const std::string address = PeerWatch::address(*listener);
    watches_.push_back(std::make_unique<PeerWatch>(0, names(count), std::move(listener), address, limits));
    for (int rank = 1; rank < count; ++rank)
      watches_.push_back(std::make_unique<PeerWatch>(rank, names(count), nullptr, address, limits));
  }
  /// The test's own limit ends a wait that never does.
  static void wait_for(const WaitEnd& end) {
    while (!end.is_set()) std::this_thread::yield();
  }
  std::vector<std::unique_ptr<PeerWatch>> watches_;
};

TEST_F(PeerWatches, AFailureReachesAll) {
  start(3);
  watches_[2]->fail("out of ideas", 7);
  for (const auto& watch : watches_) {
    wait_for(watch->lost());
    EXPECT_ERROR_OF(PeerLost, "process 2 failed: out of ideas", watch->lost().raise());
  }
}

TEST_F(PeerWatches, OneThatIsAtItsEndWhileAnotherWaitsInAnExchangeEndsAll) {
  start(3, {.silence = Seconds(600), .absence = Seconds(600), .departure = Seconds(0.01)});
  watches_[2]->set_leaving();
  const PeerWatch::Waiting end(*watches_[2]), exchange(*watches_[1]);
  for (const auto& watch : watches_) {
    wait_for(watch->lost());
    EXPECT_EQ(watch->lost().reason(),
              "process 2 has come to the end of its script, and process 1 has waited for it in an exchange for 0 s");
  }
}

TEST_F(PeerWatches, ThatAllComeToTheEndAreNotLost) {
  start(2, {.silence = Seconds(600), .absence = Seconds(600), .departure = Seconds(0.01)});
  watches_[0]->set_leaving();
  watches_[1]->set_leaving();
  const PeerWatch::Waiting first(*watches_[0]), second(*watches_[1]);
  watches_[1]->abort(1, 2, "after some beats");
  const auto channel = watches_[0]->channel(1);
  wait_for(*channel);
  EXPECT_FALSE(watches_[0]->lost().is_set());
}

TEST_F(PeerWatches, TheFirstReasonCounts) {
  start(2);
  watches_[0]->fail("first", 3);
  watches_[0]->fail("second", 4);
  wait_for(watches_[1]->lost());
  EXPECT_EQ(watches_[1]->lost().reason(), "process 0 failed: first");
  EXPECT_EQ(watches_[0]->exit_status(), 3);
  EXPECT_EQ(watches_[1]->exit_status(), 3);
}

TEST_F(PeerWatches, AnAbortEndsItsChannelsAlone) {
  start(3);
  const auto before = watches_[2]->channel(5);
  watches_[1]->abort(4, 7, "the point is over");
  wait_for(*before);
  EXPECT_EQ(before->reason(), "the point is over");
  EXPECT_TRUE(watches_[2]->channel(6)->is_set()) << "made after the abort";
  EXPECT_FALSE(watches_[2]->channel(7)->is_set());
  EXPECT_FALSE(watches_[2]->lost().is_set());
  watches_[2]->forget_channels_below(7);
  EXPECT_FALSE(watches_[2]->channel(8)->is_set());
}

TEST_F(PeerWatches, ThatLeaveInOrderAreNotLost) {
  start(3);
  watches_[1] = nullptr;
  watches_[2]->abort(1, 2, "after that");
  wait_for(*watches_[0]->channel(1));
  EXPECT_FALSE(watches_[0]->lost().is_set());
}

TEST_F(PeerWatches, ARankThatDoesNotComeIsNamed) {
  start(2, {.silence = Seconds(600), .absence = Seconds(0.2)});
  const PeerWatch::Waiting waiting(*watches_[0]);
  wait_for(watches_[1]->lost());
  EXPECT_THAT(watches_[1]->lost().reason(), HasSubstr("process 1 was lost: process 0 has waited for it for 0 s"));
}

TEST_F(PeerWatches, ThatAllWaitAreToldSo) {
  start(2, {.silence = Seconds(600), .absence = Seconds(0.2)});
  const PeerWatch::Waiting first(*watches_[0]), second(*watches_[1]);
  wait_for(watches_[1]->lost());
  EXPECT_THAT(watches_[1]->lost().reason(),
              testing::AnyOf(HasSubstr("all processes have waited for each other"), HasSubstr("process 1 was lost")));
}

TEST(PeerWatch, AProcessThatStillRunsAfterTheEndOfItsGroupIsEnded) {
  auto listener = std::make_unique<LineListener>(0);
  const std::string address = PeerWatch::address(*listener);
  WatchLimits limits = patient;
  limits.grace_of_others = Seconds(0);
  std::promise<std::string> reason;
  std::atomic<int> stops = 0, ends = 0;
  {
    PeerWatch first(0, names(2), std::move(listener), address, patient, [&](const std::string&) { ++ends; });
    PeerWatch second(1, names(2), nullptr, address, limits, [&](const std::string& why) { reason.set_value(why); });
    second.on_end([&] { ++stops; });
    first.fail("out of memory", failed_exit_status);
    EXPECT_EQ(reason.get_future().get(), "process 0 failed: out of memory");
    EXPECT_EQ(stops, 1) << "it was asked to stop before";
  }
  EXPECT_EQ(ends, 0) << "process 0 still has time to write its files";
}

TEST(PeerWatch, APortThatIsTakenIsNamed) {
  const LineListener taken(0);
  EXPECT_ERROR(HasSubstr(fmt::format("port {}, over which the processes of a run watch each other, "
                                     "cannot be had: Address already in use",
                                     taken.port())),
               LineListener(taken.port()));
}

}  // namespace
}  // namespace gpubench
