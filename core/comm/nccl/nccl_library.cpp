// Opens NCCL. Apart from nccl.cpp, because tests put an NCCL that runs on the CPU in this file's place.
#include <cuda_runtime_api.h>
#include <memory>

#include "core/comm/nccl/nccl_functions.h"
#include "core/nvidia/gpu_library.h"

namespace gpubench::nccl {
namespace {

/// Never closed: the library's own threads outlive our last call.
const SharedLibrary& library() {
  static const SharedLibrary& opened =
      *std::make_unique<SharedLibrary>(require_gpu_library(nccl_library, CUDART_VERSION)).release();
  return opened;
}

Functions bind(const SharedLibrary& from) {
  Functions to{};
  from.bind(to.get_version, "ncclGetVersion");
  from.bind(to.get_unique_id, "ncclGetUniqueId");
  from.bind(to.get_error_string, "ncclGetErrorString");
  from.bind(to.get_last_error, "ncclGetLastError");
  from.bind(to.comm_init_rank_config, "ncclCommInitRankConfig");
  from.bind(to.comm_finalize, "ncclCommFinalize");
  from.bind(to.comm_destroy, "ncclCommDestroy");
  from.bind(to.comm_abort, "ncclCommAbort");
  from.bind(to.comm_get_async_error, "ncclCommGetAsyncError");
  from.bind(to.group_start, "ncclGroupStart");
  from.bind(to.group_end, "ncclGroupEnd");
  from.bind(to.all_reduce, "ncclAllReduce");
  from.bind(to.all_gather, "ncclAllGather");
  from.bind(to.reduce_scatter, "ncclReduceScatter");
  from.bind(to.broadcast, "ncclBroadcast");
  return to;
}

}  // namespace

const Functions& functions() {
  static const Functions bound = bind(library());
  return bound;
}

}  // namespace gpubench::nccl
