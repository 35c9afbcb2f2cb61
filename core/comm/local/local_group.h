// State shared by the ranks of one process: each rank's request, small tensors and progress. All memory is shared, so a
// rank reads and writes the tensors of others directly.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/comm/host_communicator.h"
#include "core/comm/local/rank_tree.h"
#include "core/comm/waitable_count.h"

namespace gpubench {

/// Work that a rank claims at a time: some microseconds' worth, so that ranks finish together, and much more than
/// claiming costs.
inline constexpr std::size_t piece_bytes = std::size_t{128} << 10;

/// One rank's request, visible to the others.
struct LocalRequest {
  const Collective* collective = nullptr;
  std::uint64_t signature = 0;
  Clock::time_point arrived;
  /// Combined over this rank and the ranks below it in the tree (at last over all): whether requests are equal, and
  /// when the last rank arrived.
  bool alike = true;
  Clock::time_point last_arrived = {};
  int last_rank = 0;
};

class LocalGroup {
 public:
  /// Collectives up to this size use staged copies, which need one meeting of the ranks; working on the tensors
  /// themselves needs a second meeting before they may change. From comm_local_bench on two cores of an EPYC 9005: a
  /// meeting takes 0.15 us, and copies of 4 KiB cost 0.3 us more than none.
  static constexpr std::size_t staged_bytes = std::size_t{2} << 10;

  /// Up to this many ranks each check all others when they meet; more ranks meet along a tree.
  static constexpr int flat_ranks = 8;

  /// Requests and copies are double-buffered: a rank reaches the collective after the next only when all ranks have
  /// arrived at the next one, and so are done with this one.
  struct alignas(128) Member {
    WaitableCount arrivals, releases, departures, ring_pieces;
    std::array<LocalRequest, 2> requests;
    /// Pieces of this rank's part that some rank has claimed.
    alignas(128) std::array<std::atomic<std::size_t>, 2> pieces_taken{};
    alignas(128) std::atomic<bool> at_work{false};
    std::array<std::unique_ptr<std::byte[]>, 2> staged;
  };

  /// One rank for each element: the NUMA node that it is close to.
  explicit LocalGroup(std::vector<int> node_of_rank);

  int size() const { return static_cast<int>(members_.size()); }
  const TreePlace& place(int rank) const { return tree_[static_cast<std::size_t>(rank)]; }
  std::vector<int> help_order(int rank) const { return gpubench::help_order(node_of_rank_, rank); }
  /// The ranks in ring order, with the ranks of a node next to each other: the last one is the first one's left
  /// neighbour.
  const std::vector<int>& ring() const { return ring_; }
  Member& member(int rank) { return members_[static_cast<std::size_t>(rank)]; }

  /// Ends all current and later waits. The first reason counts.
  void abort(const std::string& reason) noexcept;
  /// Declares that `rank` will request nothing more.
  void leave(int rank) noexcept;
  /// Throws PeerLost once aborted.
  void check_alive() const;
  /// Waits until `rank` reaches a count. Throws PeerLost when the count is never reached, once no rank works on others'
  /// memory any more.
  void wait(const WaitableCount& reached, std::uint32_t count, int rank, Clock::duration spin) const;

  /// While it lives, `member` works on the memory of others, who keep it valid for as long. Throws PeerLost after
  /// abort().
  class Work {
   public:
    Work(const LocalGroup& group, Member& member);
    ~Work() { member_.at_work.store(false); }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    Member& member_;
  };

 private:
  [[noreturn]] void throw_lost(int rank) const;

  std::vector<Member> members_;
  std::vector<int> node_of_rank_;
  std::vector<TreePlace> tree_;
  std::vector<int> ring_;
  std::atomic<bool> aborted_{false};
  mutable std::mutex mutex_;
  std::string reason_;  // guarded by mutex_
};

}  // namespace gpubench
