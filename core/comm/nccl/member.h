// What processes tell each other before they join by NCCL, and the checks that they can exchange: NCCL's own errors say
// little.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace gpubench::nccl {

struct Gpu {
  std::string name;    ///< "gpu:1"
  std::string bus_id;  ///< of the physical one
};

/// One process.
struct Member {
  std::string name;  ///< "worker-3 (pid 4711)"
  std::string host;  ///< the same for processes of one machine alone
  std::string version;
  std::vector<Gpu> gpus;
  std::string unique_id;  ///< of the first process; others leave it empty
  std::string failure;    ///< why it cannot take part; empty when it can

  std::string as_text() const;
  /// Throws Error for what as_text() of this program never gave.
  static Member from_text(const std::string& text);
};

/// Why two of a process's devices cannot be ranks; empty when all can.
std::string conflict_among(std::span<const Gpu> gpus);
/// Throws Error where the members cannot exchange: one has failed, NCCL of two versions, one GPU in two processes.
void check_together(std::span<const Member> members);

}  // namespace gpubench::nccl
