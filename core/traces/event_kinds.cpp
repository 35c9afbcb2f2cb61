#include "core/traces/event_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "core/trace/activity.h"

namespace gpubench {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool has_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return has(text, part); });
}

bool starts_with_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.starts_with(part); });
}

constexpr std::array<std::string_view, 14> allocating = {
    "Malloc",    "cudaFree", "hipFree",  "cuMemFree",  "HostAlloc",    "HostMalloc",     "MemAlloc",
    "MemCreate", "MemMap",   "MemUnmap", "MemRelease", "HostRegister", "HostUnregister", "MemAddressReserve"};

/// The function behind the file of a Python frame, "torch/_inductor/compile_fx.py(812): compile_fx_inner": running
/// compiled code passes through files that are named after the compiler.
std::string_view function_of(std::string_view frame) {
  const std::size_t end = frame.find("): ");
  return end == std::string_view::npos ? frame : frame.substr(end + 3);
}

constexpr std::array<std::string_view, 14> compiling = {"compile_inner",      "compile_fx",
                                                        "_compile_to_module", "AsyncCompile",
                                                        "make_cubin",         "ptxas",
                                                        "backend_compile",    "codegen_and_compile",
                                                        "XlaCompile",         "xla_compile",
                                                        "CompileModule",      "RunBackend",
                                                        "xla::Compile",       "tf.function-graph_building"};

bool is_compiling(std::string_view name) {
  const std::string_view function = function_of(name);
  if (has(function, "CompiledFxGraph") || has(function, "Compiled Region") || has(function, "Compiled Function"))
    return false;
  if (has_any(function, compiling)) return true;
  // JAX: "$pxla.py:1229 compile".
  return name.starts_with("$") && has(name, "pxla.py:") && name.ends_with(" compile");
}

constexpr std::array<std::string_view, 7> exchanging = {"nccl:", "gloo:", "c10d::", "record_param_comms",
                                                        "mpi:",  "ucc:",  "xccl:"};

constexpr std::array<std::string_view, 13> exchange_kernels = {"nccl",
                                                               "rccl",
                                                               "multimem_all_reduce",
                                                               "multimem_all_gather",
                                                               "cross_device_reduce",
                                                               "custom_all_reduce",
                                                               "deep_ep",
                                                               "nvshmem",
                                                               "oneccl",
                                                               "two_shot_all_reduce",
                                                               "one_shot_all_reduce",
                                                               "allreduce_fusion",
                                                               "lamport"};

/// Names of XLA, which appear as ops of a TPU.
constexpr std::array<std::string_view, 6> xla_exchanges = {"all-reduce",         "all-gather", "reduce-scatter",
                                                           "collective-permute", "all-to-all", "collective-broadcast"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

HostWork work_of_call(std::string_view name) {
  if (has_any(name, allocating)) return HostWork::allocation;
  switch (class_of_call(name)) {
    case SpanClass::host_sync:
      return HostWork::sync;
    case SpanClass::launch:
      return HostWork::launch;
    case SpanClass::compile:
      return HostWork::compile;
    default:
      return HostWork::call;
  }
}

bool is_communication_op(std::string_view name) {
  return starts_with_any(name, exchanging);
}

HostWork work_of_range(std::string_view name, HostWork usual) {
  if (name.starts_with("ProfilerStep")) return HostWork::step;
  if (has(name, "DataLoader") && !has(name, "pin_memory")) return HostWork::input;
  if (has(name, "torch/utils/data/dataloader.py") && (has(name, "__next__") || has(name, "_next_data")))
    return HostWork::input;
  if (name.starts_with("enumerate(DataPipe)") || name.starts_with("Iterator::") || has(name, "IteratorGetNext"))
    return HostWork::input;
  if (is_compiling(name)) return HostWork::compile;
  if (is_communication_op(name)) return HostWork::communication;
  constexpr std::array<std::string_view, 6> own_ranges = {
      "Optimizer.", "DistributedDataParallel.", "## Call ", "Torch-Compiled Region", "autograd::", "enumerate("};
  if (usual == HostWork::annotation && starts_with_any(name, own_ranges)) return HostWork::python;
  return usual;
}

DeviceWork work_of_kernel(std::string_view name, std::string_view op) {
  const std::string small = lower(name);
  if (has_any(small, exchange_kernels) || has_any(small, xla_exchanges) || is_communication_op(op))
    return DeviceWork::communication;
  if (has(small, "flashinfer") && has(small, "allreduce")) return DeviceWork::communication;
  if (has(name, "__amd_rocclr_copyBuffer")) return DeviceWork::copy;
  if (has(name, "__amd_rocclr_fillBuffer")) return DeviceWork::memset;
  return DeviceWork::kernel;
}

CopyPath path_of_copy(std::string_view name) {
  if (has(name, "Pageable -> Device")) return CopyPath::pageable_to_device;
  if (has(name, "Pinned -> Device")) return CopyPath::pinned_to_device;
  if (has(name, "HtoD") || has(name, "MemcpyH2D") || has(name, "CopyHostToDevice")) return CopyPath::host_to_device;
  if (has(name, "DtoH") || has(name, "MemcpyD2H") || has(name, "CopyDeviceToHost")) return CopyPath::device_to_host;
  if (has(name, "DtoD") || has(name, "MemcpyD2D") || has(name, "CopyDeviceToDevice") || has(name, "copyBuffer"))
    return CopyPath::within_device;
  if (has(name, "PtoP") || has(name, "MemcpyP2P")) return CopyPath::between_devices;
  return CopyPath::unknown;
}

bool is_float32_product(std::string_view kernel) {
  constexpr std::array<std::string_view, 12> with_tensor_cores = {
      "s16816", "s1688", "tf32", "hmma", "nvjet", "wgmma", "h16816", "bf16", "f16", "fp16", "tensorop", "half"};
  constexpr std::array<std::string_view, 5> products = {"sgemm", "scudnn", "gemmSN", "f32_aligned",
                                                        "sm80_xmma_gemm_f32f32"};
  return has_any(kernel, products) && !has_any(kernel, with_tensor_cores);
}

}  // namespace gpubench
