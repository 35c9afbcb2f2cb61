// Ranks of one communicator in several processes, for the NCCL that runs on the CPU: a file of shared memory with a
// seat for each rank, where it lays down what it asks for and brings, and takes nobody's before all have done so. The
// file has the name of the unique id, and none any more as soon as all have come.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/cuda_on_cpu/nccl_reduce.h"

namespace gpubench::cuda_on_cpu {

class NcclProcesses {
 public:
  /// Of what one rank brings; memory is taken when it is used.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  NcclProcesses(const std::string& id, int size);
  ~NcclProcesses();
  NcclProcesses(const NcclProcesses&) = delete;
  NcclProcesses& operator=(const NcclProcesses&) = delete;

  /// A rank of this process has come.
  void sit(int rank);
  /// Whether all have.
  bool all_sit();

  /// How many collectives a rank has brought its part of, and taken the results of.
  std::uint64_t brought(int rank) const;
  std::uint64_t taken(int rank) const;
  /// Copies a rank's part of the collective after those that it has brought; all have taken those.
  void bring(int rank, const NcclPart& part);
  /// What all have brought, in the order of ranks, with nowhere to write to.
  std::vector<NcclPart> parts() const;
  void take(int rank);

 private:
  struct Seat;
  Seat& seat(int rank) const;

  std::string name_;
  int size_;
  std::size_t bytes_;
  std::byte* memory_ = nullptr;
};

}  // namespace gpubench::cuda_on_cpu
