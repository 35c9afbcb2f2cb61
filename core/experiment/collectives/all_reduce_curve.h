// The time of an all-reduce as a function of its size, from measurements with one number of ranks, and its prediction
// for other numbers of ranks. The latency grows with the hops of a message, the rest with the bytes per rank.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpubench {

/// How a message reaches all ranks: 2 (n - 1) hops around a ring, or 2 ceil(log2 n) hops up and down a tree. In both,
/// each rank moves at least 2 (n - 1) / n of the message (NCCL's double tree uses all links as well as its ring does).
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
  /// Times measured with `ranks` ranks (at least 2), for at least two sizes, in any order. Throws Error otherwise.
  AllReduceCurve(int ranks, std::vector<AllReduceTime> times);

  int ranks() const { return ranks_; }
  /// Number of different sizes measured.
  std::size_t sizes() const;
  /// Least-squares fit by relative error: seconds = latency + bytes * seconds_per_byte. Neither is negative.
  double latency() const { return latency_; }
  double seconds_per_byte() const { return seconds_per_byte_; }

  /// Linear between measured sizes; beyond them, latency plus constant bandwidth. For another number of `ranks` the
  /// time is scaled by the pattern. 0 for one rank.
  double seconds(double bytes, int ranks, ExchangePattern pattern) const;
  /// The time of a measured size, predicted from the other sizes only: tests the curve between its points.
  double seconds_from_others(double bytes) const;

 private:
  void fit();
  double interpolated(double bytes) const;

  int ranks_;
  std::vector<AllReduceTime> times_;  // sorted by size
  double latency_ = 0, seconds_per_byte_ = 0;
};

}  // namespace gpubench
