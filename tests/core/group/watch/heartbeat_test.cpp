#include "core/group/watch/heartbeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using testing::Optional;

constexpr WatchLimits usual_limits{.silence = Seconds(5), .absence = Seconds(60), .departure = Seconds(10)};

/// Processes a, b and c, as rank 0 sees them.
class Heartbeats : public testing::Test {
 protected:
  std::optional<std::string> verdict(int rank = 0, WatchLimits of = usual_limits) const {
    return HeartbeatPolicy(rank, {"a", "b", "c"}, of).verdict(peers_, now_);
  }
  Clock::time_point now_ = Clock::time_point(std::chrono::hours(1));
  std::vector<PeerState> peers_ = std::vector<PeerState>(3, PeerState{.heard = now_});
};

TEST_F(Heartbeats, ThatComeInTimeEndNothing) {
  peers_[1].waited_ms = 59'999;
  peers_[2].heard = now_ - std::chrono::milliseconds(4999);
  EXPECT_EQ(verdict(), std::nullopt);
}

TEST_F(Heartbeats, SilenceIsALoss) {
  peers_[2].heard = now_ - std::chrono::seconds(5);
  peers_[2].step = 7;
  EXPECT_THAT(verdict(), Optional(std::string("c was lost: nothing has been heard of it for 5 s (is it stopped, or its "
                                              "machine gone?); its last step was 7")));
  EXPECT_EQ(verdict(1), std::nullopt) << "other ranks hear from rank 0 alone";
  peers_[2].left = true;
  EXPECT_EQ(verdict(), std::nullopt);
}

TEST_F(Heartbeats, OtherRanksWatchTheFirst) {
  peers_[0].heard = now_ - std::chrono::seconds(6);
  EXPECT_THAT(verdict(2), Optional(testing::StartsWith("a was lost: nothing has been heard of it for 5 s")));
  EXPECT_EQ(verdict(0), std::nullopt) << "rank 0 does not hear from itself";
}

TEST_F(Heartbeats, TheRankThatDoesNotWaitIsTheOneThatIsMissing) {
  peers_[0].waited_ms = 60'000;
  peers_[2].waited_ms = 61'000;
  EXPECT_THAT(verdict(), Optional(std::string("b was lost: c has waited for it for 60 s (--peer-timeout); it had taken "
                                              "no step yet")));
  EXPECT_EQ(verdict(1), std::nullopt) << "rank 0 judges";
  peers_[1].left = true;
  EXPECT_EQ(verdict(), std::nullopt);
}

TEST_F(Heartbeats, AllThatWaitForEachOtherAreAtDifferentPlaces) {
  for (PeerState& peer : peers_) peer.waited_ms = 60'000;
  EXPECT_THAT(verdict(),
              Optional(std::string("all processes have waited for each other for 60 s (--peer-timeout): they "
                                   "take different paths through the script")));
  peers_[1].waited_ms = 59'000;
  EXPECT_EQ(verdict(), std::nullopt) << "the last has just begun to wait";
}

TEST_F(Heartbeats, AScriptThatHasEndedIsNotWaitedForAnyLonger) {
  peers_[1].leaving = true;
  peers_[1].waited_ms = peers_[2].waited_ms = 10'000;
  EXPECT_THAT(verdict(), Optional(std::string("b has come to the end of its script, and c has waited for it in an "
                                              "exchange for 10 s")));
  peers_[2].waited_ms = 9'999;
  EXPECT_EQ(verdict(), std::nullopt);
  peers_[0].leaving = peers_[2].leaving = true;
  peers_[2].waited_ms = 10'000;
  EXPECT_EQ(verdict(), std::nullopt) << "all have ended";
}

TEST_F(Heartbeats, AShorterAbsenceIsTheLimitOfDeparturesToo) {
  peers_[1].leaving = true;
  peers_[1].waited_ms = peers_[2].waited_ms = 3'000;
  WatchLimits hasty = usual_limits;
  hasty.absence = Seconds(3);
  EXPECT_THAT(verdict(0, hasty), Optional(testing::HasSubstr("in an exchange for 3 s")));
}

}  // namespace
}  // namespace gpubench
