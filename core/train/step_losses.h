// The common part of training and evaluation steps: the element as the graph's inputs, losses and metrics of the
// model's outputs, and their running means.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/train/compile_config.h"
#include "core/train/metric_states.h"

namespace gpubench {

/// The values from which a step computes a loss.
struct StepValues {
  std::vector<Value> inputs, labels, outputs;
  std::vector<Value> weights{};  ///< of examples: none, one for all outputs, or one each
  std::vector<Value> masks{};    ///< of the outputs; none: the output has no mask
  Value penalty{};               ///< of regularizers, float32 []; part of the reported loss
  Value added{};                 ///< by layers in the call, float32 []; part of the loss of these rows
  /// Rows of the whole batch, of which these values may be a part; 0: all are here.
  std::int64_t batch_rows = 0;
  /// A replica's share of the batch's rows; none outside of replicas.
  std::optional<double> replica_share{};

  void take(LayerOutputs of_model) {
    outputs = std::move(of_model.values);
    masks = std::move(of_model.masks);
  }
};

/// The types with `rows` rows instead of the batch's.
std::vector<TensorType> with_rows(TensorTypes element, std::int64_t rows);

/// The graph's inputs, each on the device that reads it; `labelled`: including labels and, if the element has more
/// tensors, weights of examples. Throws Error for an element of another length.
StepValues bind_element(Graph& graph, const Model& model, TensorTypes element, bool labelled);

/// Adds to the states of loss and metrics: directly, or, for one of several replicas, after the sums over all
/// replicas.
class Figures {
 public:
  Figures(const MetricStates& states, bool shared) : states_(states), shared_(shared), sums_(states.size()) {}

  /// A scalar is the mean of its batch, and is weighted by `batch_size`.
  void add(Graph& graph, std::size_t index, Value values, std::int64_t batch_size);
  /// For a metric with a state of its own: what is added to it.
  void add_to_state(Graph& graph, std::size_t index, Value added);
  /// Begins the exchange of the sums; they are zero if this replica has no examples.
  void exchange(Graph& graph);
  void finish(Graph& graph);

 private:
  const MetricStates& states_;
  bool shared_;
  std::vector<std::vector<Value>> sums_;  // by state: of each part of the batch, then of the whole
};

/// `loss` plus the penalty, if there is one.
Value with_penalty(Graph& graph, Value loss, Value penalty);
/// The owner of the nodes that compute losses.
const OwnerPtr& loss_owner();
/// Multiplies the weights of the examples by those of their classes. Throws Error for models with several outputs, and
/// for weights of other classes than the model has.
void weigh_classes(Graph& graph, const Model& model, const std::vector<float>& class_weights, StepValues& step);
/// The sum of the outputs' mean losses and the penalty: what a CustomStep minimizes.
Value total_loss(Graph& graph, const Model& model, const CompileConfig& config, const StepValues& step);
/// The scalar that training minimizes: the sum of the outputs' mean losses. Adds per-example losses and metrics to
/// `figures`.
Value add_losses(Graph& graph, const Model& model, const CompileConfig& config, Figures& figures,
                 const StepValues& step);

/// The values of a loss outside of a step, of predictions with this mask and of examples with these weights; none: they
/// have none.
Value masked_loss(Graph& graph, const Loss& loss, Value values, Value mask, Value weights);
/// What the values of a metric that averages add to its state outside of a step, with this mask and these weights;
/// none: all count alike.
Value masked_sums(Graph& graph, const Metric& metric, Value values, Value mask, Value weights);

}  // namespace gpubench
