// Ops that move tensors to host memory and back. Each copy is two ops: the first queues the copy beside the kernels,
// the second makes later work wait for it. Between the two, kernels run. Executors carry them out.
#pragma once
#include "core/graph/op.h"

namespace gpubench {

class HostCopyOp : public Op {
 public:
  std::vector<TensorType> infer(TensorTypes inputs) const override { return {inputs[0]}; }
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  /// A copy over a link uses none of the device's memory bandwidth.
  double bytes(TensorTypes, TensorTypes) const override { return 0; }
};

/// (x): begins a copy of x to the host. The output is in host memory, and complete after StoreEnd.
class Store final : public HostCopyOp {
 public:
  std::string_view name() const override { return "store"; }
};

/// (x, its copy on the host): the complete copy. Later work may overwrite x.
class StoreEnd final : public HostCopyOp {
 public:
  std::string_view name() const override { return "store_end"; }
  std::vector<Alias> aliases() const override { return {{0, 1, Alias::Kind::in_place}}; }
};

/// (a complete copy on the host): begins to copy it back. The output is on the device, and complete after FetchEnd.
class Fetch final : public HostCopyOp {
 public:
  std::string_view name() const override { return "fetch"; }
};

/// (the output of Fetch, the host copy): the complete tensor on the device.
class FetchEnd final : public HostCopyOp {
 public:
  std::string_view name() const override { return "fetch_end"; }
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::in_place}}; }
};

}  // namespace gpubench
