// Launches one op at a time: plans it (kernels are cached by op, types and device), takes the outputs' memory from the
// pool, and runs it. No fusion, no memory plan: the cost per op is measured by an experiment (eager_vs_graph).
#pragma once
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/runtime.h"
#include "core/exec/tensor.h"
#include "core/graph/graph.h"

namespace gpubench {

class Eager {
 public:
  explicit Eager(Runtime& runtime);
  ~Eager();

  /// The part of a model to which an op belongs, for traces.
  struct Part {
    const Owner* owner = nullptr;
    Role role = Role::forward;
    /// Of an op that runs many times, its number in the current trace; the caller's own span covers its launch.
    NodeId node = NodeId::none;
  };
  /// The number of `op` in the current trace: Runtime::spans() must be set.
  NodeId node(const Op& op, const Part& part) const;
  /// Runs `op` on `device`; inputs on other devices are copied there first. `label` names the allocated memory.
  std::vector<Tensor> apply(const OpPtr& op, std::span<const Tensor> inputs, const DeviceId& device,
                            std::string_view label, const Part& part);
  std::vector<Tensor> apply(const OpPtr& op, std::span<const Tensor> inputs, const DeviceId& device,
                            std::string_view label) {
    return apply(op, inputs, device, label, {});
  }
  /// A tensor on `device` with the bytes of `value`.
  Tensor upload(const HostTensor& value, const DeviceId& device, std::string_view label = "tensor");
  /// `host` memory as a tensor of `device`: used in place if the device can read it, so the memory must outlive the
  /// tensor.
  Tensor borrow(const TensorView& host, const DeviceId& device, std::string_view label);
  /// A copy on the host; blocks until it is complete.
  HostTensor download(const Tensor& tensor);
  /// The values for reading on the host: in place if they are there and cannot change, else a copy.
  HostTensor on_host(const Tensor& tensor);
  /// The same values on another device; the tensor itself if it is already there.
  Tensor transfer(const Tensor& tensor, const DeviceId& device);
  /// The same values in memory of its own.
  Tensor copy(const Tensor& tensor);
  /// A copy in page-locked host memory, from which GPUs copy faster; its device stays the same. Throws Error if the
  /// tensor is not on the host's processor, and if no device needs such memory.
  Tensor pin(const Tensor& tensor);
  Tensor of(const VariablePtr& variable);
  /// All are forgotten when one more is needed: data of many sizes would otherwise fill the memory.
  static constexpr std::size_t most_kernels = 4096;
  std::size_t kernels() const;
  Runtime& runtime() const { return runtime_; }

 private:
  struct Key;
  struct Wanted;
  struct KeyHash;
  struct KeyEqual;
  struct Planned;
  using Kernels = std::unordered_map<Key, Planned, KeyHash, KeyEqual>;
  Planned& plan(const OpPtr& op, std::span<const Tensor> inputs, const DeviceId& device);
  void run_kernel(const Op& op, const Planned& planned, std::span<std::byte> workspace, Device& device,
                  const Part& part);

  Runtime& runtime_;
  std::unique_ptr<Kernels> kernels_;
  int applying_ = 0;  // calls of apply: allocating collects garbage, and finalizers of a script may call it
};

}  // namespace gpubench
