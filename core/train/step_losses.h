// The part of a step that training and evaluation share: the element as the graph's inputs, the losses and metrics of
// the model's outputs, and the running means that they go into.
#pragma once
#include <span>
#include <vector>

#include "core/train/compile_config.h"
#include "core/train/metric_states.h"

namespace gpubench {

/// What a step computes a loss from.
struct StepValues {
  std::vector<Value> inputs, labels, outputs;
};

/// The types of so many rows of a batch.
std::vector<TensorType> with_rows(std::span<const TensorType> element, std::int64_t rows);

/// The graph's inputs, each on the device that reads it; `labelled`: labels as well. Throws Error for a tuple of
/// another length.
StepValues bind_element(Graph& graph, const Model& model, std::span<const TensorType> element, bool labelled);

/// What goes into the running means of loss and metrics: at once, or, of one replica among others, when all have added
/// up what they have.
class Figures {
 public:
  Figures(const MetricStates& states, bool shared) : states_(states), shared_(shared), sums_(states.size()) {}

  /// A scalar is the mean of its batch, and counts for as many examples.
  void add(Graph& graph, std::size_t index, Value values, std::int64_t batch_size);
  /// Begins to add up, with nothing where this replica has no examples.
  void exchange(Graph& graph);
  void finish(Graph& graph);

 private:
  const MetricStates& states_;
  bool shared_;
  std::vector<std::vector<Value>> sums_;  // by state: of each part of the batch, then of all
};

/// The owner of the nodes that compute losses.
const OwnerPtr& loss_owner();
/// The scalar that training minimizes: the sum of the outputs' mean losses.
Value total_loss(Graph& graph, const Model& model, const CompileConfig& config, const StepValues& step);
/// The same; per-example losses and metrics go into the figures.
Value add_losses(Graph& graph, const Model& model, const CompileConfig& config, Figures& figures,
                 const StepValues& step);

}  // namespace gpubench
