// Several ranks together: how long each waits in exchanges for the one that comes last, and who that is. Ranks judged
// one by one contradict each other: the one that the others wait for has no communication.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/results/info.h"
#include "core/results/record.h"
#include "core/traces/analysis.h"

namespace gpubench {

struct RankWait {
  std::size_t exchanges = 0;  ///< that it shares with other ranks
  double waiting_s = 0;       ///< in all of them, until the last rank arrived
  double transfer_s = 0;      ///< from then on
  std::int64_t last = 0;      ///< exchanges to which this rank alone came last
  double clock_offset_s = 0;  ///< of its clock to that of the first rank, by the ends of exchanges, which coincide
};

struct RankWaits {
  std::vector<RankWait> ranks{};  ///< empty where they cannot be judged together
  std::size_t exchanges = 0;
  double residual_s = 0;  ///< median of what the ends still differ by
  std::string note{};     ///< why they cannot, or what was left out
};

/// Exchanges are matched by group and sequence number where the traces name them, else by their order among those of
/// one collective. An exchange takes as long as on the rank where it is shortest, and what it takes longer elsewhere is
/// waiting.
RankWaits rank_waits(const std::vector<TraceAnalysis>& ranks);

/// Sets the columns of exchanges in the rows of the ranks: communication_share without the waiting, peer_wait_share,
/// replicas, exchanges, last_rank and its share. Nothing where `waits` has no ranks.
void set_waits(std::vector<Record>& rows, const RankWaits& waits, const std::vector<TraceAnalysis>& ranks);

/// { exchanges, residual_s, note, ranks = { { rank, waiting_s, transfer_s, last, clock_offset_s } } }
Info waits_info(const RankWaits& waits, const std::vector<TraceAnalysis>& ranks);

}  // namespace gpubench
