// NCCL's functions, found when the first communicator is made: nothing links against the library, so one program runs
// on machines without it.
#pragma once
#include <nccl.h>
#include <string>
#include <string_view>

namespace gpubench::nccl {

/// The functions by their names in nccl.h, without the prefix.
struct Functions {
  decltype(ncclGetVersion)* get_version;
  decltype(ncclGetUniqueId)* get_unique_id;
  decltype(ncclGetErrorString)* get_error_string;
  decltype(ncclGetLastError)* get_last_error;
  decltype(ncclCommInitRankConfig)* comm_init_rank_config;
  decltype(ncclCommFinalize)* comm_finalize;
  decltype(ncclCommDestroy)* comm_destroy;
  decltype(ncclCommAbort)* comm_abort;
  decltype(ncclCommGetAsyncError)* comm_get_async_error;
  decltype(ncclGroupStart)* group_start;
  decltype(ncclGroupEnd)* group_end;
  decltype(ncclAllReduce)* all_reduce;
  decltype(ncclAllGather)* all_gather;
  decltype(ncclReduceScatter)* reduce_scatter;
  decltype(ncclBroadcast)* broadcast;
};

/// Opens the library at the first call. Throws Error saying where it was looked for and what to install.
const Functions& functions();

/// "2.28.9" of NCCL's 22809.
std::string version_text(int code);
/// Of the library that is used; throws as functions().
std::string library_version();
/// "nccl 2.28.9"; with the version of the header that the program was built with, where that is another.
std::string name();

/// What NCCL says about a failure; `comm`, which may be null, is asked for the last error.
std::string reason(ncclResult_t status, ncclComm_t comm);
/// Throws DeviceError with the call and the reason. ncclInProgress is no failure.
void check(ncclResult_t status, std::string_view call, ncclComm_t comm = nullptr);

}  // namespace gpubench::nccl
