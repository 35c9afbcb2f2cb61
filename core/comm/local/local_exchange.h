// One rank's part in the collectives of a process, in the order in which they are carried out.
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
  /// Without an `all_reduce` each takes the way that suits its size.
  LocalExchange(std::shared_ptr<LocalGroup> group, int rank, std::optional<LocalAlgorithm> all_reduce);

  /// Throws Error for what cannot be carried out, or not in the way that was chosen.
  void prepare(LocalCollective& collective) const;
  LocalAlgorithm algorithm(const Collective& collective) const;

  /// Blocks until this rank's tensors hold the result and no rank reads them any more. `arrived` is when this rank was
  /// ready for it. Throws PeerLost, and Error on all ranks when they ask for different things.
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
  /// Tells who asks for something else; throws.
  [[noreturn]] void refuse_unlike(Clock::duration spin);
  void depart(Clock::duration spin);

  void stage(const Collective& collective);
  /// `source(rank, tensor)` is where a rank's tensor, or its copy, lies.
  template <class Source>
  void finish_direct(const Collective& collective, const Source& source);
  void finish_tree(const Collective& collective);
  void finish_in_place(const LocalCollective& collective);
  void reduce_range(const LocalCollective& collective, std::size_t from, std::size_t to);
  void copy_range(const LocalCollective& collective, std::size_t to_rank, std::size_t from, std::size_t to);
  /// Calls piece(part, from, to) for ranges of the parts, one part of a rank, until all are done or taken: the own
  /// first, then those of ranks that are late. `bounds(part)` are a part's first byte and its end.
  template <class Bounds, class Piece>
  void share(const Bounds& bounds, const Piece& piece);

  std::shared_ptr<LocalGroup> group_;
  int rank_;
  std::optional<LocalAlgorithm> chosen_;
  bool meets_in_tree_;
  std::uint32_t arrivals_ = 0, departures_ = 0;  // collectives so far, and those that ranks left together
  std::size_t parity_ = 0;
  const TreePlace& place_;
  LocalRing ring_;
  std::vector<std::size_t> help_order_;    // parts of the work, the own first
  std::vector<const std::byte*> sources_;  // by rank
  std::vector<std::byte*> destinations_;
};

}  // namespace gpubench
