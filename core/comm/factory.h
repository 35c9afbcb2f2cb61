// Creates communicators; factory.cpp is the only file that names their implementations.
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

class Device;

/// How the replicas of one process exchange; the names follow Keras' classes.
enum class CrossDevice : std::uint8_t {
  automatic,  ///< nccl for GPUs and emulated devices, local for CPU devices
  local,  ///< by the replicas' threads in host memory, and MPI between processes; GPU tensors are copied to the host
  nccl,   ///< GPUs; emulated devices take the time of it
  reduction_to_one,  ///< as local, but the first rank of a process computes the whole sum and distributes it
};
std::string_view to_string(CrossDevice cross_device);
/// Throws Error listing the names.
CrossDevice parse_cross_device(std::string_view name);

/// One rank for each of this process's devices, in their order. With other processes in `group` (nullptr: none) it is a
/// collective call, and ranks are numbered through all processes. All devices must be of one kind: kernels of another
/// kind round differently, and replicas would drift apart. Throws Error naming the devices if they cannot exchange that
/// way. `algorithm` can fix the algorithm of all-reduces among CPU devices of one process.
std::vector<std::unique_ptr<Communicator>> make_communicators(std::span<Device* const> devices,
                                                              CrossDevice cross_device, ProcessGroup* group,
                                                              std::optional<LocalAlgorithm> algorithm = std::nullopt);

/// A new communicator with one rank per process, for tensors in host memory; a collective call. Valid until
/// ProcessGroup::conclude(). Throws Error if the processes are not connected by MPI.
std::unique_ptr<Communicator> make_communicator(ProcessGroup& group);

}  // namespace gpubench
