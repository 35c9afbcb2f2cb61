// One rank's part in the collectives of a process.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/comm/local/local_communicator.h"
#include "core/comm/local/local_group.h"
#include "core/comm/local/local_ring.h"

namespace gpubench {

class LocalExchange final : public HostExchange {
 public:
  /// Without `all_reduce`, each all-reduce uses the algorithm that suits its size.
  LocalExchange(std::shared_ptr<LocalGroup> group, int rank, std::optional<LocalAlgorithm> all_reduce);

  int rank() const override { return rank_; }
  int size() const override { return group_->size(); }
  std::string_view noun() const override { return "rank"; }
  std::string_view name() const override { return "local"; }
  std::string algorithm(const Collective& collective) const override { return std::string(to_string(way(collective))); }
  void check(const Collective& collective) const override;
  /// With a single rank, an in-place collective has nothing to do.
  bool is_done(const Collective& collective) const override;
  ExchangeOutcome carry_out(const PreparedCollective& asked, Clock::time_point arrived, Clock::duration spin) override;
  void abort(const std::string& reason) noexcept override { group_->abort(reason); }
  void leave() noexcept override { group_->leave(rank_); }

 private:
  LocalAlgorithm way(const Collective& collective) const;

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
  void finish_in_place(const PreparedCollective& collective);
  void reduce_range(const PreparedCollective& collective, std::size_t from, std::size_t to);
  void copy_range(const PreparedCollective& collective, std::size_t to_rank, std::size_t from, std::size_t to);
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
