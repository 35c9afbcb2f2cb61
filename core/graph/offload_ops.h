// Tensors that lie in the host's memory for a while. A copy each way is two ops, of which the first queues it beside
// the kernels and the second makes what follows wait for it: between the two, kernels go on. Executors carry them out.
#pragma once
#include "core/graph/op.h"

namespace gpubench {

class HostCopyOp : public Op {
 public:
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override { return {inputs[0]}; }
  double flops(std::span<const TensorType>, std::span<const TensorType>) const override { return 0; }
  /// A copy over a link, no work of the device's memory.
  double bytes(std::span<const TensorType>, std::span<const TensorType>) const override { return 0; }
};

/// (x): begins a copy of x to the host. The output lies there, and is complete after StoreEnd.
class Store final : public HostCopyOp {
 public:
  std::string_view name() const override { return "store"; }
};

/// (x, its copy on the host): the copy, complete. What is queued from now on may overwrite x.
class StoreEnd final : public HostCopyOp {
 public:
  std::string_view name() const override { return "store_end"; }
  std::vector<Alias> aliases() const override { return {{0, 1, Alias::Kind::in_place}}; }
};

/// (a complete copy on the host): begins to copy it back. The output lies on the device, and is complete after
/// FetchEnd.
class Fetch final : public HostCopyOp {
 public:
  std::string_view name() const override { return "fetch"; }
};

/// (the output of Fetch, what it is fetched from): the tensor, complete on the device.
class FetchEnd final : public HostCopyOp {
 public:
  std::string_view name() const override { return "fetch_end"; }
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::in_place}}; }
};

}  // namespace gpubench
