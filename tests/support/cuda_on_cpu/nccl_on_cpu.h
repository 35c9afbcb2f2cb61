// What tests may do to the NCCL that runs on the CPU, and what they did wrong with it. Its communicators are ranks of
// one process, on the GPUs of gpu.h, as late as these: calls take effect only when they have been asked for, a
// collective only when the streams of all its ranks have come to it.
#pragma once
#include <nccl.h>
#include <string>
#include <vector>

namespace gpubench::cuda_on_cpu {

struct Nccl {
  int version = NCCL_VERSION_CODE;
  /// How often ncclCommGetAsyncError says that a call is in progress before it is done.
  int polls = 3;
  /// Returned by ncclGetUniqueId.
  ncclResult_t broken = ncclSuccess;
};
Nccl& nccl();

/// From now on NCCL reports `error` to the communicators of this rank, and their collectives never end.
void fail_rank(int rank, ncclResult_t error);
/// Uses of NCCL that have no defined result, since the last call: ranks that ask for different collectives, graphs that
/// outlive their communicator, ...
std::vector<std::string> take_misuses();
/// Communicators that were neither destroyed nor aborted.
int live_communicators();
/// Collectives that were carried out since the start.
int exchanges();
/// Communicators that were aborted since the start.
int aborts();

}  // namespace gpubench::cuda_on_cpu
