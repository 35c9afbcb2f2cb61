// Layers that join branches.
#pragma once
#include "core/nn/layer_kind.h"

namespace gpubench::nn {

/// The sum of two or more inputs of one type.
class Add final : public Layer {
 public:
  static LayerKind layer_kind();
  using Layer::Layer;
  std::string default_name() const override { return "add"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

/// Inputs side by side along `axis`, counted with the batch as 0 or from the end; the default is the last.
class Concatenate final : public Layer {
 public:
  static LayerKind layer_kind();
  using Layer::Layer;
  std::string default_name() const override { return "concatenate"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  /// Index into an example's shape.
  std::size_t dimension(const TensorType& example) const;
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

}  // namespace gpubench::nn
