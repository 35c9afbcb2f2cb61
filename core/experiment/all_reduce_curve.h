// The time of an all-reduce by its size, from measurements on one number of ranks, and its prediction for other numbers
// of ranks. The latency grows with the hops of a message, the rest with the bytes that a rank moves.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpubench {

/// How a message reaches all ranks: 2 (n - 1) hops around a ring, or 2 ceil(log2 n) up and down a tree. In both a rank
/// moves 2 (n - 1) / n of the message at least (NCCL's two trees use every link as well as its ring does).
enum class ExchangePattern : std::uint8_t { ring, tree };
std::string_view to_string(ExchangePattern pattern);
/// Throws Error listing the names.
ExchangePattern parse_exchange_pattern(std::string_view name);

struct AllReduceTime {
  double bytes = 0;
  double seconds = 0;
};

class AllReduceCurve {
 public:
  /// Times of `ranks` ranks, at least 2, for at least two sizes, in any order. Throws Error otherwise.
  AllReduceCurve(int ranks, std::vector<AllReduceTime> times);

  int ranks() const { return ranks_; }
  /// How many different sizes it is made of.
  std::size_t sizes() const;
  /// Latency and the reciprocal of bandwidth that are nearest to all times, by the squares of relative errors:
  /// seconds = latency + bytes * seconds_per_byte. None is negative.
  double latency() const { return latency_; }
  double seconds_per_byte() const { return seconds_per_byte_; }

  /// A line between the sizes measured; beyond them, latency and a constant bandwidth. `ranks` other than those
  /// measured: scaled by the pattern. Nothing for one rank.
  double seconds(double bytes, int ranks, ExchangePattern pattern) const;
  /// The time of a measured size as the other sizes predict it: the test of how good the curve is between its points.
  double seconds_from_others(double bytes) const;

 private:
  void fit();
  double interpolated(double bytes) const;

  int ranks_;
  std::vector<AllReduceTime> times_;  // by size
  double latency_ = 0, seconds_per_byte_ = 0;
};

}  // namespace gpubench
