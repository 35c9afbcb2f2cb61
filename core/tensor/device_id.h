// Names of devices: "cpu:0", "gpu:1", "emulated:h200:0". Keras' form "/GPU:0" is accepted too.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpubench {

struct DeviceId {
  /// A new kind needs a value here and a row in the table of device_id.cpp.
  enum class Kind : std::uint8_t { cpu, gpu, emulated };
  Kind kind = Kind::cpu;
  std::int16_t index = 0;
  /// The accelerator that an emulated device simulates ("h200"); empty for the other kinds.
  std::string model;

  auto operator<=>(const DeviceId&) const = default;
};

/// "gpu".
std::string_view to_string(DeviceId::Kind kind);
/// The name of such a device in messages: "CPU device", "GPU".
std::string_view noun(DeviceId::Kind kind);
std::string to_string(const DeviceId& id);
/// Case does not matter; a missing index is 0. Throws Error showing the accepted forms.
DeviceId parse_device_id(std::string_view name);

}  // namespace gpubench
