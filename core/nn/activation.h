// The activation functions of layers, under their Keras names.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/nn/layer.h"
#include "core/nn/layer_function.h"

namespace gpubench {

/// Throws Error listing the names; "" is linear.
void check_activation(std::string_view owner, std::string_view name);
/// Type of apply_activation's result: float32 for softmax and log_softmax under a mixed policy, else the policy's type
/// of computation.
Dtype activated_dtype(std::string_view name, const DtypePolicy& policy);
/// Returns `x` itself for "linear" and "". Under a mixed policy softmax is computed and returned in float32, which
/// Keras recommends but leaves to the script: 16 bits cannot represent the probabilities near 0 and 1 that a loss
/// needs.
Value apply_activation(Graph& graph, std::string_view name, Value x, const DtypePolicy& policy);

/// The option "activation" of a layer: a name, or a function of one tensor that keeps its shape.
class ActivationOption {
 public:
  /// Throws as check_activation does. `layer` must outlive the object.
  explicit ActivationOption(const Layer& layer);

  /// Whether it returns its input.
  bool is_linear() const { return body_ == nullptr && (name_.empty() || name_ == "linear"); }
  /// Whether each number of the result is known to follow from one number.
  bool is_elementwise() const { return body_ == nullptr && name_ != "softmax" && name_ != "log_softmax"; }
  Dtype output_dtype() const;
  Value apply(const CallContext& context, Value x) const;

 private:
  const Layer& layer_;
  std::string name_;
  std::unique_ptr<FunctionBody> body_;  // null for a name
};

}  // namespace gpubench
