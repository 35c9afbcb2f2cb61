// The cost of exchanges on GPUs, from their traces. A GPU's collective kernel begins when that GPU arrives and ends
// when the collective ends. So the rank with the shortest kernel did not wait: it arrived last, and its kernel's
// duration is that of the exchange. Only durations are compared between ranks, because the clocks of GPUs and machines
// differ by more than an exchange takes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/breakdown.h"

namespace gpubench {

/// A collective in the trace of one GPU.
struct TracedExchange {
  Clock::duration length{};
  /// Intervals, relative to its beginning, in which the GPU ran no other kernel; they do not overlap those of earlier
  /// exchanges.
  struct Stretch {
    Clock::duration begin, end;
    bool operator==(const Stretch&) const = default;
  };
  std::vector<Stretch> bare;
};
using ExchangeTrace = std::vector<TracedExchange>;

/// The exchanges of GPU `gpu` (Span::gpu), in the order of their beginnings. A span belongs to the window that contains
/// its middle, because the clocks of GPU and host agree only within some microseconds.
ExchangeTrace trace_exchanges(std::span<const Span> spans, int gpu, Window window);

/// By rank: the durations of all collectives on that rank. Equal indices are the same collective.
using ExchangeLengths = std::vector<std::vector<Clock::duration>>;

/// Sums over all collectives. CommunicationTimes has the same sums for exchanges by the host.
struct TracedCost {
  Clock::duration exchange{};   ///< from the arrival of the last rank to the end
  Clock::duration exposed{};    ///< part of `exchange` in which no other kernel ran
  Clock::duration peer_wait{};  ///< before the arrival of the last rank, while no other kernel ran
  /// By rank: how often it arrived last. If several kernels are equally short, none counts.
  std::vector<std::int64_t> last_arrivals;
};

/// The cost of exchanges for the rank with the trace `own`. `lengths`: of all ranks, including this one, of equal
/// length.
TracedCost exchange_cost(const ExchangeTrace& own, const ExchangeLengths& lengths);

}  // namespace gpubench
