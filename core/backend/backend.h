// Describe, plan, execute: an Op describes, a Backend plans it for fixed types on one device, the Kernel executes. A
// backend never falls back: what it cannot run it refuses with the reason.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/graph/op.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

/// An order of a tensor's bytes that only its backend understands (blocked channels, say). Absent means row-major.
class Layout {
 public:
  virtual ~Layout() = default;
  virtual std::size_t bytes() const = 0;
};
using LayoutPtr = std::shared_ptr<const Layout>;

/// What a kernel is planned for.
struct Signature {
  std::span<const TensorType> inputs;
  std::span<const TensorType> outputs;
  /// One per input, null for row-major; empty when all are. Only ops whose Backend::takes_layouts() says so get others.
  std::span<const LayoutPtr> input_layouts;
  /// One per output: whether the kernel may give it a layout of its own; empty when it may not.
  std::span<const bool> free_outputs;

  const Layout* input_layout(std::size_t input) const {
    return input < input_layouts.size() ? input_layouts[input].get() : nullptr;
  }
  bool output_is_free(std::size_t output) const { return output < free_outputs.size() && free_outputs[output]; }
};

/// One op prepared for fixed types on one device: every choice made, nothing left to check. run() allocates nothing,
/// may be called any number of times with other memory of the same types, but not by two threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Which implementation was chosen, for traces and reports: "onednn:jit:avx512_core", "loop".
  virtual std::string_view implementation() const = 0;
  virtual std::size_t workspace_bytes() const { return 0; }
  /// The layout the kernel chose for an output that was free; null for row-major.
  virtual LayoutPtr output_layout(int /*output*/) const { return nullptr; }
  virtual void run(Stream& stream, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   std::span<std::byte> workspace) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const std::unique_ptr<Device>> devices() const = 0;
  /// The vendor's library, its version, and the arithmetic that it uses for float32: "oneDNN 2.6.2, strict".
  virtual std::string library() const = 0;
  /// Throws Error("cpu: conv2d: bfloat16 with groups is not supported") rather than falling back.
  virtual std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const = 0;
  /// Whether kernels of `op` can read inputs in layouts of this backend; the executor converts for all others.
  virtual bool takes_layouts(const Op& op) const = 0;
  /// Converts a tensor of one of this backend's layouts to row-major: one input, one output.
  virtual std::unique_ptr<Kernel> plan_reorder(const TensorType& type, const LayoutPtr& from, Device& device) const = 0;
};

}  // namespace gpubench
