// What replicas spend on each other while their steps are measured: of every rank, the time that it waited for others
// and that its exchanges took, and so its own. Where GPUs exchange, the host does not see that; a trace does, which
// comes after the measuring.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/comm/communicator.h"
#include "core/exec/replicas.h"
#include "core/experiment/replica_trace.h"
#include "core/results/record.h"

namespace gpubench {

/// Means of a step, in seconds.
struct RankTimes {
  std::string device;    ///< "cpu:1"; of other processes with their names
  double own = 0;        ///< the step less what follows: input, kernels, and what the host does
  double peer_wait = 0;  ///< standing still until the last rank had arrived
  double exposed = 0;    ///< standing still for exchanges that all had come to
  double exchange = 0;   ///< exchanges in all, those beside the kernels too
  double bytes = 0;
  double exchanges = 0;
  /// Whether the times are known.
  bool timed = false;
  std::vector<std::int64_t> last_arrivals;  ///< by rank
};

/// What processes tell each other of their ranks. Throws Error for a text that is none.
std::string rank_times_text(const std::vector<RankTimes>& ranks);
std::vector<RankTimes> rank_times_in(const std::string& text);

class ReplicaWatch {
 public:
  explicit ReplicaWatch(Replicas& replicas) : replicas_(replicas) {}
  void begin();
  /// After so many steps, which took so long together. With other processes a collective call.
  void end(std::int64_t steps, Seconds time);
  /// After end(): whether the communicators told no times, on any rank.
  bool needs_trace() const;
  /// The times of what was measured are those of a few more steps. With other processes a collective call.
  void add_trace(const ReplicaTrace& trace);
  /// Why times are not known; empty where they are.
  std::string absence() const;

  /// Sets device, replicas, exchange_bytes and exchanges; and where times are known communication_share,
  /// peer_wait_share, overlap_share, imbalance, last_rank, last_rank_share and exchange_time_s: means over all ranks,
  /// since none is like another, and shares of the steps that were timed or traced.
  void describe(Record& record) const;
  /// By rank.
  const std::vector<RankTimes>& ranks() const { return ranks_; }
  Replicas& replicas() const { return replicas_; }

 private:
  /// Of all processes, of this one's.
  void gather(std::vector<RankTimes> own);

  Replicas& replicas_;
  std::vector<CommunicationTimes> before_;
  std::vector<RankTimes> ranks_;
  std::string absence_;
  double step_ = 0;
};

/// The rank that waited least for others, so that they waited for it, and the share of exchanges to which it came last.
struct LastRank {
  std::int64_t rank = 0;
  double share = 0;
};
LastRank last_rank(const std::vector<RankTimes>& ranks);

/// How much longer the slowest rank's own time is than the mean of all: 0 where all are as fast.
double imbalance(const std::vector<RankTimes>& ranks);

/// The parts of a batch that would take all replicas equally long, the largest 1: as much as each does in its own time,
/// in seconds, of the `shares` that it was measured with. Takes a time for proportional to the share.
std::vector<double> balanced_shares(const std::vector<double>& own_times, const std::vector<double>& shares);

}  // namespace gpubench
