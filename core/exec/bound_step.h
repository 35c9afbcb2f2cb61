// A planned step with its memory: what the graph executor does when it comes to it.
#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "core/backend/backend.h"
#include "core/comm/communicator.h"
#include "core/exec/device_copy.h"
#include "core/exec/side_copy.h"

namespace gpubench {

/// A kernel, or one of what follows it; its tensors are spans into memory of the executor.
struct BoundStep {
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  Kernel* kernel = nullptr;
  std::size_t device = 0;
  std::span<const TensorView> inputs;
  std::span<const TensorView> outputs;
  std::span<std::byte> workspace;
  std::unique_ptr<DeviceCopy> copy;               // instead of a kernel
  std::unique_ptr<SideCopy> side_copy;            // or this one, begun
  std::optional<Collective> exchange;             // or this, at once
  std::unique_ptr<SideCollective> side_exchange;  // or begun
  std::size_t ends = none;                        // or the end of what that launch began
  double exchanged = 0;                           // bytes, of either exchange
  bool reads_input = false;
  bool by_host = false;  // it is, or ends, an exchange in which the host has a part: it cannot be recorded

  bool exchanges() const { return exchange || side_exchange != nullptr; }
  bool begins() const { return side_copy != nullptr || side_exchange != nullptr; }
  /// What is queued on `stream` from now on starts after what it began.
  void join(Stream& stream) const {
    if (side_copy != nullptr) side_copy->join(stream);
    if (side_exchange != nullptr) side_exchange->end(stream);
  }
};

}  // namespace gpubench
