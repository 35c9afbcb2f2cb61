// Describe, plan, execute: an Op describes, a Backend plans it for fixed types on one device, a Kernel executes it. A
// backend never falls back: it refuses what it cannot run, with the reason.
#pragma once
#include <any>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_fault.h"
#include "core/device/memory_pool.h"
#include "core/device/stream.h"
#include "core/graph/op.h"
#include "core/tensor/device_id.h"
#include "core/tensor/tensor_view.h"
#include "core/trace/tracer.h"

namespace gpubench {

class Device;

/// The types that a kernel is planned for. Tensors are row-major on every backend, images channels last; a kernel that
/// needs another layout converts inside its run.
struct Signature {
  TensorTypes inputs;
  TensorTypes outputs;
};

/// One op prepared for fixed types on one device; nothing is left to choose or check. run() allocates nothing and may
/// be called any number of times with other memory of the same types, but not by two threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Which implementation was chosen, for traces and reports: "onednn:jit:avx512_core", "loop".
  virtual std::string_view implementation() const = 0;
  /// Of our own kernel, where a library could have a much faster one: why the library does not compute the op
  /// ("dropout"). Empty for all other kernels.
  virtual std::string_view why_not_library() const { return {}; }
  virtual std::size_t workspace_bytes() const { return 0; }
  /// The time of a run, if it is known without one: of an emulated device.
  virtual std::optional<Seconds> known_time() const { return std::nullopt; }
  virtual void run(Stream& stream, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   std::span<std::byte> workspace) = 0;
};

/// A share of a physical device, with a memory pool of its own.
struct LogicalDevice {
  int physical = 0;  ///< index of the physical device, as the backend counts them
  PoolOptions memory = {};
  int threads = 0;  ///< CPU threads; 0: an equal share of the threads that no other device claims
  /// Whether the configuration names it, so that it is an error if it cannot be used; else it is left out.
  bool named = true;
};

/// What a backend is made from.
struct BackendConfig {
  /// Unset: one device for each physical device.
  std::optional<std::vector<LogicalDevice>> devices = std::nullopt;
  /// Options of this backend alone, of the type that its header declares (CpuOptions); empty: defaults.
  std::any options = {};

  /// The backend's own options, for changing them.
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

/// A backend is a folder and its row in registry/devices.cpp. The row names two members of the backend's class: a
/// constructor from a BackendConfig, and physical_devices(), which lists the whole devices of the machine.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// The devices that are there before they are named.
  virtual std::span<const std::unique_ptr<Device>> devices() const = 0;
  /// The device of this name, made at the first call, from a backend whose devices are made when they are named.
  /// nullptr (the default) if there is none. Throws Error naming the possible ones. Thread-safe.
  virtual Device* named(const DeviceId& id) {
    static_cast<void>(id);
    return nullptr;
  }
  /// The reason why there is no device: "no NVIDIA driver is loaded (...)"; nullopt if there is one.
  virtual std::optional<DeviceFault> absence() const { return std::nullopt; }
  /// The vendor's library, its version, and the arithmetic that it uses for float32: "oneDNN 2.6.2, strict".
  virtual std::string library() const = 0;
  /// Whether the device can run `op`, a fusion of several ops or another form of one, faster than those ops; if not,
  /// the pass leaves them as they are. Default: no.
  virtual bool fuses(const Op& op, const Signature& signature, Device& device) const {
    static_cast<void>(op), static_cast<void>(signature), static_cast<void>(device);
    return false;
  }
  /// A tracer of the backend's devices, for one trace. nullptr: their work runs inside the calls that launch it, where
  /// HostSpans show it. Throws Error with the reason if tracing is impossible.
  virtual std::unique_ptr<Tracer> new_tracer() const = 0;
  /// Throws Error("cpu: conv2d: bfloat16 with groups is not supported") rather than falling back.
  virtual std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const = 0;
};

}  // namespace gpubench
