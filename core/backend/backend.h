// Describe, plan, execute: an Op describes, a Backend plans it for fixed types on one device, the Kernel executes. A
// backend never falls back: what it cannot run it refuses with the reason.
#pragma once
#include <any>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/graph/op.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

/// What a kernel is planned for. Tensors are row-major on every backend, images channels last; a kernel that computes
/// in an order of its own converts within its run.
struct Signature {
  std::span<const TensorType> inputs;
  std::span<const TensorType> outputs;
};

/// One op prepared for fixed types on one device: every choice made, nothing left to check. run() allocates nothing,
/// may be called any number of times with other memory of the same types, but not by two threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Which implementation was chosen, for traces and reports: "onednn:jit:avx512_core", "loop".
  virtual std::string_view implementation() const = 0;
  virtual std::size_t workspace_bytes() const { return 0; }
  virtual void run(Stream& stream, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   std::span<std::byte> workspace) = 0;
};

/// A share of a physical device, with a memory pool of its own.
struct LogicalDevice {
  int physical = 0;  ///< as the backend counts the physical devices
  PoolOptions memory = {};
  int threads = 0;  ///< of the processor; 0: an equal share of what the others leave
};

/// What a backend is made from.
struct BackendConfig {
  /// Without a value one whole device per physical device that can be used.
  std::optional<std::vector<LogicalDevice>> devices = std::nullopt;
  /// The options that only this backend knows, of the type that its header declares (CpuOptions); empty: defaults.
  std::any options = {};

  /// The backend's own options, to be changed.
  template <class Options>
  Options& own() {
    if (!options.has_value()) options = Options{};
    return std::any_cast<Options&>(options);
  }
  template <class Options>
  Options own() const {
    return options.has_value() ? std::any_cast<const Options&>(options) : Options{};
  }
};

/// A backend is a folder and its row in registry/devices.cpp. Its class has two members that the row names: a
/// constructor from a BackendConfig, and physical_devices(), the whole devices that are there.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const std::unique_ptr<Device>> devices() const = 0;
  /// Why there is no device: "no NVIDIA driver is loaded (libcuda.so.1)"; empty where there is one.
  virtual std::string absence() const { return {}; }
  /// The physical devices that were not asked for by name and cannot be used, each with the reason: "GPU 1: ...".
  virtual std::vector<std::string> unusable() const { return {}; }
  /// The vendor's library, its version, and the arithmetic that it uses for float32: "oneDNN 2.6.2, strict".
  virtual std::string library() const = 0;
  /// Whether `op`, which a pass would make of several ops, can be planned here and takes less time than they do; where
  /// not, the pass leaves them as they are. The default: none is worth it.
  virtual bool fuses(const Op& op, const Signature& signature, Device& device) const {
    static_cast<void>(op), static_cast<void>(signature), static_cast<void>(device);
    return false;
  }
  /// Throws Error("cpu: conv2d: bfloat16 with groups is not supported") rather than falling back.
  virtual std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const = 0;
};

}  // namespace gpubench
