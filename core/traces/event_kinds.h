// What an event is, by its name: the rules that all formats share.
#pragma once
#include <string_view>

#include "core/traces/foreign_trace.h"

namespace gpubench {

/// Of a call of a device's runtime or driver: "cudaLaunchKernel", "hipMemcpy".
HostWork work_of_call(std::string_view name);
/// Of an operator, a range or a function: `usual` where its name says nothing else.
HostWork work_of_range(std::string_view name, HostWork usual);
/// Of a kernel, by its name and by the op that launched it: communication, copies in the shape of kernels, or a kernel.
DeviceWork work_of_kernel(std::string_view name, std::string_view op);
/// An op or a range that starts an exchange between ranks: "nccl:all_reduce", "c10d::allreduce_".
bool is_communication_op(std::string_view name);
/// "Memcpy HtoD (Pageable -> Device)", "MemcpyH2D", "CopyHostToDevice" (JAX on ROCm).
CopyPath path_of_copy(std::string_view name);
/// Matrix products and convolutions that compute float32 without tensor cores, by the libraries' names of kernels.
bool is_float32_product(std::string_view kernel);

}  // namespace gpubench
