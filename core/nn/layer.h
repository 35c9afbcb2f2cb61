// A layer is an immutable description. build() creates its variables once; call() then adds its nodes to any number of
// graphs (training, evaluation, a partial batch), which share the variables. Types are per example: [784] stands for
// [batch, 784].
#pragma once
#include <functional>
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

/// What a layer's call knows about the batch that is divided among replicas.
struct ReplicaCall {
  /// Rows of all replicas' batches together; the inputs are this replica's part. None if the inputs are other rows than
  /// the replica's part, so that layers cannot combine them with those of other replicas.
  std::optional<std::int64_t> batch_rows{};
  /// The replica's loss is the mean over its own rows, instead of their share of the mean over all rows.
  bool loss_is_own = false;
  bool operator==(const ReplicaCall&) const = default;
};

/// What a layer needs besides its inputs to add its nodes.
struct CallContext {
  Graph& graph;
  bool training = false;
  /// int64 scalar that differs from step to step; seeds random layers. Needed in training only.
  Value step{};
  /// Index of the inputs' first row in a larger batch: random layers draw for the rows as they would in the whole
  /// batch.
  std::int64_t first_row = 0;
  /// First node of this part of a batch. Other parts in the same graph draw the same random ops as this one.
  std::size_t first_node = 0;
  /// None outside of replicas. Inside, layers may exchange statistics of the batch.
  std::optional<ReplicaCall> replica{};
  /// Takes what layers add to the loss, float32 [] each, as means over the rows of the call; null: nobody does.
  std::vector<Value>* losses = nullptr;
  /// Prints what a layer warns of; null: nothing is printed.
  const std::function<void(const std::string&)>* warn = nullptr;
};

/// How a layer is called. Behind its inputs stand the masks that are given explicitly, and then the states.
struct CallForm {
  std::optional<bool> training{};    ///< none: as the model is called
  std::vector<std::size_t> masks{};  ///< for each explicit mask, the index of its input
  std::size_t states = 0;            ///< number of initial states, which recurrent layers take
  bool reverse = false;              ///< from vectors back to tokens, by the layer that embeds
  bool operator==(const CallForm&) const = default;
};

/// The values that a layer is called with.
struct LayerArguments {
  Values inputs;
  std::vector<Value> masks{};  ///< of each input; none: the input has no mask
  Values states{};
  bool reverse = false;  ///< CallForm::reverse

  Value mask(std::size_t input) const { return input < masks.size() ? masks[input] : Value{}; }
};

/// What a layer returns: a value for each output, and its mask; none: the output has no mask.
struct LayerOutputs {
  std::vector<Value> values, masks;
};

/// What a layer does with the masks of its inputs, as Keras' supports_masking and compute_mask say it.
enum class MaskRule : std::uint8_t {
  drops,   ///< the output has none; an input that has one is warned of
  ends,    ///< the output has none, which is meant: a layer that pools, an operator
  passes,  ///< the output has the first input's
  makes    ///< Layer::output_masks() computes them
};

class LinearLayer;

/// Parameters of a normalization of channels in inference: gamma (x - mean) / sqrt(variance + epsilon) + beta. A gamma
/// that is null is 1, a beta 0.
struct Normalization {
  VariablePtr gamma, beta, mean, variance;
  double epsilon = 0;
};

/// What a layer does to the channels, the last dimension of its input.
enum class Channels : std::uint8_t {
  kept,       ///< each output channel depends on one input channel only, and so do the entries of the layer's variables
  flattened,  ///< the example becomes one row, with all channels of a position side by side
  mixed,      ///< the output's last dimension is different
  unknown
};

class Layer {
 public:
  /// Options that all layers have.
  static std::vector<ConfigField> common_fields();

  /// `device`: where the layer's variables are and its nodes run.
  Layer(Config config, DeviceId device);
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  /// "Conv2D".
  const std::string& kind() const { return config_.owner(); }
  /// Empty until the user or a model sets it.
  const std::string& name() const { return owner_->name; }
  void set_name(std::string name) { owner_->name = std::move(name); }
  /// Whether a model chose the name, so that another model, which the layer joins later, may choose another one.
  bool has_automatic_name() const { return automatic_name_; }
  void set_automatic_name(std::string name);
  /// The owner of the layer's nodes and variables.
  OwnerPtr owner() const { return owner_; }
  /// Makes this unbuilt layer a part of `outer`: it shares its owner, and its variables are named "outer/part/kernel".
  void join(const Layer& outer, const std::string& part);
  /// "conv2d": the base of unnamed layers' names.
  virtual std::string default_name() const = 0;
  const Config& config() const { return config_; }
  /// Whether training updates its weights.
  bool trainable() const { return config_.flag("trainable"); }
  /// For models that are compiled later; for parts too.
  void set_trainable(bool trainable);
  const DeviceId& device() const { return device_; }
  const DtypePolicy& policy() const { return policy_; }
  /// The type of computation, for people: the policy's name, or "int8".
  virtual std::string precision() const { return policy_.name; }
  /// The input_shape option; empty if it is not set.
  const Shape& input_shape() const { return config_.shape("input_shape"); }

  /// Layers inside of this one, whose variables are its own.
  virtual std::vector<std::shared_ptr<Layer>> parts() const { return {}; }
  /// What its options want of its variables in the loss.
  const std::vector<Owner::WeightText>& regularizers() const { return regularizers_; }
  /// For an Input layer: the type of one example of the model's data; null for all others.
  virtual const TensorType* declared_input() const { return nullptr; }
  /// For an Input layer: the rows of each batch; 0: any number, and for all others.
  virtual std::int64_t declared_rows() const { return 0; }
  /// Tells an unbuilt layer the rows of all its batches, which layers with states of their own need.
  void set_batch_rows(std::int64_t rows) { batch_rows_ = rows; }
  /// Of a stateful recurrent layer: the variables that its states outlive a call in. Empty for all others.
  virtual std::vector<VariablePtr> kept_states() const { return {}; }
  /// The layer as a product with a kernel; null if it is none.
  virtual const LinearLayer* linear() const { return nullptr; }
  /// None for layers other than batch normalization.
  virtual std::optional<Normalization> normalization() const { return std::nullopt; }
  /// For layers without a kernel.
  virtual Channels channels() const { return variables_.empty() ? Channels::kept : Channels::unknown; }

  /// Whether it draws random numbers in training, and so needs CallContext::step.
  virtual bool draws() const { return false; }
  virtual MaskRule mask_rule() const { return MaskRule::drops; }
  /// Whether its computation depends on the masks of its inputs, so that a call may give one explicitly.
  virtual bool reads_masks() const { return false; }
  /// For a cell of a recurrent layer: the sizes of its states. Empty for all other layers.
  virtual Shape state_sizes() const { return {}; }
  /// The first output's type for one example. Throws Error naming the layer, its input and what is possible.
  TensorType infer(TensorTypes inputs) const { return infer(inputs, {}).front(); }
  /// The types of all outputs, for the arguments of a call in that form.
  std::vector<TensorType> infer(TensorTypes arguments, const CallForm& form) const;
  /// The types of the outputs' masks; none: no mask. `masks`: of each input.
  std::vector<std::optional<TensorType>> infer_masks(TensorTypes arguments, const CallForm& form,
                                                     const std::vector<std::optional<TensorType>>& masks) const;
  /// Creates the variables for these inputs; does nothing if they exist.
  void build(VariableFactory& factory, TensorTypes arguments, const CallForm& form = {});
  bool built() const { return built_; }
  /// The first output, of inputs without masks. Casts floating-point inputs to the layer's type of computation.
  Value call(const CallContext& context, Values inputs) const { return call(context, inputs, {}, {}).values.front(); }
  /// `masks`: those that came with the inputs; explicit ones, which are among the arguments, replace them.
  LayerOutputs call(const CallContext& context, Values arguments, const CallForm& form,
                    const std::vector<Value>& masks) const;
  /// The masks of the outputs alone, without the layer's other nodes.
  std::vector<Value> call_for_masks(const CallContext& context, Values arguments, const CallForm& form,
                                    const std::vector<Value>& masks) const;
  /// In the order in which they are saved: trainable ones first.
  const std::vector<VariablePtr>& variables() const { return variables_; }
  /// Those that training updates: none of a frozen layer, or of a frozen part.
  std::vector<VariablePtr> trainable_variables() const;
  /// The name of a variable in files of weights: "dense/kernel", by the layer's present name.
  std::string saved_name(std::size_t variable) const { return name() + "/" + variable_names_[variable]; }
  /// "layer 'conv2d' (Conv2D)".
  std::string title() const;
  /// Throws Error("layer 'conv2d' (Conv2D): ...").
  [[noreturn]] void fail(const std::string& message) const;

 protected:
  /// The following functions receive floating-point inputs in the layer's type of computation (casts_inputs()).
  virtual TensorType output_type(TensorTypes inputs) const = 0;
  /// Of all outputs: by default one, for a layer that takes no states.
  virtual std::vector<TensorType> output_types(TensorTypes inputs, TensorTypes states) const;
  /// Of the output of a reverse call: by default an error.
  virtual TensorType reverse_type(TensorTypes inputs) const;
  virtual void make_variables(VariableFactory& /*factory*/, TensorTypes /*inputs*/) {}
  virtual Value apply(const CallContext& context, Values inputs) const = 0;
  /// For layers that read masks or states, or return several values: by default apply(). Without masks in its result,
  /// output_masks() makes them.
  virtual LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const;
  /// The masks of the outputs: by default as mask_rule() says. Missing ones at the end are none.
  virtual std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const;

  /// 0: unknown.
  std::int64_t batch_rows() const { return batch_rows_; }
  /// Creates a variable "layer/name". `trainable`: a weight, and no statistic.
  VariablePtr make_variable(VariableFactory& factory, const std::string& name, Shape shape,
                            const Initializer& initializer, bool trainable = true);
  /// The same for any type, with given values.
  VariablePtr make_variable(VariableFactory& factory, const std::string& name, const HostTensor& initial,
                            bool trainable);
  /// Regularizers and constraints of `inner`'s kernel hold for this layer's variable `prefix` + "kernel" too.
  void take_weight_options(const Layer& inner, std::string_view prefix);
  /// Makes the variables of a joined layer this layer's own.
  void adopt_variables(const Layer& part);
  /// Indices as Keras takes them: of floating-point numbers the whole part, and bools as 0 and 1, in int32.
  static Value indices(Graph& graph, Value given);
  /// The variable cast to the layer's type of computation.
  Value weight(const CallContext& context, const VariablePtr& variable) const;
  /// The variable as it is stored, for ops that take float32 parameters [channels] beside data of 16 bits; `constant`
  /// in every channel where there is no variable.
  Value parameter(Graph& graph, const VariablePtr& variable, std::int64_t channels, double constant) const;
  /// Whether floating-point inputs are cast to the layer's type of computation: not where they are indices, which 16
  /// bits do not hold.
  virtual bool casts_inputs() const { return true; }
  /// The single input, of the given rank (per example; -1: any). `form` names its dimensions: "[height, width,
  /// channels]".
  const TensorType& only_input(TensorTypes inputs, int rank, std::string_view form) const;

 private:
  struct Parts {
    std::size_t inputs;
    std::size_t masks;  ///< explicit ones
  };
  /// How many of `count` arguments are inputs and masks. Throws Error for masks and states that the layer does not
  /// take.
  Parts parts_of(std::size_t count, const CallForm& form) const;
  LayerArguments given_by(const CallContext& context, std::vector<Value>& values, const CallForm& form,
                          const std::vector<Value>& masks) const;
  void warn_of_masks(const CallContext& context, const LayerArguments& given) const;
  /// The activity regularizer of each floating-point output, per row of the batch.
  void add_activity_losses(const CallContext& context, Values outputs) const;
  Dtype computed(Dtype given) const;
  std::vector<TensorType> computed(TensorTypes given) const;

  Config config_;
  std::shared_ptr<Owner> owner_;
  bool automatic_name_ = false;
  std::string part_;  // "part/" of a joined layer
  DeviceId device_;
  DtypePolicy policy_;
  bool built_ = false;
  std::vector<Owner::WeightText> regularizers_;
  std::int64_t batch_rows_ = 0;
  mutable bool warned_ = false;
  std::vector<VariablePtr> variables_;
  std::vector<std::string> variable_names_;  // without the layer's: "kernel"
};

using LayerPtr = std::shared_ptr<Layer>;

}  // namespace gpubench
