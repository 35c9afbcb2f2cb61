// What a plan's memory holds, known before any is allocated: by layer and kind at the peak, and launch by launch.
// Gradients are the tensors that updates of trainable variables read, and the terms of sums that become such a tensor.
// All other tensors within a run are activations, including gradients with respect to activations.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/plan/plan.h"

namespace gpubench {

enum class MemoryKind : std::uint8_t { variables, optimizer, gradients, activations, workspace, inputs, constants };
inline constexpr std::size_t memory_kinds = 7;
std::string_view to_string(MemoryKind kind);

/// Bytes of one kind that belong to owners of one name.
struct MemoryHolder {
  std::string layer;  ///< or loss, optimizer, "metrics"; inputs and constants have their own label
  MemoryKind kind = MemoryKind::activations;
  std::size_t bytes = 0;
};

/// Arena bytes that are alive while a kernel or copy runs.
struct LaunchMemory {
  std::string label;
  std::string_view op;
  std::size_t bytes = 0;
};

/// A plan's memory on one device, in the block sizes of its pool.
struct DeviceMemory {
  DeviceId device;
  std::vector<MemoryHolder> at_peak;   ///< largest first
  std::vector<LaunchMemory> timeline;  ///< the device's own launches, in order
  std::size_t peak_launch = 0;         ///< index in the timeline at which most is alive
  std::size_t arena = 0;               ///< planned for all values within a run
  std::size_t lower_bound = 0;         ///< for the arena: the largest sum alive at the same time
  std::size_t peak_activations = 0;    ///< their largest sum at one time, which may be another time than the peak
  std::size_t offloaded = 0;           ///< host memory for offloaded activations

  std::size_t bytes_of(MemoryKind kind) const;
  /// Everything that the plan takes from the device's pool.
  std::size_t total() const;
};

/// One for each device of the plan. `optimizer_state`: the variables that belong to the optimizer. `feed`: how inputs
/// arrive; devices with their own memory need slots for them.
std::vector<DeviceMemory> memory_of(const Plan& plan, const Devices& devices, InputFeed feed,
                                    std::span<const VariablePtr> optimizer_state);

/// Of all devices, in bytes.
std::size_t total(std::span<const DeviceMemory> memory);

}  // namespace gpubench
