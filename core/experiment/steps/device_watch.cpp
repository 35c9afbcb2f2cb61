#include "core/experiment/steps/device_watch.h"

#include <array>
#include <cmath>

#include "core/device/device.h"

namespace gpubench {

DeviceWatch::DeviceWatch(Runtime& runtime) : runtime_(runtime) {
  bool has_gpus = false;
  for_each_device([&](Device& device) { has_gpus = has_gpus || !device.bus_id().empty(); });
  if (has_gpus) nvml_ = open_nvml();
}

void DeviceWatch::begin() {
  for_each_device([](Device& device) { device.memory().reset_peak(); });
  gpus_.emplace(gpus_in_use(), nvml_).begin();
  cpu_.emplace();
}

void DeviceWatch::end() {
  gpus_->end();
  std::array<double, 4> readings{};
  cpu_->read(readings);
  cpu_share_ = readings[0];
}

Seconds DeviceWatch::copy_time() const {
  Seconds time{};
  for_each_device([&](Device& device) { time += device.copy_time().value_or(Seconds{}); });
  return time;
}

void DeviceWatch::describe(Record& record, double examples) const {
  std::int64_t peak = 0, reserved = 0;
  for_each_device([&](Device& device) {
    const MemoryUse memory = device.memory().use();
    peak += static_cast<std::int64_t>(memory.peak);
    reserved += static_cast<std::int64_t>(memory.reserved);
  });
  record.set("peak_memory_bytes", peak);
  record.set("reserved_memory_bytes", reserved);
  record.set_measured("cpu_share", cpu_share_);  // not measured if the system does not report CPU time
  gpus_->describe(record, examples);
}

std::vector<WatchedGpu> DeviceWatch::gpus_in_use() const {
  std::vector<WatchedGpu> gpus;
  for_each_device([&](Device& device) {
    if (device.bus_id().empty() || device.memory().use().in_use == 0) return;
    gpus.push_back({to_string(device.id()), device.bus_id(), device.slice().has_value()});
  });
  return gpus;
}

}  // namespace gpubench
