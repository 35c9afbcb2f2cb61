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
  std::string group;  ///< of ranks; empty where the trace does not say
  std::string key;    ///< equal on all ranks for what can only be told apart by its order
};

/// "ncclDevKernel_AllReduce_Sum_f32" of "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)": each rank chooses its
/// algorithm.
std::string collective_of(std::string_view name) {
  std::size_t end = std::min(name.find('('), name.size());
  for (const char* algorithm : {"_RING", "_TREE", "_COLLNET", "_NVLS", "_PAT"})
    end = std::min(end, name.find(algorithm));
  return std::string(name.substr(0, end));
}

/// In the window, by their beginning: kernels of devices, or what host threads carry out.
std::vector<Exchange> exchanges_of(const TraceAnalysis& analysis) {
  const ForeignTrace& trace = analysis.trace;
  std::vector<Exchange> exchanges;
  const auto add = [&](TraceInterval time, const std::string& name, std::uint32_t correlation) {
    const std::int64_t middle = time.begin + time.length() / 2;
    if (middle < analysis.window.begin || middle >= analysis.window.end) return;
    Exchange exchange{.time = time, .group = {}, .key = collective_of(name)};
    if (const auto id = trace.exchanges.find(correlation); id != trace.exchanges.end()) {
      exchange.group = trace.names.text(id->second.group);
      if (id->second.sequence >= 0) exchange.key += fmt::format(" {}", id->second.sequence);
    }
    exchanges.push_back(std::move(exchange));
  };
  for (const DeviceEvent& event : trace.device)
    if (event.work == DeviceWork::communication) add(event.time, trace.text(event), event.correlation);
  if (analysis.is_on_cpu) {
    for (const HostEvent& event : trace.host) {
      const std::string& name = trace.text(event);
      const bool is_carried_out = name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
      if (event.work == HostWork::communication && is_carried_out) add(event.time, name, 0);
    }
  }
  std::ranges::sort(exchanges, {}, [](const Exchange& one) { return one.time.begin; });
  return exchanges;
}

/// By key, in order.
using ByKey = std::map<std::string, std::vector<TraceInterval>>;
/// Of a rank, by group.
using ByGroup = std::map<std::string, ByKey>;

ByGroup by_group(const std::vector<Exchange>& exchanges) {
  ByGroup groups;
  for (const Exchange& one : exchanges) groups[one.group][one.key].push_back(one.time);
  return groups;
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

struct OnRank {
  std::size_t rank;  ///< index
  TraceInterval time;
};

/// One exchange on the ranks that take part, two or more.
using Matched = std::vector<OnRank>;

/// Of a group of ranks; `members`: the indexes of those that have exchanges of it. Returns how many have no
/// counterpart.
std::size_t match_group(const std::vector<ByGroup>& ranks, const std::string& group,
                        const std::vector<std::size_t>& members, std::vector<Matched>& all) {
  std::set<std::string> keys;
  for (const std::size_t rank : members)
    for (const auto& [key, own] : ranks[rank].at(group)) keys.insert(key);
  std::size_t left_out = 0;
  for (const std::string& key : keys) {
    std::size_t least = SIZE_MAX, most = 0;
    for (const std::size_t rank : members) {
      const ByKey& own = ranks[rank].at(group);
      const auto found = own.find(key);
      const std::size_t count = found == own.end() ? 0 : found->second.size();
      least = std::min(least, count);
      most = std::max(most, count);
    }
    left_out += most - least;
    // Windows end with the same step; at their beginning a rank may have one more.
    for (std::size_t i = 0; i < least; ++i) {
      Matched one;
      for (const std::size_t rank : members) {
        const std::vector<TraceInterval>& own = ranks[rank].at(group).at(key);
        one.push_back({rank, own[own.size() - least + i]});
      }
      all.push_back(std::move(one));
    }
  }
  return left_out;
}

std::vector<Matched> matched(const std::vector<ByGroup>& ranks, std::string& note) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const auto& [group, keys] : ranks[rank]) groups[group].push_back(rank);
  std::vector<Matched> all;
  std::size_t left_out = 0;
  for (auto& [group, members] : groups) {
    // Where a trace does not name groups, all ranks are one.
    if (group.empty() && members.size() < ranks.size()) continue;
    if (members.size() > 1) left_out += match_group(ranks, group, members, all);
  }
  if (left_out > 0) note = fmt::format("{} exchanges are not in the windows of all ranks", left_out);
  std::ranges::sort(all, {}, [](const Matched& one) { return one.front().time.begin; });
  return all;
}

constexpr double ns = 1e-9;

/// Leaves the exchanges of groups that are named and whose ranks run the same kernels.
void keep_groups_of_alike_ranks(const std::vector<TraceAnalysis>& ranks, std::vector<ByGroup>& groups) {
  std::map<std::string, std::size_t> first;  // rank of a group
  std::set<std::string> mixed{std::string()};
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const auto& [group, keys] : groups[rank])
      if (const auto [place, is_new] = first.try_emplace(group, rank); !is_new && !mixed.contains(group))
        if (!are_alike(ranks[place->second], ranks[rank])) mixed.insert(group);
  for (ByGroup& own : groups) std::erase_if(own, [&](const auto& one) { return mixed.contains(one.first); });
}

/// Sets the offsets of clocks, from a rank whose clock is known to those with which it has exchanges, and returns what
/// the ends of exchanges still differ by.
std::vector<double> align(const std::vector<Matched>& exchanges, const std::vector<TraceAnalysis>& ranks,
                          std::vector<RankWait>& waits) {
  const auto end_of = [&](const OnRank& one) {
    return static_cast<double>(one.time.end - ranks.front().trace.zero + ranks[one.rank].trace.zero) * ns;
  };
  std::vector<bool> is_known(ranks.size());
  is_known.front() = true;
  while (true) {
    std::map<std::size_t, std::vector<double>> offsets;
    for (const Matched& exchange : exchanges) {
      const auto known = std::ranges::find_if(exchange, [&](const OnRank& one) { return is_known[one.rank]; });
      if (known == exchange.end()) continue;
      for (const OnRank& one : exchange)
        if (!is_known[one.rank])
          offsets[one.rank].push_back(end_of(one) - end_of(*known) + waits[known->rank].clock_offset_s);
    }
    if (offsets.empty()) break;
    for (auto& [rank, own] : offsets) {
      waits[rank].clock_offset_s = median(std::move(own));
      is_known[rank] = true;
    }
  }
  std::vector<double> residuals;
  for (const Matched& exchange : exchanges) {
    const double first = end_of(exchange.front()) - waits[exchange.front().rank].clock_offset_s;
    for (const OnRank& one : exchange)
      residuals.push_back(std::abs(end_of(one) - waits[one.rank].clock_offset_s - first));
  }
  return residuals;
}

}  // namespace

RankWaits rank_waits(const std::vector<TraceAnalysis>& ranks) {
  RankWaits waits;
  if (ranks.size() < 2) return waits;
  std::vector<ByGroup> groups;
  bool are_all_alike = true;
  for (const TraceAnalysis& rank : ranks) {
    const bool is_alike = are_alike(ranks.front(), rank);
    are_all_alike = are_all_alike && is_alike;
    groups.push_back(by_group(exchanges_of(rank)));
  }
  // Stages of a pipeline have groups of their own, in which their ranks are alike.
  if (!are_all_alike) keep_groups_of_alike_ranks(ranks, groups);
  const std::vector<Matched> exchanges = matched(groups, waits.note);
  if (exchanges.empty()) {
    waits.note = are_all_alike
                     ? "the ranks have no exchanges in common: each is judged by itself"
                     : "the ranks run other kernels each, as stages of a pipeline do: their exchanges are not compared";
    return waits;
  }
  if (!are_all_alike)
    waits.note = "exchanges between ranks that run other kernels, as stages of a pipeline do, are not compared";
  waits.exchanges = exchanges.size();
  waits.ranks.resize(ranks.size());
  waits.residual_s = median(align(exchanges, ranks, waits.ranks));
  for (const Matched& exchange : exchanges) {
    const auto length = [](const OnRank& one) { return one.time.length(); };
    const auto shortest = std::ranges::min_element(exchange, {}, length);
    const std::int64_t transfer = length(*shortest);
    if (std::ranges::count(exchange, transfer, length) == 1) ++waits.ranks[shortest->rank].last;
    for (const OnRank& one : exchange) {
      RankWait& own = waits.ranks[one.rank];
      ++own.exchanges;
      own.waiting_s += static_cast<double>(length(one) - transfer) * ns;
      own.transfer_s += static_cast<double>(transfer) * ns;
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
    row.set("exchanges", static_cast<double>(own.exchanges) / std::max(ranks[r].step_count(), 1));
    if (last->last == 0) continue;
    const int rank = ranks[last_index].trace.rank;
    row.set("last_rank", rank >= 0 ? std::int64_t{rank} : static_cast<std::int64_t>(last_index));
    row.set("last_rank_share", static_cast<double>(last->last) / static_cast<double>(last->exchanges));
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
