// What processes exchange before they connect by NCCL, and checks that they can communicate, because NCCL's own errors
// explain little.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace gpubench::nccl {

struct Gpu {
  std::string name;    ///< "gpu:1"
  std::string bus_id;  ///< of the physical GPU
};

/// One process.
struct Member {
  std::string name;  ///< "worker-3 (pid 4711)"
  std::string host;  ///< identifies the machine
  std::string version;
  std::vector<Gpu> gpus;
  std::string unique_id;  ///< of the first process; empty in others
  std::string failure;    ///< why this process cannot take part; empty if it can

  std::string as_text() const;
  /// Throws Error for text that as_text() of this version cannot have produced.
  static Member from_text(const std::string& text);
};

/// Why two devices of a process cannot be ranks; empty if all can.
std::string conflict_among(std::span<const Gpu> gpus);
/// Throws Error if the members cannot communicate: one has failed, NCCL versions differ, or two processes use one GPU.
void check_together(std::span<const Member> members);

}  // namespace gpubench::nccl
