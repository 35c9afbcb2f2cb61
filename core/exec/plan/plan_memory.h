// What the memory of a plan holds, known before any of it is taken: by layer and kind at the moment of the peak, and
// launch by launch. Gradients are the tensors that updates of trainable variables read, and the parts of sums that
// become such a tensor. All other tensors that die within a run are activations, gradients by activations included.
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

/// What one layer (or loss, optimizer, "metrics") holds of one kind.
struct MemoryHolder {
  std::string layer;
  MemoryKind kind = MemoryKind::activations;
  std::size_t bytes = 0;
};

/// Bytes of the arena that are alive while a kernel or copy runs.
struct LaunchMemory {
  std::string label;
  std::string_view op;
  std::size_t bytes = 0;
};

/// A plan's memory on one device, in the units that its pool hands out.
struct DeviceMemory {
  DeviceId device;
  std::vector<MemoryHolder> at_peak;   ///< largest first
  std::vector<LaunchMemory> timeline;  ///< in order, of the device's own launches
  std::size_t peak_launch = 0;         ///< in the timeline: when most is alive
  std::size_t arena = 0;               ///< planned for what dies within a run
  std::size_t lower_bound = 0;         ///< of the arena: the most that is alive at one time
  std::size_t peak_activations = 0;    ///< the most that they take at one time, which may be another than the peak
  std::size_t offloaded = 0;           ///< of the host's memory, for activations that wait there for their gradients

  std::size_t bytes_of(MemoryKind kind) const;
  /// All that the plan takes from the device's pool.
  std::size_t total() const;
};

/// One for each device of the plan. `optimizer_state`: which of its variables are the optimizer's. `feed`: how inputs
/// arrive, which on devices with memory of their own takes slots.
std::vector<DeviceMemory> memory_of(const Plan& plan, const Devices& devices, InputFeed feed,
                                    std::span<const VariablePtr> optimizer_state);

}  // namespace gpubench
