// Collectives of the NCCL that runs on the CPU: each is done when the streams of all its ranks have come to it, in this
// process or in others. The streams' lock guards all of it.
#pragma once
#include <cstdint>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <nccl.h>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/cuda_on_cpu/nccl_processes.h"
#include "tests/support/cuda_on_cpu/nccl_reduce.h"

namespace gpubench::cuda_on_cpu {

struct NcclClique;

/// What is left of a communicator for as long as streams or graphs hold its collectives.
struct NcclMember {
  NcclClique* clique = nullptr;
  int rank = 0, gpu = 0;
  std::uint64_t next = 0;  // of its collectives, in the order in which they come into streams
  std::uint64_t done = 0;
  bool over = false;
  ncclResult_t error = ncclSuccess;
};

/// One collective of all ranks.
struct NcclMeeting {
  struct Place {
    cudaStream_t stream = nullptr;  // null: it has not come into a stream yet
    std::size_t ticket = 0;
    std::optional<NcclPart> part;  // when the stream has come to it
  };
  std::vector<Place> places;
  bool is_done = false;
};

struct NcclClique {
  std::string id;
  int size = 0;
  std::map<int, std::shared_ptr<NcclMember>> members;
  std::map<std::uint64_t, NcclMeeting> meetings;
  std::unique_ptr<NcclProcesses> processes;  // while ranks are missing in this one, and where they are in others
  bool broken = false;

  NcclMeeting& meeting(std::uint64_t number) {
    NcclMeeting& found = meetings[number];
    found.places.resize(static_cast<std::size_t>(size));
    return found;
  }
};

/// Since the start, of all communicators. Never destroyed: communicators that are static variables of tests end later.
struct NcclRecord {
  std::vector<std::string> misuses;
  int exchanges = 0;
};
NcclRecord& nccl_record();
void nccl_misuse(const std::string& what);

/// Has the stream come to the rank's collective `number`, as far as that can be.
void advance_to(NcclClique& clique, int rank, std::uint64_t number);
/// Whether the stream may go on behind the collective.
bool came_to(NcclMember& member, std::uint64_t number, const NcclPart& part);

}  // namespace gpubench::cuda_on_cpu
