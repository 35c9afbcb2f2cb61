#include "core/graph/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace gpubench {
namespace {

std::size_t largest_live_sum(std::span<const Lifetime> lifetimes, std::span<const std::size_t> sizes) {
  std::map<int, std::ptrdiff_t> change;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    change[lifetimes[i].first] += static_cast<std::ptrdiff_t>(sizes[i]);
    change[lifetimes[i].last + 1] -= static_cast<std::ptrdiff_t>(sizes[i]);
  }
  std::ptrdiff_t live = 0, largest = 0;
  for (const auto& [step, bytes] : change) largest = std::max(largest, live += bytes);
  return static_cast<std::size_t>(largest);
}

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, std::size_t alignment) {
  std::vector<std::size_t> sizes, order(lifetimes.size());
  for (const Lifetime& lifetime : lifetimes) sizes.push_back((lifetime.bytes + alignment - 1) / alignment * alignment);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });

  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  plan.lower_bound = largest_live_sum(lifetimes, sizes);
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t next : order) {
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (!overlap(lifetimes[next], lifetimes[other])) continue;
      if (plan.offsets[other] >= offset + sizes[next]) break;  // the gap before `other` is wide enough
      offset = std::max(offset, plan.offsets[other] + sizes[other]);
    }
    plan.offsets[next] = offset;
    plan.total = std::max(plan.total, offset + sizes[next]);
    const auto at = std::upper_bound(placed.begin(), placed.end(), offset,
                                     [&](std::size_t o, std::size_t i) { return o < plan.offsets[i]; });
    placed.insert(at, next);
  }
  return plan;
}

}  // namespace gpubench
