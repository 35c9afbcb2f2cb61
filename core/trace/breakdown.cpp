#include "core/trace/breakdown.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace gpubench {
namespace {

/// More unexplained time than this makes a breakdown worthless.
constexpr double most_unexplained = 0.05;

// The beginning (+1) or the end (-1) of a span, cut to the window.
struct Edge {
  Clock::time_point time;
  std::size_t span_class;
  int change;
};

std::vector<Edge> edges_of(std::span<const Span> spans, Window window) {
  std::vector<Edge> edges;
  edges.reserve(2 * spans.size() + 2);
  for (const Span& span : spans) {
    const Clock::time_point begin = std::max(span.begin, window.begin), end = std::min(span.end, window.end);
    if (begin >= end) continue;
    const auto index = static_cast<std::size_t>(span.span_class);
    edges.push_back({begin, index, 1});
    edges.push_back({end, index, -1});
  }
  std::ranges::sort(edges, {}, &Edge::time);
  return edges;
}

std::string doubt_about(const Breakdown& breakdown, std::span<const Span> spans, std::size_t dropped) {
  if (std::string reason = incompleteness(spans, dropped); !reason.empty()) return reason;
  const double unexplained = breakdown.share(SpanClass::other);
  if (unexplained > most_unexplained) return fmt::format("{:.0f} % of the time are unexplained", 100 * unexplained);
  return {};
}

}  // namespace

double Breakdown::share(SpanClass span_class) const {
  const Seconds charged_to_it = charged[static_cast<std::size_t>(span_class)];
  return charged_to_it.count() / (Seconds(window.length()).count() * devices);
}

std::string incompleteness(std::span<const Span> spans, std::size_t dropped) {
  if (dropped > 0) return fmt::format("{} spans of the trace were lost", dropped);
  if (!std::ranges::all_of(spans, &Span::is_exact)) return "the trace has a graph's launch without its nodes' times";
  return {};
}

Breakdown break_down(std::span<const Span> spans, Window window, std::size_t dropped) {
  assert(window.end > window.begin);
  Breakdown result;
  result.window = window;
  std::array<int, span_class_count> running{};
  running.back() = 1;  // `other` is always there
  Clock::time_point since = window.begin;
  const auto charge_until = [&](Clock::time_point time) {
    const auto first = std::ranges::find_if(running, [](int count) { return count > 0; });
    result.charged[static_cast<std::size_t>(first - running.begin())] += time - since;
    since = time;
  };
  for (const Edge& edge : edges_of(spans, window)) {
    charge_until(edge.time);
    running[edge.span_class] += edge.change;
  }
  charge_until(window.end);
  result.doubt = doubt_about(result, spans, dropped);
  return result;
}

Breakdown break_down_each(std::span<const Span> spans, std::span<const TracedDevice> devices, Window window,
                          std::size_t dropped) {
  assert(!devices.empty());
  Breakdown all;
  all.window = window;
  all.devices = static_cast<int>(devices.size());
  std::vector<Span> own;
  for (const TracedDevice& device : devices) {
    own.clear();
    std::ranges::copy_if(spans, std::back_inserter(own), [&](const Span& one) { return device.has(one); });
    const Breakdown one = break_down(own, window);
    for (std::size_t i = 0; i < all.charged.size(); ++i) all.charged[i] += one.charged[i];
  }
  all.doubt = doubt_about(all, spans, dropped);
  return all;
}

}  // namespace gpubench
