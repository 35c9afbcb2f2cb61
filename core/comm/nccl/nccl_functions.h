// NCCL's functions, loaded when the first communicator is created: nothing links against the library, so one program
// also runs on machines without it.
#pragma once
#include <nccl.h>
#include <string>
#include <string_view>

namespace gpubench::nccl {

/// The functions under their names in nccl.h, without the prefix.
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

/// Opens the library at the first call. Throws Error with the places that were searched and what to install.
const Functions& functions();

/// "2.28.9" for NCCL's code 22809.
std::string version_text(int code);
/// Version of the loaded library; throws as functions().
std::string library_version();
/// "nccl 2.28.9", followed by the version of the header at build time if it differs.
std::string name();

/// NCCL's text for a status, with the last error of `comm` unless that is null.
std::string reason(ncclResult_t status, ncclComm_t comm);
/// Throws DeviceError with the call and the reason; accepts ncclInProgress.
void check(ncclResult_t status, std::string_view call, ncclComm_t comm = nullptr);

}  // namespace gpubench::nccl
