// How Dense and Conv2D compute when their option `quantization` is not empty. "aware": in float32, with input and
// kernel rounded as int8 would be, so that training learns to live with it. "int8": in int8, with a kernel that is
// quantized by output channel and an input that is quantized by one scale. Both are symmetric.
#pragma once
#include <functional>
#include <string>

#include "core/nn/config.h"
#include "core/nn/layer.h"

namespace gpubench {

class KernelQuantizer {
 public:
  enum class Mode : std::uint8_t { none, aware, int8 };

  /// The option: "", "aware" or "int8".
  static ConfigField field();
  /// Throws Error naming the layer for another option, and for a layer that does not compute in float32.
  KernelQuantizer(const Config& config, const DtypePolicy& policy);

  /// Why an integer product is no part of a training.
  static constexpr const char* untrainable =
      "computes in int8, which has no gradient; train the model that it was made of, or one that gb.quantize.aware "
      "makes";

  Mode mode() const { return mode_; }
  bool integer() const { return mode_ == Mode::int8; }
  /// "int8", or what the policy says.
  std::string precision(const DtypePolicy& policy) const { return integer() ? "int8" : policy.name; }

  using MakeVariable = std::function<VariablePtr(const std::string& name, const HostTensor& initial)>;
  /// The kernel in int8; only for Mode::int8.
  VariablePtr make_kernel(const MakeVariable& make, const Shape& shape) const;
  /// What stands beside the kernel: "kernel_scale" [channels] and "input_scale" for int8, "input_range" where aware:
  /// the moving average of the batches' largest magnitudes, those of all replicas' rows; 0 before the first.
  void make_variables(const MakeVariable& make, std::int64_t channels);

  /// x as the product reads it: quantized, or rounded and back. In training the range moves first.
  Value input(const CallContext& context, Value x) const;
  /// A kernel in float32 as the product reads it.
  Value kernel(Graph& graph, Value kernel) const;
  /// Of the integer product's sums, [channels].
  Value scale(Graph& graph) const;

 private:
  Value moved_range(const CallContext& context, Value x) const;

  Mode mode_ = Mode::none;
  VariablePtr kernel_scale_, input_scale_, input_range_;
};

}  // namespace gpubench
