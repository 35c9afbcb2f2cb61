#include "core/trace/breakdown.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <fmt/format.h>
#include <iterator>
#include <utility>
#include <vector>

namespace gpubench {
namespace {

/// More unexplained time than this makes a breakdown worthless.
constexpr double most_unexplained = 0.05;

struct Edge {
  Clock::time_point time;
  std::size_t span;
  bool begins;
};

std::vector<Edge> edges_of(std::span<const Span> spans, Window window) {
  std::vector<Edge> edges;
  edges.reserve(2 * spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Clock::time_point begin = std::max(spans[i].begin, window.begin), end = std::min(spans[i].end, window.end);
    if (begin >= end) continue;
    edges.push_back({begin, i, true});
    edges.push_back({end, i, false});
  }
  std::ranges::sort(edges, {}, &Edge::time);
  return edges;
}

/// The spans that are active at a moment, by class in their order of beginning. A span that has ended is removed when
/// it comes to the front or the back: thousands may run at once.
class Running {
 public:
  explicit Running(std::span<const Span> spans) : spans_(spans), has_ended_(spans.size()) {}
  void change(const Edge& edge) {
    if (edge.begins)
      running_[static_cast<std::size_t>(spans_[edge.span].span_class)].push_back(edge.span);
    else
      has_ended_[edge.span] = true;
  }
  const Span* charged() {
    for (std::deque<std::size_t>& own : running_) {
      while (!own.empty() && has_ended_[own.back()]) own.pop_back();
      while (!own.empty() && has_ended_[own.front()]) own.pop_front();
      if (own.empty()) continue;
      const Span& last = spans_[own.back()];
      return last.span_class >= SpanClass::input_wait ? &last : &spans_[own.front()];
    }
    return nullptr;
  }

 private:
  std::span<const Span> spans_;
  std::vector<bool> has_ended_;
  std::array<std::deque<std::size_t>, span_class_count> running_;
};

std::string doubt_about(const Breakdown& breakdown, std::span<const Span> spans, std::size_t dropped) {
  if (std::string reason = incompleteness(spans, dropped); !reason.empty()) return reason;
  const double unexplained = breakdown.share(SpanClass::other);
  if (unexplained > most_unexplained) return fmt::format("{:.0f} % of the time are unexplained", 100 * unexplained);
  return {};
}

void charge(Breakdown& breakdown, Window part, const Span* span) {
  const SpanClass span_class = span == nullptr ? SpanClass::other : span->span_class;
  breakdown.charged[static_cast<std::size_t>(span_class)] += part.length();
  if (span_class == SpanClass::compute && span->end - span->begin < small_kernel)
    breakdown.in_small_kernels += part.length();
}

}  // namespace

double Breakdown::share(SpanClass span_class) const {
  const Seconds charged_to_it = charged[static_cast<std::size_t>(span_class)];
  return charged_to_it.count() / (Seconds(window.length()).count() * devices);
}

double Breakdown::small_kernel_share() const {
  return Seconds(in_small_kernels).count() / (Seconds(window.length()).count() * devices);
}

std::string incompleteness(std::span<const Span> spans, std::size_t dropped) {
  if (dropped > 0) return fmt::format("{} spans of the trace were lost", dropped);
  if (!std::ranges::all_of(spans, &Span::is_exact)) return "the trace has a graph's launch without its nodes' times";
  return {};
}

void sweep(std::span<const Span> spans, Window window, const std::function<void(Window, const Span*)>& charge) {
  Running running(spans);
  Clock::time_point since = window.begin;
  const auto charge_until = [&](Clock::time_point time) {
    if (time > since) charge({since, time}, running.charged());
    since = time;
  };
  for (const Edge& edge : edges_of(spans, window)) {
    charge_until(edge.time);
    running.change(edge);
  }
  charge_until(window.end);
}

std::vector<Span> spans_of(const TracedDevice& device, std::span<const Span> spans) {
  const auto is_own = [&](const Span& span) { return device.has(span); };
  std::vector<Span> own;
  own.reserve(static_cast<std::size_t>(std::ranges::count_if(spans, is_own)));
  std::ranges::copy_if(spans, std::back_inserter(own), is_own);
  return own;
}

std::vector<Breakdown> break_down_steps(std::span<const Span> spans, const StepMarks& steps) {
  std::vector<Breakdown> all;
  Clock::time_point begin = steps.begin;
  for (const Clock::time_point end : steps.ends) {
    Breakdown& one = all.emplace_back();
    one.window = {std::exchange(begin, end), end};
    one.devices = static_cast<int>(steps.devices.size());
  }
  for (const TracedDevice& device : steps.devices) {
    auto step = all.begin();
    sweep(spans_of(device, spans), steps.window(), [&](Window part, const Span* span) {
      while (part.begin < part.end) {
        while (step->window.end <= part.begin) ++step;
        const Clock::time_point until = std::min(part.end, step->window.end);
        charge(*step, {std::exchange(part.begin, until), until}, span);
      }
    });
  }
  return all;
}

Breakdown break_down_each(std::span<const Span> spans, std::span<const TracedDevice> devices, Window window,
                          std::size_t dropped) {
  assert(!devices.empty());
  Breakdown all = break_down_steps(
                      spans, {.begin = window.begin, .ends = {window.end}, .devices = {devices.begin(), devices.end()}})
                      .front();
  all.doubt = doubt_about(all, spans, dropped);
  return all;
}

}  // namespace gpubench
