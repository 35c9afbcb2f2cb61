// A collective as NCCL's calls.
#pragma once
#include <cuda_runtime_api.h>

#include "core/comm/collective.h"
#include "core/comm/nccl/nccl_functions.h"

namespace gpubench::nccl {

/// Queues all tensors, within the caller's group; the first failure ends it. It is one that
/// check_collective lets pass.
ncclResult_t call(const Collective& collective, ncclComm_t comm, cudaStream_t stream);

}  // namespace gpubench::nccl
