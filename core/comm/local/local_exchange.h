// One rank's part in the collectives of a process.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/comm/exchange_clock.h"
#include "core/comm/local/local_communicator.h"
#include "core/comm/local/local_group.h"
#include "core/comm/local/local_ring.h"

namespace gpubench {

class LocalExchange {
 public:
  /// Without `all_reduce`, each all-reduce uses the algorithm that suits its size.
  LocalExchange(std::shared_ptr<LocalGroup> group, int rank, std::optional<LocalAlgorithm> all_reduce);

  /// Throws Error for a collective that is impossible, or impossible with the chosen algorithm.
  void prepare(LocalCollective& collective) const;
  LocalAlgorithm algorithm(const Collective& collective) const;

  /// Blocks until this rank's tensors hold the result and no other rank reads them. `arrived`: when this rank was
  /// ready. Throws PeerLost, and Error on all ranks when their requests differ.
  ExchangeOutcome carry_out(const LocalCollective& collective, Clock::time_point arrived, Clock::duration spin);

 private:
  using Member = LocalGroup::Member;
  Member& member(int rank) const { return group_->member(rank); }
  const Collective& request(int rank) const { return *member(rank).requests[parity_].collective; }

  /// Returns once all ranks have arrived.
  void meet(const Collective& collective, ExchangeOutcome& outcome, Clock::duration spin);
  void meet_all(Clock::duration spin);
  void meet_in_tree(const Collective& collective, Clock::duration spin);
  void add_up(const Collective& collective);
  /// Throws Error that names the rank with a different request.
  [[noreturn]] void refuse_unlike(Clock::duration spin);
  void depart(Clock::duration spin);

  void stage(const Collective& collective);
  /// `source(rank, tensor)` returns the address of a rank's tensor or of its copy.
  template <class Source>
  void finish_direct(const Collective& collective, const Source& source);
  void finish_tree(const Collective& collective);
  void finish_in_place(const LocalCollective& collective);
  void reduce_range(const LocalCollective& collective, std::size_t from, std::size_t to);
  void copy_range(const LocalCollective& collective, std::size_t to_rank, std::size_t from, std::size_t to);
  /// Calls piece(part, from, to) for ranges of all parts (one part per rank) until all are done or taken by other
  /// ranks. Starts with this rank's part, then helps ranks that are late. `bounds(part)`: a part's first byte and its
  /// end.
  template <class Bounds, class Piece>
  void share(const Bounds& bounds, const Piece& piece);

  std::shared_ptr<LocalGroup> group_;
  int rank_;
  std::optional<LocalAlgorithm> chosen_;
  bool meets_in_tree_;
  std::uint32_t arrivals_ = 0, departures_ = 0;  // collectives so far, and how many of them all ranks left together
  std::size_t parity_ = 0;
  const TreePlace& place_;
  LocalRing ring_;
  std::vector<std::size_t> help_order_;    // parts of the work, this rank's first
  std::vector<const std::byte*> sources_;  // by rank
  std::vector<std::byte*> destinations_;
};

}  // namespace gpubench
