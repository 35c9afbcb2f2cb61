// What the ranks of one process share: a place for each rank's request and small tensors, and how far it has come. The
// memory of all of them is in reach, so a rank reads and writes the tensors of others where they lie.
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

/// What a rank takes at a time: some microseconds of work, so that ranks end together, and far more than taking costs.
inline constexpr std::size_t piece_bytes = std::size_t{128} << 10;

/// What one rank asks for, where others see it.
struct LocalRequest {
  const Collective* collective = nullptr;
  std::uint64_t signature = 0;
  Clock::time_point arrived;
  /// Of the ranks below in the tree, later of all: whether they ask for the same, and the last to arrive.
  bool alike = true;
  Clock::time_point last_arrived = {};
  int last_rank = 0;
};

class LocalGroup {
 public:
  /// Tensors of so many bytes in all go through staged copies: one meeting of the ranks, where work on the tensors
  /// themselves needs a second one before they may be changed. By comm_local_bench: on two cores of an EPYC 9005 a
  /// meeting takes 0.15 us, and copies of 4 KiB 0.3 us more than none.
  static constexpr std::size_t staged_bytes = std::size_t{2} << 10;

  /// So many ranks look at all others when they meet; more meet along a tree.
  static constexpr int flat_ranks = 8;

  /// Requests and copies are kept for two collectives in turn: a rank arrives at the next but one only when all have
  /// arrived at the next, and so are done with this one.
  struct alignas(128) Member {
    WaitableCount arrivals, releases, departures, ring_pieces;
    std::array<LocalRequest, 2> requests;
    /// Pieces of this rank's share that somebody has taken.
    alignas(128) std::array<std::atomic<std::size_t>, 2> pieces_taken{};
    alignas(128) std::atomic<bool> at_work{false};
    std::array<std::unique_ptr<std::byte[]>, 2> staged;
  };

  /// A rank for each element: the memory node that it is near.
  explicit LocalGroup(std::vector<int> node_of_rank);

  int size() const { return static_cast<int>(members_.size()); }
  const TreePlace& place(int rank) const { return tree_[static_cast<std::size_t>(rank)]; }
  std::vector<int> help_order(int rank) const { return gpubench::help_order(node_of_rank_, rank); }
  /// The ranks one after the other, those of a node together: the last is the first one's left neighbour.
  const std::vector<int>& ring() const { return ring_; }
  Member& member(int rank) { return members_[static_cast<std::size_t>(rank)]; }

  /// All waits end, now and from now on. The first reason counts.
  void abort(const std::string& reason) noexcept;
  /// `rank` asks for nothing any more.
  void leave(int rank) noexcept;
  /// Throws PeerLost once aborted.
  void check_alive() const;
  /// Waits for a count of `rank`. Throws PeerLost when it never comes, and when nobody works on others' memory any
  /// more.
  void wait(const WaitableCount& reached, std::uint32_t count, int rank, Clock::duration spin) const;

  /// While it lives, `member` works on others' memory, which they keep for as long. Throws PeerLost once aborted.
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
