#include "core/comm/factory.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/comm/hierarchical.h"
#include "core/comm/launch.h"
#include "core/comm/local/local_communicator.h"
#include "core/comm/mpi/mpi_group.h"
#include "core/comm/nccl/nccl_communicators.h"
#include "core/device/memory_nodes.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 4> names{"automatic", "local", "nccl", "reduction_to_one"};

std::string names_of(std::span<Device* const> devices) {
  std::vector<std::string> ids;
  for (const Device* device : devices) ids.push_back(to_string(device->id()));
  return fmt::format("{}", fmt::join(ids, ", "));
}

void check_distinct(std::span<Device* const> devices) {
  for (std::size_t i = 1; i < devices.size(); ++i) {
    const auto before = devices.first(i);
    if (std::ranges::find(before, devices[i]) == before.end()) continue;
    throw Error(fmt::format("{}: {} is there twice; every rank needs a device of its own", names_of(devices),
                            to_string(devices[i]->id())));
  }
}

bool are_gpus(std::span<Device* const> devices) {
  return std::ranges::all_of(devices, [](const Device* device) { return device->id().kind == DeviceId::Kind::gpu; });
}

void check_in_host_memory(std::span<Device* const> devices, CrossDevice cross_device) {
  if (std::ranges::all_of(devices, [](const Device* device) { return device->shares_host_memory(); })) return;
  throw Error(fmt::format(
      "{} cannot exchange {}: that is for CPU devices, whose memory all threads reach", names_of(devices),
      cross_device == CrossDevice::automatic ? "with each other"
                                             : fmt::format("by cross_device = \"{}\"", to_string(cross_device))));
}

void check_algorithm(std::span<Device* const> devices, CrossDevice cross_device, const ProcessGroup* group,
                     LocalAlgorithm algorithm) {
  const auto refuse = [&](std::string_view who) {
    throw Error(
        fmt::format("algorithm = \"{}\" is for CPU devices of one process, which exchange by cross_device = "
                    "\"local\"; {}",
                    to_string(algorithm), who));
  };
  if (cross_device == CrossDevice::reduction_to_one) refuse("\"reduction_to_one\" is a way of its own");
  if (cross_device == CrossDevice::nccl || are_gpus(devices)) refuse("NCCL chooses for itself (see its NCCL_ALGO)");
  if (group != nullptr) refuse("processes have one way");
}

/// Devices that lie on no node in particular are as near to each other as those of one.
std::vector<int> nodes_of(std::span<Device* const> devices) {
  std::vector<int> nodes;
  for (const Device* device : devices) nodes.push_back(device->memory_node() ? device->memory_node()->index : -1);
  return nodes;
}

}  // namespace

std::string_view to_string(CrossDevice cross_device) {
  return names[static_cast<std::size_t>(cross_device)];
}

CrossDevice parse_cross_device(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw Error(fmt::format("unknown cross_device '{}' (known: {})", name, fmt::join(names, ", ")));
  }
  return static_cast<CrossDevice>(found - names.begin());
}

std::vector<std::unique_ptr<Communicator>> make_communicators(std::span<Device* const> devices,
                                                              CrossDevice cross_device, ProcessGroup* group,
                                                              std::optional<LocalAlgorithm> algorithm) {
  if (devices.empty()) throw Error("a communicator needs at least one device");
  check_distinct(devices);
  if (algorithm) check_algorithm(devices, cross_device, group, *algorithm);
  if (cross_device == CrossDevice::nccl || (cross_device == CrossDevice::automatic && are_gpus(devices))) {
    return make_nccl_communicators(devices, group, nccl_patience());
  }
  check_in_host_memory(devices, cross_device);
  const auto local = [&] {
    return make_local_communicators(nodes_of(devices), cross_device == CrossDevice::reduction_to_one
                                                           ? LocalAlgorithm::reduction_to_one
                                                           : algorithm);
  };
  if (group == nullptr) return local();
  if (devices.size() > 1) return make_hierarchical_communicators(local(), local(), *group);
  std::vector<std::unique_ptr<Communicator>> one;
  one.push_back(group->communicator());
  return one;
}

std::unique_ptr<ProcessGroup> join_process_group(const JoinOptions& options) {
  const std::optional<Launch> launch = find_launch([](const char* name) { return std::getenv(name); });
  return launch ? join_by_mpi(*launch, options) : join_by_nccl_id(options);
}

}  // namespace gpubench
