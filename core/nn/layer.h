// A layer is an immutable description. build() makes its variables once; call() then adds its nodes to any number of
// graphs (training, evaluation, a partial batch), which share them. Types speak of one example: [784] stands for
// [batch, 784].
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/nn/config.h"
#include "core/nn/dtype_policy.h"
#include "core/nn/initializer.h"

namespace gpubench {

/// What a call knows of the batch that the replicas of a model share.
struct ReplicaCall {
  /// Rows of all replicas together, of which the inputs are this replica's. None where the inputs are other rows than
  /// the replica was given: layers cannot weigh them against those of others then.
  std::optional<std::int64_t> batch_rows{};
  /// The replica's loss is the mean over its own rows, instead of their part of the mean over all.
  bool loss_is_own = false;
  bool operator==(const ReplicaCall&) const = default;
};

/// What a layer needs besides its inputs to add its nodes.
struct CallContext {
  Graph& graph;
  bool training = false;
  /// int64 scalar that differs from step to step; random layers draw by it. Needed in training only.
  Value step{};
  /// The inputs are rows of a larger batch, from this one on: random layers draw for them what they draw in the whole.
  std::int64_t first_row = 0;
  /// The nodes of this part of it begin here. Another part in the same graph draws as if it were one with this.
  std::size_t first_node = 0;
  /// None outside of replicas. In a replica's call, layers may exchange what they know of the batch.
  std::optional<ReplicaCall> replica{};
};

class LinearLayer;

/// How a layer normalizes its channels in inference: gamma (x - mean) / sqrt(variance + epsilon) + beta.
struct Normalization {
  VariablePtr gamma, beta, mean, variance;
  double epsilon = 0;
};

/// What becomes of the channels, the last dimension of the input.
enum class Channels : std::uint8_t {
  kept,       ///< each output channel depends on that input channel alone, as do the entries of the layer's variables
  flattened,  ///< the example is one row, channel after channel for each place
  mixed,      ///< the output's last dimension is another
  unknown
};

class Layer {
 public:
  /// Options that every layer has.
  static std::vector<ConfigField> common_fields();

  /// `device`: where the layer's variables lie and its nodes run.
  Layer(Config config, DeviceId device);
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  /// "Conv2D".
  const std::string& kind() const { return config_.owner(); }
  /// Empty until the user or a model gives one.
  const std::string& name() const { return owner_->name; }
  void set_name(std::string name) { owner_ = make_owner(std::move(name)); }
  /// What the layer's nodes and variables belong to.
  const OwnerPtr& owner() const { return owner_; }
  /// "conv2d": what unnamed layers are named after.
  virtual std::string default_name() const = 0;
  const Config& config() const { return config_; }
  const DeviceId& device() const { return device_; }
  const DtypePolicy& policy() const { return policy_; }
  /// What it computes in, for people: the policy's name, or "int8".
  virtual std::string precision() const { return policy_.name; }
  /// The type of the input_shape option, or none.
  const Shape& input_shape() const { return config_.shape("input_shape"); }

  /// The type of one example where the layer is an Input, at which a model's data enters; null for all others.
  virtual const TensorType* declared_input() const { return nullptr; }
  /// The layer, where it is a product with a kernel; null for all others.
  virtual const LinearLayer* linear() const { return nullptr; }
  /// None where the layer is no batch normalization.
  virtual std::optional<Normalization> normalization() const { return std::nullopt; }
  /// Of layers without a kernel.
  virtual Channels channels() const { return variables_.empty() ? Channels::kept : Channels::unknown; }

  /// Whether it draws random numbers in training, and so needs a step.
  virtual bool draws() const { return false; }
  /// The output's type for one example. Throws Error naming the layer, what it was given and what is possible.
  TensorType infer(std::span<const TensorType> inputs) const;
  /// Makes the variables for these inputs; does nothing the second time.
  void build(VariableFactory& factory, std::span<const TensorType> inputs);
  bool built() const { return built_; }
  /// Floating-point inputs of other types are cast to the one that the layer computes in.
  Value call(const CallContext& context, std::span<const Value> inputs) const;
  /// In the order in which they are saved: trainable ones first.
  const std::vector<VariablePtr>& variables() const { return variables_; }
  /// Throws Error("layer 'conv2d' (Conv2D): ...").
  [[noreturn]] void fail(const std::string& message) const;

 protected:
  /// All of what follows is given floating-point inputs in the type that the layer computes in.
  virtual TensorType output_type(std::span<const TensorType> inputs) const = 0;
  virtual void make_variables(VariableFactory& /*factory*/, std::span<const TensorType> /*inputs*/) {}
  virtual Value apply(const CallContext& context, std::span<const Value> inputs) const = 0;

  /// A variable "layer/name"; frozen when the layer is not trainable.
  VariablePtr make_variable(VariableFactory& factory, const std::string& name, Shape shape,
                            const Initializer& initializer, bool trainable = true);
  /// The same of any type, with these values.
  VariablePtr make_variable(VariableFactory& factory, const std::string& name, const HostTensor& initial,
                            bool trainable);
  /// The variable in the type that the layer computes in.
  Value weight(const CallContext& context, const VariablePtr& variable) const;
  /// The one input, of the given rank (per example; -1: any). `form` names its dimensions: "[height, width, channels]".
  const TensorType& only_input(std::span<const TensorType> inputs, int rank, std::string_view form) const;

 private:
  Dtype computed(Dtype given) const;
  std::vector<TensorType> computed(std::span<const TensorType> given) const;

  Config config_;
  OwnerPtr owner_;
  DeviceId device_;
  DtypePolicy policy_;
  bool built_ = false;
  std::vector<VariablePtr> variables_;
};

using LayerPtr = std::shared_ptr<Layer>;

}  // namespace gpubench
