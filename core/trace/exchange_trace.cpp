#include "core/trace/exchange_trace.h"

#include <algorithm>
#include <cassert>

namespace gpubench {
namespace {

std::vector<Window> stretches(std::span<const Span> spans, int gpu, SpanClass span_class) {
  std::vector<Window> found;
  for (const Span& span : spans) {
    if (span.gpu == gpu && span.span_class == span_class) found.push_back({span.begin, span.end});
  }
  std::ranges::sort(found, {}, &Window::begin);
  return found;
}

/// Merges sorted intervals that touch.
std::vector<Window> merged(const std::vector<Window>& sorted) {
  std::vector<Window> all;
  for (const Window& one : sorted) {
    if (!all.empty() && one.begin <= all.back().end)
      all.back().end = std::max(all.back().end, one.end);
    else
      all.push_back(one);
  }
  return all;
}

/// The part of `exchange` after `from` that `busy` does not cover.
std::vector<TracedExchange::Stretch> bare_stretches(Window exchange, Clock::time_point from,
                                                    const std::vector<Window>& busy) {
  std::vector<TracedExchange::Stretch> bare;
  const auto add_until = [&](Clock::time_point end) {
    if (from < end) bare.push_back({from - exchange.begin, end - exchange.begin});
  };
  // Merged, so that ends are sorted too.
  for (auto kernel = std::ranges::upper_bound(busy, from, {}, &Window::end);
       kernel != busy.end() && kernel->begin < exchange.end; ++kernel) {
    add_until(kernel->begin);
    from = std::max(from, kernel->end);
  }
  add_until(exchange.end);
  return bare;
}

/// The length of the interval's part between two moments.
Clock::duration part(const TracedExchange::Stretch& stretch, Clock::duration begin, Clock::duration end) {
  return std::max(Clock::duration::zero(), std::min(stretch.end, end) - std::max(stretch.begin, begin));
}

}  // namespace

ExchangeTrace trace_exchanges(std::span<const Span> spans, int gpu, Window window) {
  const std::vector<Window> kernels = merged(stretches(spans, gpu, SpanClass::compute));
  ExchangeTrace trace;
  Clock::time_point counted_until = Clock::time_point::min();
  for (const Window& exchange : stretches(spans, gpu, SpanClass::communication)) {
    const Clock::time_point middle = exchange.begin + exchange.length() / 2;
    if (middle < window.begin || middle >= window.end) continue;
    const Clock::time_point from = std::max(exchange.begin, counted_until);
    trace.push_back({exchange.length(), bare_stretches(exchange, from, kernels)});
    counted_until = std::max(counted_until, exchange.end);
  }
  return trace;
}

TracedCost exchange_cost(const ExchangeTrace& own, const ExchangeLengths& lengths) {
  TracedCost cost;
  cost.last_arrivals.resize(lengths.size());
  std::vector<Clock::duration> of_ranks(lengths.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      assert(lengths[rank].size() == own.size());
      of_ranks[rank] = lengths[rank][i];
    }
    const auto shortest = std::ranges::min_element(of_ranks);
    if (std::ranges::count(of_ranks, *shortest) == 1)
      ++cost.last_arrivals[static_cast<std::size_t>(shortest - of_ranks.begin())];
    const Clock::duration length = own[i].length, all_there = length - *shortest;
    cost.exchange += *shortest;
    for (const TracedExchange::Stretch& bare : own[i].bare) {
      cost.peer_wait += part(bare, Clock::duration::zero(), all_there);
      cost.exposed += part(bare, all_there, length);
    }
  }
  return cost;
}

}  // namespace gpubench
