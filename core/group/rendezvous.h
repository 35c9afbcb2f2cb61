// Lets processes that were started by hand find each other, through a shared file or a TCP address of rank 0. Each
// process contributes a text and receives the texts of all. Every wait has a time limit.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

struct Rendezvous {
  /// "file:/path" or "tcp://host:port"; rank 0 creates the file or listens at the port.
  std::string place;
  int rank = 0, size = 1;

  /// From GPUBENCH_NCCL_ID, GPUBENCH_RANK and GPUBENCH_RANKS; none without the first. Throws Error if they are
  /// inconsistent.
  static std::optional<Rendezvous> from_environment();

  /// Blocks until all have arrived; returns their texts by rank. Throws Error naming: a file or port that cannot be
  /// used, ranks that did not arrive within `patience`, inconsistent ranks.
  std::vector<std::string> meet(const std::string& mine, Seconds patience) const;
};

/// The implementations for both kinds of place, without its prefix.
std::vector<std::string> meet_at_file(const Rendezvous& rendezvous, const std::string& path, const std::string& mine,
                                      Seconds patience);
std::vector<std::string> meet_at_address(const Rendezvous& rendezvous, const std::string& address,
                                         const std::string& mine, Seconds patience);

/// The beginning of messages: "rank 1 of 2 at file:/tmp/id (GPUBENCH_NCCL_ID)".
std::string subject(const Rendezvous& rendezvous);
/// "rank 1", "ranks 1 and 2".
std::string ranks_text(const std::vector<int>& ranks);
/// Why a rank is refused: another group size, or a number that is taken; empty if it is accepted.
std::string refusal(const Rendezvous& rendezvous, int rank, int size, bool taken);

}  // namespace gpubench
