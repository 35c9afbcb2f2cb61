// Makes communicators; factory.cpp is the one file that names their implementations.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/comm/communicator.h"
#include "core/comm/local/local_communicator.h"
#include "core/group/process_group.h"

namespace gpubench {

/// How replicas of one process exchange: names as in Keras, where they are classes.
enum class CrossDevice : std::uint8_t {
  automatic,         ///< nccl for GPUs, local for CPU devices
  local,             ///< by the replicas' threads in host memory, and MPI between processes; GPUs' tensors are copied
  nccl,              ///< GPUs
  reduction_to_one,  ///< as local, but the first rank of a process adds up for all of it and hands out the sum
};
std::string_view to_string(CrossDevice cross_device);
/// Throws Error listing the names.
CrossDevice parse_cross_device(std::string_view name);

/// One rank for each of this process's devices, in their order; with other processes in `group` (nullptr: none) a
/// collective call, and ranks count through all processes. Devices are all of one kind: others' kernels round in other
/// ways, and replicas would not stay equal. Throws Error where the devices cannot exchange that way, naming them.
/// All-reduces of CPU devices of one process may be told which `algorithm` to take.
std::vector<std::unique_ptr<Communicator>> make_communicators(std::span<Device* const> devices,
                                                              CrossDevice cross_device, ProcessGroup* group,
                                                              std::optional<LocalAlgorithm> algorithm = std::nullopt);

/// A new communicator with one rank per process, for tensors in the host's memory; a collective call. It lives until
/// ProcessGroup::conclude(). Throws Error for processes that are not joined by MPI.
std::unique_ptr<Communicator> make_communicator(ProcessGroup& group);

}  // namespace gpubench
