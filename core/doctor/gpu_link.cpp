// How a GPU is connected: lanes and generation of its PCIe link, and whether this process runs on the near processors.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/doctor/checks.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

/// "sys/bus/pci/devices/0000:1b:00.0": NVML writes domains with eight digits and upper case, the kernel with four.
std::string pci_folder(const MachineGpu& gpu) {
  constexpr std::size_t surplus_digits = 4;
  std::string id = normal_bus_id(gpu.gpu.bus_id).substr(surplus_digits);
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return "sys/bus/pci/devices/" + id;
}

std::string link_text(const PcieLink& link) {
  return fmt::format("generation {}, {}", link.generation, format_count(link.lanes, "lane"));
}

}  // namespace

CheckResult check_gpu_link(const Machine& machine, const MachineGpu& gpu) {
  const auto now = gpu.sensors->link();
  auto most = gpu.sensors->max_link();
  if (!now || !most) return unknown("the driver does not report the PCIe link");
  // The driver's maximum is that of card and slot together; the kernel also knows the card's.
  const auto lanes = leading_number(machine.read(pci_folder(gpu) + "/max_link_width").text);
  constexpr double most_lanes = 32;
  if (lanes && *lanes > most->lanes && *lanes <= most_lanes) most->lanes = static_cast<unsigned>(*lanes);
  if (now->lanes < most->lanes) {
    return costs_speed(fmt::format("{}, and the card has {}", link_text(*now), format_count(most->lanes, "lane")),
                       fmt::format("copies between host and GPU take {:.3g} times as long",
                                   static_cast<double>(most->lanes) / std::max(now->lanes, 1U)),
                       "seat the card anew, or use a slot with all lanes (the BIOS may share them)");
  }
  // An idle GPU lowers its link's generation to save power.
  const bool idle = (gpu.sensors->throttle_reasons().value_or(0) & gpu_idle_reason) != 0;
  if (!idle && now->generation < most->generation) {
    return costs_speed(fmt::format("{}, and generation {} is possible", link_text(*now), most->generation),
                       "copies between host and GPU are slower than they could be",
                       "look for a limit of the generation in the BIOS, or a bad riser or cable");
  }
  return ok(link_text(idle ? PcieLink{most->generation, now->lanes} : *now));
}

CheckResult check_gpu_numa(const Machine& machine, const MachineGpu& gpu) {
  const std::string folder = pci_folder(gpu);
  const FileText list = machine.read(folder + "/local_cpulist");
  if (!list.was_read()) return unknown(list.error);
  const std::vector<int> near = parse_processors(list.text);
  if (near.empty()) return unknown(fmt::format("/{}/local_cpulist names no processors", folder));
  const std::vector<int>& own = machine.sources().processors;
  const bool meet = std::ranges::find_first_of(own, near) != own.end();
  if (meet || own.empty()) return ok(fmt::format("near processors {}", processors_text(near)));
  const std::string node = trimmed(machine.read(folder + "/numa_node").text);
  return costs_speed(fmt::format("this process runs on processors {}, the GPU is near {}", processors_text(own),
                                 processors_text(near)),
                     "copies to the GPU cross the link between the processors' sockets",
                     fmt::format("numactl --cpunodebind={0} --membind={0} gpubench ...", node.empty() ? "N" : node));
}

}  // namespace gpubench
