#include "core/graph/memory_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "core/base/align.h"

namespace gpubench {
namespace {

constexpr std::size_t most_turns = 400;
constexpr std::size_t most_comparisons = std::size_t{50} << 20U;

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

struct Placement {
  std::vector<std::size_t> offsets;
  std::size_t total = 0;
};

/// Places buffers in this order, each into the lowest gap that fits.
Placement place(std::span<const Lifetime> lifetimes, std::span<const std::size_t> sizes,
                std::span<const std::size_t> order) {
  Placement result{std::vector<std::size_t>(lifetimes.size(), 0)};
  std::vector<std::size_t>& offsets = result.offsets;
  std::vector<std::size_t> placed;  // by offset
  placed.reserve(order.size());
  for (const std::size_t next : order) {
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (!overlap(lifetimes[next], lifetimes[other])) continue;
      if (offsets[other] >= offset + sizes[next]) break;  // the gap before `other` is wide enough
      offset = std::max(offset, offsets[other] + sizes[other]);
    }
    offsets[next] = offset;
    result.total = std::max(result.total, offset + sizes[next]);
    const auto at = std::upper_bound(placed.begin(), placed.end(), offset,
                                     [&](std::size_t o, std::size_t i) { return o < offsets[i]; });
    placed.insert(at, next);
  }
  return result;
}

/// Local search over orders: each turn moves a buffer that lies above the lower bound forward, and keeps the new order
/// unless it is worse. The seed is fixed, so that equal graphs have equal plans.
class Walk {
 public:
  Walk(std::span<const Lifetime> lifetimes, std::span<const std::size_t> sizes, std::size_t lower_bound)
      : lifetimes_(lifetimes), sizes_(sizes), lower_bound_(lower_bound) {}

  void from(std::vector<std::size_t> order, std::size_t turns) {
    Placement current = keep(place(lifetimes_, sizes_, order));
    for (std::size_t turn = 0; turn < turns && best_.total > lower_bound_; ++turn) {
      std::vector<std::size_t> next = order;
      promote(next, current);
      Placement placement = keep(place(lifetimes_, sizes_, next));
      if (placement.total > current.total) continue;
      current = std::move(placement);
      order = std::move(next);
    }
  }
  Placement best() && { return std::move(best_); }

 private:
  void promote(std::vector<std::size_t>& order, const Placement& placement) {
    std::vector<std::size_t> high;  // positions in the order
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (placement.offsets[order[i]] + sizes_[order[i]] > lower_bound_) high.push_back(i);
    }
    // If only the first in the order lies above the bound, move any buffer.
    const std::size_t from = high.empty() ? 1 + random_() % (order.size() - 1) : high[random_() % high.size()];
    const std::size_t to = random_() % from;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to), order.begin() + static_cast<std::ptrdiff_t>(from),
                order.begin() + static_cast<std::ptrdiff_t>(from) + 1);
  }

  Placement keep(Placement placement) {
    if (best_.offsets.empty() || placement.total < best_.total) best_ = placement;
    return placement;
  }

  std::span<const Lifetime> lifetimes_;
  std::span<const std::size_t> sizes_;
  std::size_t lower_bound_;
  Placement best_;
  std::minstd_rand random_;
};

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, std::size_t alignment) {
  if (lifetimes.empty()) return {};
  std::vector<std::size_t> sizes, order(lifetimes.size());
  for (const Lifetime& lifetime : lifetimes) sizes.push_back(align_up(lifetime.bytes, alignment));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t lower_bound = largest_live_sum(lifetimes, sizes);

  // Comparing a pair of buffers takes about a nanosecond, so large graphs get fewer turns.
  const std::size_t turns = std::min(most_turns, most_comparisons / (order.size() * order.size()));
  Walk walk(lifetimes, sizes, lower_bound);
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return sizes[i]; });
  walk.from(order, turns);
  // The order by lifetime helps where sizes mislead: long-lived buffers lie below, short-lived ones above them.
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return lifetimes[i].last - lifetimes[i].first; });
  walk.from(order, turns);
  Placement best = std::move(walk).best();
  return {std::move(best.offsets), best.total, lower_bound};
}

}  // namespace gpubench
