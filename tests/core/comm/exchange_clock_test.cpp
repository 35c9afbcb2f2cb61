#include "core/comm/exchange_clock.h"

#include <gtest/gtest.h>

#include "core/trace/host_spans.h"

namespace gpubench {
namespace {

Clock::time_point at(int seconds) {
  return Clock::time_point(std::chrono::seconds(seconds));
}
ExchangeOutcome outcome(int arrived, int last, int done, int last_rank) {
  return {.arrived = at(arrived), .last_arrived = at(last), .done = at(done), .last_rank = last_rank};
}

TEST(ExchangeClock, kernels_that_stand_still_wait_for_peers_and_then_for_the_exchange) {
  ExchangeClock clock(2);
  clock.add(100, outcome(10, 13, 18, 1), at(10));
  const CommunicationTimes times = clock.times();
  EXPECT_EQ(times.collectives, 1);
  EXPECT_EQ(times.bytes, 100);
  EXPECT_EQ(times.exchange.count(), 5);
  EXPECT_EQ(times.exposed_exchange.count(), 5);
  EXPECT_EQ(times.peer_wait.count(), 3);
  EXPECT_EQ(times.last_arrivals, (std::vector<std::int64_t>{0, 1}));
}

TEST(ExchangeClock, what_ran_beside_kernels_is_not_exposed) {
  ExchangeClock clock(2);
  clock.add(1, outcome(10, 13, 18, 0), at(30));  // all hidden
  clock.add(1, outcome(18, 19, 25, 0), at(22));  // ends in the sight of the kernels
  const CommunicationTimes times = clock.times();
  EXPECT_EQ(times.exchange.count(), 11);
  EXPECT_EQ(times.exposed_exchange.count(), 3);
  EXPECT_EQ(times.peer_wait.count(), 0);
}

TEST(ExchangeClock, time_stood_still_for_several_counts_once) {
  ExchangeClock clock(2);
  // Both were waited for from 10 on; the second could begin only when the first was done.
  clock.add(1, outcome(8, 11, 14, 1), at(10));
  clock.add(1, outcome(14, 16, 20, 1), at(10));
  const CommunicationTimes times = clock.times();
  EXPECT_EQ(times.peer_wait.count(), 1 + 2);
  EXPECT_EQ(times.exposed_exchange.count(), 3 + 4);
  EXPECT_EQ((times.peer_wait + times.exposed_exchange).count(), 20 - 10);
}

TEST(ExchangeClock, traced_collectives_show_the_wait_and_the_exchange) {
  ExchangeClock clock(2);
  Timeline timeline(8);
  HostSpans spans(timeline, "replica 1", 1);
  clock.set_spans(&spans);
  clock.add(1, outcome(10, 13, 18, 0), at(11));
  clock.add(1, outcome(20, 20, 25, 1), at(20));  // this rank came last
  clock.set_spans(nullptr);
  clock.add(1, outcome(30, 31, 32, 0), at(30));
  ASSERT_EQ(timeline.spans().size(), 3U);
  const Span &wait = timeline.spans()[0], &exchange = timeline.spans()[1], &second = timeline.spans()[2];
  EXPECT_EQ(wait.span_class, SpanClass::peer_wait);
  EXPECT_EQ(wait.begin, at(11)) << "the kernels went on before";
  EXPECT_EQ(wait.end, at(13));
  EXPECT_EQ(exchange.span_class, SpanClass::communication);
  EXPECT_EQ(exchange.begin, at(13));
  EXPECT_EQ(exchange.end, at(18));
  EXPECT_EQ(exchange.replica, 1);
  EXPECT_EQ(second.span_class, SpanClass::communication);
}

}  // namespace
}  // namespace gpubench
