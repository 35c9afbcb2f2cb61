// How processes that were started by hand find each other: through a file that all can see, or at a TCP address of rank
// 0. Each brings a text and receives those of all. Every wait has a time limit.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

struct Rendezvous {
  /// "file:/path" or "tcp://host:port": rank 0 makes the file, or listens at the port.
  std::string place;
  int rank = 0, size = 1;

  /// What GPUBENCH_NCCL_ID, GPUBENCH_RANK and GPUBENCH_RANKS say; none without the first. Throws Error where they do
  /// not go together.
  static std::optional<Rendezvous> from_environment();

  /// Blocks until all have come; their texts by rank. Throws Error naming the file or port that cannot be had, who has
  /// not come within `patience`, and ranks that do not go together.
  std::vector<std::string> meet(const std::string& mine, Seconds patience) const;
};

/// The two places, without their prefixes.
std::vector<std::string> meet_at_file(const Rendezvous& rendezvous, const std::string& path, const std::string& mine,
                                      Seconds patience);
std::vector<std::string> meet_at_address(const Rendezvous& rendezvous, const std::string& address,
                                         const std::string& mine, Seconds patience);

/// The start of messages: "rank 1 of 2 at file:/tmp/id (GPUBENCH_NCCL_ID)".
std::string subject(const Rendezvous& rendezvous);
/// "rank 1", "ranks 1 and 2".
std::string ranks_text(const std::vector<int>& ranks);
/// Why a rank cannot stand where it wants to: of another size, or with a number that is taken; empty when it can.
std::string refusal(const Rendezvous& rendezvous, int rank, int size, bool taken);

}  // namespace gpubench
