#include "core/comm/factory.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/comm/emulated/emulated_communicator.h"
#include "core/comm/hierarchical.h"
#include "core/comm/local/local_communicator.h"
#include "core/comm/mpi/mpi_communicator.h"
#include "core/comm/nccl/nccl_factory.h"
#include "core/comm/staged/staged_communicator.h"
#include "core/device/device.h"
#include "core/device/memory_nodes.h"

namespace gpubench {
namespace {

constexpr EnumNames<CrossDevice, 4> cross_devices{"unknown cross_device",
                                                  {"automatic", "local", "nccl", "reduction_to_one"}};

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

/// Devices of one kind, each with a memory of its own.
bool have_own_memory(std::span<Device* const> devices) {
  return std::ranges::all_of(devices, [&](const Device* device) {
    return !device->shares_host_memory() && device->id().kind == devices[0]->id().kind;
  });
}

/// GPUs exchange by NCCL unless another way is asked for; emulated devices stand for GPUs.
bool exchange_by_nccl(std::span<Device* const> devices, CrossDevice cross_device) {
  const DeviceId::Kind kind = devices[0]->id().kind;
  const bool uses_nccl = kind == DeviceId::Kind::gpu || kind == DeviceId::Kind::emulated;
  const bool alike = std::ranges::all_of(devices, [&](const Device* device) { return device->id().kind == kind; });
  return cross_device == CrossDevice::nccl || (cross_device == CrossDevice::automatic && uses_nccl && alike);
}

bool are_emulated(std::span<Device* const> devices) {
  return std::ranges::all_of(devices, [](const Device* device) { return !device->emulation().empty(); });
}

void check_together(std::span<Device* const> devices, CrossDevice cross_device) {
  const bool in_host_memory = std::ranges::all_of(devices, [](Device* device) { return device->shares_host_memory(); });
  if (in_host_memory || have_own_memory(devices)) return;
  throw Error(fmt::format(
      "{} cannot exchange {}: CPU devices exchange with CPU devices, and GPUs with GPUs", names_of(devices),
      cross_device == CrossDevice::automatic ? "with each other"
                                             : fmt::format("by cross_device = \"{}\"", to_string(cross_device))));
}

/// Compares all processes before any of them can wait for the others. Only NCCL allows different numbers of ranks per
/// process.
void check_alike(std::span<Device* const> devices, CrossDevice cross_device, bool by_nccl, ProcessGroup& group) {
  const std::string kind = fmt::format("{}{}", noun(devices[0]->id().kind), devices.size() == 1 ? "" : "s");
  const std::string mine =
      by_nccl ? "GPUs that exchange by NCCL"
              : fmt::format("{} {} for cross_device = \"{}\"", devices.size(), kind, to_string(cross_device));
  const std::vector<std::string> texts = group.all_gather(mine);
  for (int rank = 1; rank < group.size(); ++rank) {
    const std::string& text = texts[static_cast<std::size_t>(rank)];
    if (text == texts[0]) continue;
    throw Error(fmt::format("a strategy needs equally many devices of one kind in each process: {} has {}, {} has {}",
                            group.name_of(0), texts[0], group.name_of(rank), text));
  }
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
  if (exchange_by_nccl(devices, cross_device)) refuse("NCCL chooses for itself (see its NCCL_ALGO)");
  if (have_own_memory(devices)) refuse("copies of what GPUs hold have one way");
  if (group != nullptr) refuse("processes have one way");
}

/// Devices that lie on no node in particular are as near to each other as those of one.
std::vector<int> nodes_of(std::span<Device* const> devices) {
  std::vector<int> nodes;
  for (const Device* device : devices) nodes.push_back(device->memory_node() ? device->memory_node()->index : -1);
  return nodes;
}

/// In the host's memory.
std::vector<std::unique_ptr<Communicator>> make_host_communicators(std::span<Device* const> devices,
                                                                   std::optional<LocalAlgorithm> algorithm,
                                                                   ProcessGroup* group) {
  const auto local = [&] { return make_local_communicators(nodes_of(devices), algorithm); };
  if (group == nullptr) return local();
  if (devices.size() > 1) {
    TwoLevels inline_levels{local(), make_communicator(*group)};
    return make_hierarchical_communicators(std::move(inline_levels), {local(), make_communicator(*group)});
  }
  std::vector<std::unique_ptr<Communicator>> one;
  one.push_back(make_communicator(*group));
  return one;
}

/// By way of the host, or of an MPI that knows GPUs.
std::vector<std::unique_ptr<Communicator>> make_gpu_communicators(std::span<Device* const> devices,
                                                                  std::optional<LocalAlgorithm> algorithm,
                                                                  ProcessGroup* group) {
  std::vector<std::unique_ptr<Communicator>> communicators;
  if (group != nullptr && devices.size() == 1) communicators.push_back(make_mpi_communicator(*group, devices[0]));
  const bool in_place = !communicators.empty() && communicators[0] != nullptr;
  if (!in_place) communicators = make_host_communicators(devices, algorithm, group);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    communicators[i] = make_staged_communicator(*devices[i], std::move(communicators[i]),
                                                in_place ? StagedTensors::in_place : StagedTensors::copied);
  }
  return communicators;
}

}  // namespace

std::string_view to_string(CrossDevice cross_device) {
  return cross_devices[cross_device];
}

CrossDevice parse_cross_device(std::string_view name) {
  return cross_devices.parse(name);
}

std::vector<std::unique_ptr<Communicator>> make_communicators(std::span<Device* const> devices,
                                                              CrossDevice cross_device, ProcessGroup* group,
                                                              std::optional<LocalAlgorithm> algorithm) {
  if (devices.empty()) throw Error("a communicator needs at least one device");
  check_distinct(devices);
  if (algorithm) check_algorithm(devices, cross_device, group, *algorithm);
  const bool by_nccl = exchange_by_nccl(devices, cross_device);
  if (!by_nccl) check_together(devices, cross_device);
  if (by_nccl && are_emulated(devices)) {
    if (group == nullptr) return make_emulated_communicators(devices);
    throw Error(fmt::format("{} cannot exchange with other processes: emulated devices exchange within one",
                            names_of(devices)));
  }
  if (group != nullptr) check_alike(devices, cross_device, by_nccl, *group);
  if (by_nccl) return make_nccl_communicators(devices, group, nccl_patience());
  if (cross_device == CrossDevice::reduction_to_one) algorithm = LocalAlgorithm::reduction_to_one;
  return have_own_memory(devices) ? make_gpu_communicators(devices, algorithm, group)
                                  : make_host_communicators(devices, algorithm, group);
}

std::unique_ptr<Communicator> make_communicator(ProcessGroup& group) {
  std::unique_ptr<Communicator> made = make_mpi_communicator(group, nullptr);
  if (made) return made;
  throw Error(
      "tensors in the host's memory go between processes through MPI: start them with mpirun or gpubench run "
      "--workers");
}

}  // namespace gpubench
