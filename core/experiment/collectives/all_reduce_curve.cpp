#include "core/experiment/collectives/all_reduce_curve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "core/base/enum_names.h"
#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr EnumNames<ExchangePattern, 2> patterns{"unknown pattern", {"ring", "tree"}};

double hops(int ranks, ExchangePattern pattern) {
  const auto n = static_cast<unsigned>(ranks);
  return 2.0 * (pattern == ExchangePattern::ring ? n - 1 : static_cast<unsigned>(std::bit_width(n - 1)));
}

double moved_share(int ranks) {
  return 2.0 * (ranks - 1) / ranks;
}

}  // namespace

std::string_view to_string(ExchangePattern pattern) {
  return patterns[pattern];
}

ExchangePattern parse_exchange_pattern(std::string_view name) {
  return patterns.parse(name);
}

AllReduceCurve::AllReduceCurve(int ranks, std::vector<AllReduceTime> times) : ranks_(ranks), times_(std::move(times)) {
  std::ranges::sort(times_, {}, &AllReduceTime::bytes);
  const bool positive = std::ranges::all_of(
      times_, [](const AllReduceTime& one) { return one.bytes > 0 && one.seconds > 0 && std::isfinite(one.seconds); });
  if (!positive) throw Error("scaling_model: sizes and times of all-reduces must be above 0");
  if (ranks < 2) throw Error(fmt::format("scaling_model: an all-reduce needs at least 2 replicas, got {}", ranks));
  const bool two_sizes = !times_.empty() && times_.front().bytes < times_.back().bytes;
  if (!two_sizes) {
    throw Error(
        fmt::format("scaling_model: latency and bandwidth follow from all-reduces of at least two sizes; there "
                    "is only one of {} replicas",
                    ranks));
  }
  fit();
}

std::size_t AllReduceCurve::sizes() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < times_.size(); ++i) count += i == 0 || times_[i].bytes != times_[i - 1].bytes;
  return count;
}

void AllReduceCurve::fit() {
  // Least squares of (latency + bytes * slope) / seconds - 1.
  double ones = 0, sizes = 0, squares = 0, right = 0, right_sizes = 0;
  for (const auto& [bytes, seconds] : times_) {
    const double weight = 1 / seconds, size = bytes * weight;
    ones += weight * weight, sizes += weight * size, squares += size * size;
    right += weight, right_sizes += size;
  }
  const double determinant = ones * squares - sizes * sizes;
  latency_ = (right * squares - right_sizes * sizes) / determinant;
  seconds_per_byte_ = (right_sizes * ones - right * sizes) / determinant;
  if (latency_ < 0) latency_ = 0, seconds_per_byte_ = right_sizes / squares;
  if (seconds_per_byte_ < 0) latency_ = right / ones, seconds_per_byte_ = 0;
}

double AllReduceCurve::interpolated(double bytes) const {
  const auto above = std::ranges::lower_bound(times_, bytes, {}, &AllReduceTime::bytes);
  if (above != times_.end() && above->bytes == bytes) return above->seconds;
  // The latency cannot exceed the shortest measured time.
  const double latency = std::min(latency_, times_.front().seconds);
  if (above == times_.begin()) return latency + (above->seconds - latency) * bytes / above->bytes;
  const AllReduceTime& below = *(above - 1);
  if (above == times_.end()) return latency + std::max(0.0, below.seconds - latency) * bytes / below.bytes;
  return below.seconds + (above->seconds - below.seconds) * (bytes - below.bytes) / (above->bytes - below.bytes);
}

double AllReduceCurve::seconds(double bytes, int ranks, ExchangePattern pattern) const {
  if (ranks == 1) return 0;
  const double here = interpolated(bytes), latency = std::min(latency_, here);
  return latency * hops(ranks, pattern) / hops(ranks_, pattern) +
         (here - latency) * moved_share(ranks) / moved_share(ranks_);
}

double AllReduceCurve::seconds_from_others(double bytes) const {
  std::vector<AllReduceTime> others = times_;
  std::erase_if(others, [bytes](const AllReduceTime& one) { return one.bytes == bytes; });
  return AllReduceCurve(ranks_, std::move(others)).interpolated(bytes);
}

}  // namespace gpubench
