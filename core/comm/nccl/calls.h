// A collective as NCCL's calls.
#pragma once
#include <cuda_runtime_api.h>

#include "core/comm/collective.h"
#include "core/comm/nccl/nccl.h"

namespace gpubench::nccl {

/// Throws Error where NCCL cannot do it: sums of a type that it does not add, parts that do not make up the whole.
void check_possible(const Collective& collective, int size);
/// Queues all tensors, within the caller's group; the first failure ends it.
ncclResult_t call(const Collective& collective, ncclComm_t comm, cudaStream_t stream);

}  // namespace gpubench::nccl
