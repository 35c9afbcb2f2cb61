#include "core/traces/host_activity.h"

#include <algorithm>
#include <array>
#include <queue>

#include "core/traces/trace_me.h"

namespace gpubench {
namespace {

/// The smaller, the more it says; marks of steps and the profiler's own time say nothing.
constexpr int unsaid = 8;
constexpr std::size_t said_ranks = 8;
constexpr std::array<int, host_work_count> ranks = {
    0,       // input
    1,       // sync
    2,       // allocation
    3,       // launch
    4,       // compile
    5,       // communication
    6,       // op
    6,       // call
    7,       // annotation
    7,       // python
    unsaid,  // overhead
    unsaid,  // step
};

int rank_of(HostWork work) {
  return ranks[static_cast<std::size_t>(work)];
}

}  // namespace

HostActivity::HostActivity(const ForeignTrace& trace)
    : trace_(trace),
      parts_(trace.threads.size()),
      waits_(trace.threads.size()),
      ranges_(trace.threads.size()),
      main_(gpubench::main_thread(trace)) {
  for (std::size_t begin = 0; begin < trace.host.size();) {
    const std::uint32_t thread = trace.host[begin].thread;
    std::size_t end = begin;
    while (end < trace.host.size() && trace.host[end].thread == thread) ++end;
    ranges_[thread] = {begin, end};
    divide(begin, end);
    begin = end;
  }
  for (std::uint32_t i = 0; i < trace.host.size(); ++i)
    if (trace.host[i].work == HostWork::communication) exchanges_.push_back({trace.host[i].time, i});
  std::ranges::sort(exchanges_, {}, [](const Part& one) { return one.time.begin; });
  for (std::size_t i = 1; i < exchanges_.size(); ++i) {
    exchanges_[i].time.begin = std::max(exchanges_[i].time.begin, exchanges_[i - 1].time.end);
    exchanges_[i].time.end = std::max(exchanges_[i].time.end, exchanges_[i].time.begin);
  }
}

void HostActivity::divide(std::size_t begin, std::size_t end) {
  const std::vector<HostEvent>& events = trace_.host;
  std::vector<Part>& parts = parts_[events[begin].thread];
  std::int64_t since = events[begin].time.begin;
  // Of each rank what runs, in the order of its beginning; what has ended is removed when it comes to the top.
  std::array<std::vector<std::uint32_t>, said_ranks> running;
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> ends;
  const auto run_until = [&](std::int64_t time) {
    if (time <= since) return;
    for (std::vector<std::uint32_t>& own : running) {
      while (!own.empty() && events[own.back()].time.end <= since) own.pop_back();
      if (own.empty()) continue;
      const std::uint32_t best = own.back();
      if (!parts.empty() && parts.back().event == best && parts.back().time.end == since)
        parts.back().time.end = time;
      else
        parts.push_back({{since, time}, best});
      break;
    }
    since = time;
  };
  for (std::size_t i = begin; i < end; ++i) {
    const HostEvent& event = events[i];
    for (; !ends.empty() && ends.top() <= event.time.begin; ends.pop()) run_until(ends.top());
    run_until(event.time.begin);
    if (event.work == HostWork::sync) waits_[event.thread].push_back(static_cast<std::uint32_t>(i));
    if (rank_of(event.work) == unsaid) continue;
    running[static_cast<std::size_t>(rank_of(event.work))].push_back(static_cast<std::uint32_t>(i));
    ends.push(event.time.end);
  }
  for (; !ends.empty(); ends.pop()) run_until(ends.top());
}

void HostActivity::visit_parts(const std::vector<Part>& parts, TraceInterval interval, const Visit& visit) const {
  auto part = std::ranges::upper_bound(parts, interval.begin, {}, [](const Part& one) { return one.time.end; });
  std::int64_t since = interval.begin;
  for (; part != parts.end() && part->time.begin < interval.end; ++part) {
    const TraceInterval own{std::max(part->time.begin, since), std::min(part->time.end, interval.end)};
    if (own.begin > since) visit({since, own.begin}, nullptr);
    if (own.end > own.begin) visit(own, &trace_.host[part->event]);
    since = std::max(since, own.end);
  }
  if (interval.end > since) visit({since, interval.end}, nullptr);
}

void HostActivity::visit(std::uint32_t thread, TraceInterval interval, const Visit& visit) const {
  visit_parts(parts_[thread], interval, visit);
}

void HostActivity::visit_exchanges(TraceInterval interval, const Visit& visit) const {
  visit_parts(exchanges_, interval, visit);
}

const HostEvent* HostActivity::wait_before(std::uint32_t thread, std::int64_t time) const {
  const std::vector<std::uint32_t>& waits = waits_[thread];
  const auto after =
      std::ranges::upper_bound(waits, time, {}, [&](std::uint32_t i) { return trace_.host[i].time.begin; });
  return after == waits.begin() ? nullptr : &trace_.host[*std::prev(after)];
}

const HostEvent* HostActivity::around(std::uint32_t thread, std::int64_t time, HostWork work) const {
  const auto [begin, end] = ranges_[thread];
  const auto first = trace_.host.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = trace_.host.begin() + static_cast<std::ptrdiff_t>(end);
  auto at = std::upper_bound(first, last, time,
                             [](std::int64_t when, const HostEvent& event) { return when < event.time.begin; });
  // Events that began long ago may still run: only so many are looked at.
  constexpr int most_steps = 4000;
  for (int steps = 0; at != first && steps < most_steps; ++steps) {
    --at;
    if (at->work == work && at->time.end > time) return &*at;
  }
  return nullptr;
}

}  // namespace gpubench
