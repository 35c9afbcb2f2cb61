#include "core/traces/graph_replays.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/trace/activity.h"

namespace gpubench {
namespace {

using KernelNames = std::vector<NameId>;

/// Whether the kernels of one replay are a part of those that another replay of the same graph has: its begin, its end,
/// or, where no other replay has the same, any of them.
bool is_part_of(const KernelNames& own, const KernelNames& whole, bool is_single) {
  if (2 * own.size() >= whole.size()) return false;
  if (std::ranges::equal(own, std::span(whole).first(own.size()))) return true;
  if (std::ranges::equal(own, std::span(whole).last(own.size()))) return true;
  if (!is_single) return false;
  // Kernels of several streams come in any order.
  KernelNames sorted = own, all = whole;
  std::ranges::sort(sorted);
  std::ranges::sort(all);
  return std::ranges::includes(all, sorted);
}

/// GraphReplays::partial of the kernels' names by launch.
std::size_t count_partial(const std::map<std::uint32_t, KernelNames>& replays) {
  std::map<KernelNames, std::size_t> how_often;
  for (const auto& [launch, names] : replays) ++how_often[names];
  std::vector<const KernelNames*> longest;
  for (const auto& [names, count] : how_often) longest.push_back(&names);
  std::ranges::stable_sort(longest, std::greater{}, [](const KernelNames* one) { return one->size(); });
  constexpr std::size_t most_compared = 100, least_repeats = 3;
  longest.resize(std::min(longest.size(), most_compared));
  std::size_t partial = 0;
  for (const auto& one : how_often) {
    const bool is_single = one.second < least_repeats;
    if (std::ranges::any_of(longest, [&](const auto* whole) { return is_part_of(one.first, *whole, is_single); }))
      partial += one.second;
  }
  return partial;
}

}  // namespace

GraphReplays graph_replays(const ForeignTrace& trace) {
  std::map<std::uint32_t, KernelNames> replays;  // by launch
  for (std::uint32_t i = 0; i < trace.host.size(); ++i)
    if (trace.host[i].work == HostWork::launch && is_graph_launch(trace.text(trace.host[i]))) replays[i];
  GraphReplays found{.launches = replays.size()};
  for (const DeviceEvent& event : trace.device)
    if (const auto own = replays.find(event.launch); own != replays.end()) {
      own->second.push_back(event.name);
      ++found.kernels;
    }
  if (found.kernels > 0) found.partial = count_partial(replays);
  return found;
}

}  // namespace gpubench
