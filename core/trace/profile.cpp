#include "core/trace/profile.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace gpubench {
namespace {

/// Gives the spans of a device the nodes of their launches: a launch and its work have the same correlation, and the
/// launch lies within a span of the host that has a node.
void attribute(std::vector<Span>& spans) {
  std::vector<const Span*> nodes;  // of the host, by beginning; they do not overlap within a thread
  std::unordered_map<std::uint32_t, Clock::time_point> launched;
  for (const Span& span : spans) {
    if (span.gpu >= 0) continue;
    if (span.node != NodeId::none) nodes.push_back(&span);
    if (span.correlation != 0) launched.emplace(span.correlation, span.begin);
  }
  std::ranges::sort(nodes, {}, [](const Span* node) { return node->begin; });
  for (Span& span : spans) {
    if (span.gpu < 0 || span.node != NodeId::none) continue;
    const auto launch = launched.find(span.correlation);
    if (launch == launched.end()) continue;
    const auto after =
        std::ranges::upper_bound(nodes, launch->second, {}, [](const Span* node) { return node->begin; });
    if (after == nodes.begin() || (*std::prev(after))->end <= launch->second) continue;
    span.node = (*std::prev(after))->node;
  }
}

/// A gap of one device, while the sweep is within it.
struct OpenGap {
  Clock::time_point begin;
  const Span* before = nullptr;
  std::map<std::pair<SpanClass, NameId>, Clock::duration> doing;
};

using EntryKey = std::pair<SpanClass, NodeId>;
struct Sum {
  Clock::duration time{};
  std::size_t calls = 0;
};

class Profiling {
 public:
  Profiling(const Timeline& timeline, const StepMarks& steps)
      : timeline_(timeline), window_(steps.window()), ends_(steps.ends) {}

  void add(const TracedDevice& device, int index) {
    std::vector<Span> spans = spans_of(device, timeline_.spans());
    attribute(spans);
    count(spans);
    divide(spans, index);
  }

  StepProfile finish(int devices) {
    StepProfile profile;
    profile.steps = static_cast<int>(ends_.size());
    const double share = 1.0 / (static_cast<double>(ends_.size()) * devices);
    for (const auto& [key, sum] : sums_) {
      if (sum.time == Clock::duration::zero()) continue;
      ProfileEntry entry{.span_class = key.first, .node = {}, .time = Seconds(sum.time) * share, .calls = 0};
      if (key.second != NodeId::none) entry.node = timeline_.node(key.second);
      entry.calls = static_cast<double>(sum.calls) * share;
      profile.entries.push_back(std::move(entry));
    }
    std::ranges::stable_sort(profile.entries, std::greater<>(), &ProfileEntry::time);
    std::ranges::stable_sort(gaps_, std::greater<>(), &IdleGap::length);
    if (gaps_.size() > most_gaps) gaps_.resize(most_gaps);
    profile.gaps = std::move(gaps_);
    return profile;
  }

 private:
  static EntryKey key_of(const Span* span) {
    if (span == nullptr) return {SpanClass::other, NodeId::none};
    // A launch's own time is launching, whichever node it launches.
    const bool is_work = span->span_class <= SpanClass::memset;
    return {span->span_class, is_work ? span->node : NodeId::none};
  }

  void count(const std::vector<Span>& spans) {
    for (const Span& span : spans) {
      if (span.begin >= window_.begin && span.begin < window_.end) ++sums_[key_of(&span)].calls;
    }
  }

  void divide(const std::vector<Span>& spans, int device) {
    std::optional<OpenGap> gap;
    const Span* last_kernel = nullptr;
    sweep(spans, window_, [&](Window part, const Span* span) {
      sums_[key_of(span)].time += part.length();
      if (span != nullptr && span->span_class == SpanClass::compute) {
        if (gap) close(*gap, part.begin, span, device);
        gap.reset();
        last_kernel = span;
      } else {
        if (!gap) gap = OpenGap{.begin = part.begin, .before = last_kernel, .doing = {}};
        const std::pair<SpanClass, NameId> doing{span == nullptr ? SpanClass::other : span->span_class,
                                                 span == nullptr ? NameId{} : span->name};
        gap->doing[doing] += part.length();
      }
    });
    if (gap) close(*gap, window_.end, nullptr, device);
  }

  void close(const OpenGap& open, Clock::time_point end, const Span* after, int device) {
    const auto longest = std::ranges::max_element(open.doing, {}, [](const auto& doing) { return doing.second; });
    IdleGap gap;
    gap.device = device;
    const auto ended = std::ranges::upper_bound(ends_, open.begin);
    gap.step = static_cast<int>(ended - ends_.begin()) + 1;
    gap.since_step = open.begin - (ended == ends_.begin() ? window_.begin : *std::prev(ended));
    gap.length = end - open.begin;
    gap.doing = longest->first.first;
    gap.what = gap.doing == SpanClass::other ? "" : std::string(timeline_.text(longest->first.second));
    gap.share = Seconds(longest->second) / gap.length;
    gap.before = node_text(open.before);
    gap.after = node_text(after);
    gaps_.push_back(std::move(gap));
  }

  std::string node_text(const Span* kernel) const {
    if (kernel == nullptr) return {};
    if (kernel->node == NodeId::none) return std::string(timeline_.text(kernel->name));
    const NodeName& node = timeline_.node(kernel->node);
    return node.layer.empty() ? node.op : fmt::format("{} of {}", node.op, node.layer);
  }

  const Timeline& timeline_;
  Window window_;
  std::span<const Clock::time_point> ends_;
  std::map<EntryKey, Sum> sums_;
  std::vector<IdleGap> gaps_;
};

/// Sums up the entries whose kept parts of NodeName are equal.
template <class Keep>
std::vector<ProfileEntry> summed(const StepProfile& profile, const Keep& keep) {
  std::vector<ProfileEntry> sums;
  std::map<std::tuple<SpanClass, std::string, std::string>, std::size_t> places;
  for (const ProfileEntry& entry : profile.entries) {
    const NodeName kept = keep(entry.node);
    const auto [place, is_new] = places.try_emplace({entry.span_class, kept.op, kept.layer}, sums.size());
    if (is_new) {
      sums.push_back(entry);
      sums.back().node = kept;
      sums.back().implementation.clear();
      continue;
    }
    ProfileEntry& same = sums[place->second];
    same.time += entry.time;
    same.calls += entry.calls;
    if (entry.flops) same.flops = same.flops.value_or(0) + *entry.flops;
    if (entry.bytes) same.bytes = same.bytes.value_or(0) + *entry.bytes;
  }
  std::ranges::stable_sort(sums, std::greater<>(), &ProfileEntry::time);
  return sums;
}

}  // namespace

std::vector<ProfileEntry> by_layer(const StepProfile& profile) {
  return summed(profile, [](const NodeName& node) { return NodeName{.op = {}, .layer = node.layer, .role = {}}; });
}

std::vector<ProfileEntry> by_op(const StepProfile& profile) {
  return summed(profile, [](const NodeName& node) { return NodeName{.op = node.op, .layer = {}, .role = {}}; });
}

void add_work(StepProfile& profile, std::span<const NodeWork> work) {
  for (ProfileEntry& entry : profile.entries) {
    if (entry.span_class != SpanClass::compute) continue;
    for (const NodeWork& one : work) {
      const bool same =
          one.node.op == entry.node.op && one.node.layer == entry.node.layer && one.node.role == entry.node.role;
      if (!same) continue;
      entry.flops = entry.flops.value_or(0) + one.flops;
      entry.bytes = entry.bytes.value_or(0) + one.bytes;
      std::string& names = entry.implementation;
      const bool known =
          fmt::format(", {}, ", names).find(fmt::format(", {}, ", one.implementation)) != std::string::npos;
      if (!known) names += (names.empty() ? "" : ", ") + one.implementation;
    }
  }
}

StepProfile profile_steps(const Timeline& timeline, const StepMarks& steps) {
  assert(!steps.ends.empty() && !steps.devices.empty() && steps.ends.back() > steps.begin);
  Profiling profiling(timeline, steps);
  for (std::size_t i = 0; i < steps.devices.size(); ++i) profiling.add(steps.devices[i], static_cast<int>(i));
  StepProfile profile = profiling.finish(static_cast<int>(steps.devices.size()));
  profile.breakdown = break_down_each(timeline.spans(), steps.devices, steps.window(), steps.lost);
  return profile;
}

}  // namespace gpubench
