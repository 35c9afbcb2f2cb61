// What exchanges cost GPUs, from their traces. A GPU's kernel of a collective begins when that GPU arrives and ends
// when the collective ends. So the rank with the shortest kernel did not wait: it came last, and its kernel's length is
// the exchange. Only lengths are compared between ranks, because clocks of GPUs and of machines differ by more than an
// exchange takes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/telemetry/breakdown.h"

namespace gpubench {

/// A collective as the trace of one GPU shows it.
struct TracedExchange {
  Clock::duration length{};
  /// Its stretches, from its beginning, in which the GPU ran no other kernel; they do not overlap those of exchanges
  /// before it.
  struct Stretch {
    Clock::duration begin, end;
    bool operator==(const Stretch&) const = default;
  };
  std::vector<Stretch> bare;
};
using ExchangeTrace = std::vector<TracedExchange>;

/// The exchanges of GPU `gpu` (Span::gpu), in the order in which they began. A span belongs to the window that holds
/// its middle: the clocks of a GPU and of the host agree to some microseconds.
ExchangeTrace trace_exchanges(std::span<const Span> spans, int gpu, Window window);

/// By rank: how long each collective took there. Those with the same place are one collective.
using ExchangeLengths = std::vector<std::vector<Clock::duration>>;

/// Sums over all collectives. CommunicationTimes holds the same for exchanges that the host carries out.
struct TracedCost {
  Clock::duration exchange{};   ///< from the arrival of the last rank to the end
  Clock::duration exposed{};    ///< of that, while no other kernel ran
  Clock::duration peer_wait{};  ///< before the last rank had arrived, while no other kernel ran
  /// By rank: how often it was the last to arrive. Where several kernels are equally short, no rank counts.
  std::vector<std::int64_t> last_arrivals;
};

/// What exchanges cost the rank with the trace `own`. `lengths`: of all ranks, this one included, equally many each.
TracedCost exchange_cost(const ExchangeTrace& own, const ExchangeLengths& lengths);

}  // namespace gpubench
