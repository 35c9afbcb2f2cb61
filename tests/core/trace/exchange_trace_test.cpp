#include "core/trace/exchange_trace.h"

#include <gmock/gmock.h>

#include "tests/core/trace/spans.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr Window traced_window{Clock::time_point(0ns), Clock::time_point(1000ns)};

Span on_gpu(int gpu, SpanClass span_class, int begin, int end) {
  Span span = support::span(span_class, begin, end);
  span.gpu = gpu;
  return span;
}
Span exchange(int begin, int end, int gpu = 0) {
  return on_gpu(gpu, SpanClass::communication, begin, end);
}
Span kernel(int begin, int end, int gpu = 0) {
  return on_gpu(gpu, SpanClass::compute, begin, end);
}

ExchangeTrace traced(const std::vector<Span>& spans, int gpu = 0) {
  return trace_exchanges(spans, gpu, traced_window);
}
std::vector<Clock::duration> lengths(const ExchangeTrace& trace) {
  std::vector<Clock::duration> all;
  for (const TracedExchange& one : trace) all.push_back(one.length);
  return all;
}
std::vector<TracedCost> costs(const std::vector<ExchangeTrace>& ranks) {
  ExchangeLengths all;
  for (const ExchangeTrace& rank : ranks) all.push_back(lengths(rank));
  std::vector<TracedCost> costs;
  for (const ExchangeTrace& rank : ranks) costs.push_back(exchange_cost(rank, all));
  return costs;
}

TEST(ExchangeTrace, HoldsTheExchangesOfOneGpuInTheirOrder) {
  const ExchangeTrace trace = traced({exchange(500, 530), kernel(0, 90), exchange(100, 120), exchange(200, 290, 1),
                                      support::span(SpanClass::launch, 90, 600), on_gpu(0, SpanClass::copy, 100, 110)});
  EXPECT_THAT(lengths(trace), ElementsAre(20ns, 30ns));
  EXPECT_THAT(trace[0].bare, ElementsAre(TracedExchange::Stretch{0ns, 20ns}));
  EXPECT_THAT(traced({kernel(0, 10)}), IsEmpty());
}

TEST(ExchangeTrace, TakesSpansWhoseMiddleLiesInTheWindow) {
  const ExchangeTrace trace = traced({exchange(-30, 20), exchange(-10, 20), exchange(990, 1008), exchange(990, 1010)});
  EXPECT_THAT(lengths(trace), ElementsAre(30ns, 18ns)) << "whole, whatever part of them the window cuts off";
}

TEST(ExchangeTrace, LeavesOutWhatKernelsCover) {
  const ExchangeTrace trace = traced(
      {exchange(100, 200), kernel(50, 110), kernel(60, 105), kernel(120, 130), kernel(125, 140), kernel(190, 300)});
  EXPECT_THAT(trace[0].bare, ElementsAre(TracedExchange::Stretch{10ns, 20ns}, TracedExchange::Stretch{40ns, 90ns}));
  EXPECT_THAT(traced({exchange(100, 200), kernel(0, 500)})[0].bare, IsEmpty());
  EXPECT_THAT(traced({exchange(100, 200), kernel(0, 500, 1)})[0].bare,
              ElementsAre(TracedExchange::Stretch{0ns, 100ns}));
}

TEST(ExchangeTrace, CountsTimeOfTwoExchangesOnce) {
  const ExchangeTrace trace = traced({exchange(100, 200), exchange(150, 260), exchange(155, 190)});
  EXPECT_THAT(trace[1].bare, ElementsAre(TracedExchange::Stretch{50ns, 110ns}));
  EXPECT_THAT(trace[2].bare, IsEmpty());
}

TEST(ExchangeCost, OfTwoRanksTheLaterWaitsForNobody) {
  // The second GPU's clock is another: only its lengths tell.
  const auto cost = costs({traced({exchange(100, 200)}), traced({exchange(370, 400, 1)}, 1)});
  EXPECT_EQ(cost[0].exchange, 30ns);
  EXPECT_EQ(cost[0].exposed, 30ns);
  EXPECT_EQ(cost[0].peer_wait, 70ns);
  EXPECT_EQ(cost[1].exchange, 30ns);
  EXPECT_EQ(cost[1].exposed, 30ns);
  EXPECT_EQ(cost[1].peer_wait, 0ns);
  EXPECT_THAT(cost[0].last_arrivals, ElementsAre(0, 1));
  EXPECT_THAT(cost[1].last_arrivals, ElementsAre(0, 1));
}

TEST(ExchangeCost, AddsUpCollectivesOfThreeRanks) {
  const auto cost = costs({traced({exchange(0, 10), exchange(100, 140), exchange(200, 250)}),
                           traced({exchange(0, 50), exchange(100, 160), exchange(200, 220)}),
                           traced({exchange(0, 30), exchange(100, 130), exchange(200, 220)})});
  for (const TracedCost& one : cost) {
    EXPECT_EQ(one.exchange, 10ns + 30ns + 20ns);
    EXPECT_EQ(one.exposed, one.exchange);
    EXPECT_THAT(one.last_arrivals, ElementsAre(1, 0, 1)) << "nobody was the last of two that are equally short";
  }
  EXPECT_EQ(cost[0].peer_wait, 0ns + 10ns + 30ns);
  EXPECT_EQ(cost[1].peer_wait, 40ns + 30ns + 0ns);
  EXPECT_EQ(cost[2].peer_wait, 20ns + 0ns + 0ns);
}

TEST(ExchangeCost, HiddenTimeIsNeitherWaitedNorExposed) {
  // Waits 70 of 100, of which a kernel hides 40; of the exchange a kernel hides the last 10.
  const ExchangeTrace first = traced({exchange(100, 200), kernel(80, 140), kernel(190, 220)});
  const ExchangeTrace hidden = traced({exchange(100, 130), kernel(0, 300)});
  const auto cost = costs({first, hidden});
  EXPECT_EQ(cost[0].exchange, 30ns);
  EXPECT_EQ(cost[0].exposed, 20ns);
  EXPECT_EQ(cost[0].peer_wait, 30ns);
  EXPECT_EQ(cost[1].exchange, 30ns) << "beside kernels or not";
  EXPECT_EQ(cost[1].exposed, 0ns);
  EXPECT_EQ(cost[1].peer_wait, 0ns);
}

TEST(ExchangeCost, WaitAndExposedAreWhatABreakdownChargesToCommunication) {
  const std::vector spans = {exchange(100, 200), kernel(80, 140), kernel(190, 220), exchange(190, 400),
                             kernel(300, 350)};
  const ExchangeTrace own = traced(spans);
  const TracedCost cost = exchange_cost(own, {lengths(own), {60ns, 20ns}});
  const Breakdown breakdown = support::break_down(spans, traced_window);
  EXPECT_EQ(cost.exposed + cost.peer_wait, breakdown.charged[static_cast<std::size_t>(SpanClass::communication)]);
}

TEST(ExchangeCost, NothingExchangedCostsNothing) {
  const TracedCost cost = exchange_cost({}, {{}, {}});
  EXPECT_EQ(cost.exchange + cost.exposed + cost.peer_wait, 0ns);
  EXPECT_THAT(cost.last_arrivals, ElementsAre(0, 0));
}

}  // namespace
}  // namespace gpubench
