// Names of devices: "cpu:0", "gpu:1", "emulated:h200:0". Keras' "/GPU:0" is read too.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpubench {

struct DeviceId {
  /// A new kind is a value here and a row of the table in device_id.cpp.
  enum class Kind : std::uint8_t { cpu, gpu, emulated };
  Kind kind = Kind::cpu;
  std::int16_t index = 0;
  /// Which accelerator an emulated device stands for ("h200"); empty for the other kinds.
  std::string model;

  auto operator<=>(const DeviceId&) const = default;
};

/// "gpu".
std::string_view to_string(DeviceId::Kind kind);
/// What messages call such a device: "CPU device", "GPU".
std::string_view noun(DeviceId::Kind kind);
std::string to_string(const DeviceId& id);
/// Case does not matter; a missing index is 0. Throws Error showing the forms that are possible.
DeviceId parse_device_id(std::string_view name);

}  // namespace gpubench
