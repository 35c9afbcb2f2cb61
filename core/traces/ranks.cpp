#include "core/traces/ranks.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/traces/event_kinds.h"

namespace gpubench {
namespace {

struct Exchange {
  TraceInterval time;
  std::string name;
};

/// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" and "ncclDevKernel_AllReduce_Sum_f32_TREE_LL" are one collective,
/// whose algorithm a rank chose.
std::string collective_of(std::string_view name) {
  return std::string(name.substr(0, std::min(name.find('('), name.size())));
}

/// In the window, by their beginning: kernels of devices, or what host threads carry out.
std::vector<Exchange> exchanges_of(const TraceAnalysis& analysis) {
  const ForeignTrace& trace = analysis.trace;
  std::vector<Exchange> exchanges;
  const auto add = [&](TraceInterval time, const std::string& name) {
    const std::int64_t middle = time.begin + time.length() / 2;
    if (middle >= analysis.window.begin && middle < analysis.window.end)
      exchanges.push_back({time, collective_of(name)});
  };
  for (const DeviceEvent& event : trace.device)
    if (event.work == DeviceWork::communication) add(event.time, trace.text(event));
  if (analysis.is_on_cpu) {
    for (const HostEvent& event : trace.host) {
      const std::string& name = trace.text(event);
      const bool is_carried_out = name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
      if (event.work == HostWork::communication && is_carried_out) add(event.time, name);
    }
  }
  std::ranges::sort(exchanges, {}, [](const Exchange& one) { return one.time.begin; });
  return exchanges;
}

/// By name, in order.
using ByName = std::map<std::string, std::vector<TraceInterval>>;

ByName by_name(const std::vector<Exchange>& exchanges) {
  ByName names;
  for (const Exchange& one : exchanges) names[one.name].push_back(one.time);
  return names;
}

/// Whether ranks run the same kernels: stages of a pipeline do not.
bool are_alike(const TraceAnalysis& a, const TraceAnalysis& b) {
  const auto names = [](const TraceAnalysis& one) {
    std::set<std::string> found;
    for (const DeviceEvent& event : one.trace.device)
      if (event.work == DeviceWork::kernel) found.insert(one.trace.text(event));
    return found;
  };
  const std::set<std::string> left = names(a), right = names(b);
  if (left.empty() && right.empty()) return true;
  const auto common = std::ranges::count_if(left, [&](const std::string& name) { return right.contains(name); });
  return 2 * static_cast<std::size_t>(common) >= std::max(left.size(), right.size());
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// The same exchange on each rank.
using Matched = std::vector<TraceInterval>;

std::vector<Matched> matched(const std::vector<ByName>& ranks, std::string& note) {
  std::vector<Matched> all;
  std::size_t left_out = 0;
  for (const auto& [name, first] : ranks.front()) {
    std::size_t count = first.size(), most = first.size();
    for (const ByName& rank : ranks) {
      const auto own = rank.find(name);
      const std::size_t own_count = own == rank.end() ? 0 : own->second.size();
      count = std::min(count, own_count);
      most = std::max(most, own_count);
    }
    left_out += most - count;
    // Windows end with the same step; at their beginning a rank may have one more.
    for (std::size_t i = 0; i < count; ++i) {
      Matched one;
      for (const ByName& rank : ranks) {
        const std::vector<TraceInterval>& own = rank.at(name);
        one.push_back(own[own.size() - count + i]);
      }
      all.push_back(std::move(one));
    }
  }
  if (left_out > 0) note = fmt::format("{} exchanges are not in the windows of all ranks", left_out);
  std::ranges::sort(all, {}, [](const Matched& one) { return one.front().begin; });
  return all;
}

constexpr double ns = 1e-9;

}  // namespace

RankWaits rank_waits(const std::vector<TraceAnalysis>& ranks) {
  RankWaits waits;
  if (ranks.size() < 2) return waits;
  std::vector<ByName> names;
  for (const TraceAnalysis& rank : ranks) {
    if (!are_alike(ranks.front(), rank)) {
      waits.note = "the ranks run other kernels each, as stages of a pipeline do: their exchanges are not compared";
      return waits;
    }
    names.push_back(by_name(exchanges_of(rank)));
  }
  const std::vector<Matched> exchanges = matched(names, waits.note);
  if (exchanges.empty()) {
    waits.note = "the ranks have no exchanges in common: each is judged by itself";
    return waits;
  }
  waits.exchanges = exchanges.size();
  waits.ranks.resize(ranks.size());
  std::vector<double> residuals;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::vector<double> offsets;
    for (const Matched& one : exchanges) {
      const auto own = static_cast<double>(one[r].end), first = static_cast<double>(one.front().end);
      offsets.push_back((own - first + static_cast<double>(ranks[r].trace.zero - ranks.front().trace.zero)) * ns);
    }
    waits.ranks[r].clock_offset_s = median(offsets);
    for (const double offset : offsets) residuals.push_back(std::abs(offset - waits.ranks[r].clock_offset_s));
  }
  waits.residual_s = median(residuals);
  for (const Matched& one : exchanges) {
    const auto shortest = std::ranges::min_element(one, {}, &TraceInterval::length);
    const std::int64_t transfer = shortest->length();
    if (std::ranges::count(one, transfer, &TraceInterval::length) == 1)
      ++waits.ranks[static_cast<std::size_t>(shortest - one.begin())].last;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      waits.ranks[r].waiting_s += static_cast<double>(one[r].length() - transfer) * ns;
      waits.ranks[r].transfer_s += static_cast<double>(transfer) * ns;
    }
  }
  return waits;
}

void set_waits(std::vector<Record>& rows, const RankWaits& waits, const std::vector<TraceAnalysis>& ranks) {
  if (waits.ranks.empty()) return;
  const auto last = std::ranges::max_element(waits.ranks, {}, &RankWait::last);
  const auto last_index = static_cast<std::size_t>(last - waits.ranks.begin());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Record& row = rows[r];
    const RankWait& own = waits.ranks[r];
    const double exposed = number_in(row.get("communication_share")).value_or(0);
    const double in_exchanges = own.waiting_s + own.transfer_s;
    // What waits comes first in an exchange; kernels that run beside it hide both alike as far as shares can tell.
    const double waiting = in_exchanges > 0 ? exposed * own.waiting_s / in_exchanges : 0;
    row.set("communication_share", exposed - waiting);
    row.set("peer_wait_share", waiting);
    row.set("replicas", static_cast<std::int64_t>(ranks.size()));
    row.set("exchanges", static_cast<double>(waits.exchanges) / std::max(ranks[r].step_count(), 1));
    if (last->last == 0) continue;
    const int rank = ranks[last_index].trace.rank;
    row.set("last_rank", rank >= 0 ? std::int64_t{rank} : static_cast<std::int64_t>(last_index));
    row.set("last_rank_share", static_cast<double>(last->last) / static_cast<double>(waits.exchanges));
  }
}

Info waits_info(const RankWaits& waits, const std::vector<TraceAnalysis>& ranks) {
  Info::List list;
  for (std::size_t r = 0; r < waits.ranks.size(); ++r) {
    const RankWait& own = waits.ranks[r];
    const int rank = ranks[r].trace.rank;
    list.push_back(Info::Fields{{"rank", rank >= 0 ? rank : static_cast<int>(r)},
                                {"waiting_s", own.waiting_s},
                                {"transfer_s", own.transfer_s},
                                {"last", own.last},
                                {"clock_offset_s", own.clock_offset_s}});
  }
  Info info(Info::Fields{{"exchanges", static_cast<std::int64_t>(waits.exchanges)}, {"residual_s", waits.residual_s}});
  if (!waits.note.empty()) info.set("note", waits.note);
  info.set("ranks", std::move(list));
  return info;
}

}  // namespace gpubench
