// The graphs that a model is trained, evaluated and used with. One training step is one graph: forward, loss,
// gradients, update, metrics and step counter.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/replicas.h"
#include "core/nn/loss.h"
#include "core/nn/metric.h"
#include "core/nn/model.h"
#include "core/train/loss_scale.h"
#include "core/train/metric_states.h"
#include "core/train/optimizer.h"

namespace gpubench {

/// What model:compile() sets.
struct CompileConfig {
  OptimizerPtr optimizer;
  /// One for all outputs, or one each; the model's loss is their sum.
  std::vector<LossPtr> losses;
  std::vector<MetricPtr> metrics;
  ExecutorOptions executor;
  /// Batches are made in page-locked memory where the model's inputs are on a device that copies from there faster.
  bool pin_inputs = true;
  /// What keeps small gradients of 16-bit models; none: the loss is differentiated as it is.
  LossScalePtr loss_scale = nullptr;
  /// Parts of a batch that a training step computes one after the other, to update by the mean of their gradients: as
  /// the whole batch does but for rounding, with the activations of a part. Layers that look at a whole batch
  /// (BatchNormalization) see a part.
  std::int64_t gradient_accumulation_steps = 1;
  /// Names of layers whose activations are not kept for the gradients, but computed anew.
  std::vector<std::string> recompute{};
  /// Instead of names, bytes that a training step may take: layers are chosen so that it does; 0: none.
  std::size_t recompute_budget = 0;
  /// Layers whose activations wait for their gradients in the host's memory.
  struct Offload {
    bool all = false;                   ///< layers that are not on the host
    std::vector<std::string> layers{};  ///< or those
    int ahead = OffloadOptions{}.ahead;
  } offload{};
  /// The replicas that train the model together; null: it is trained alone.
  ReplicasPtr replicas = nullptr;
};

struct StepGraph {
  Graph graph;
  std::vector<Value> outputs;
};

/// "loss", then each metric; with several outputs a metric counts once per output ("dense_1_accuracy").
std::vector<std::string> metric_names(const Model& model, const CompileConfig& config);

/// Throws Error where a layer computes in int8, naming it: there is nothing to train it by.
void require_gradients(const Model& model);

/// The types of so many rows of a batch.
std::vector<TensorType> with_rows(std::span<const TensorType> element, std::int64_t rows);

/// What a step computes a loss from.
struct StepValues {
  std::vector<Value> inputs, labels, outputs;
};

/// The scalar that training minimizes: the sum of the outputs' mean losses.
Value total_loss(Graph& graph, const Model& model, const CompileConfig& config, const StepValues& step);

/// Inputs: the types of one element, the model's inputs before the labels. Throws Error when they do not fit, for a
/// batch that cannot be accumulated in equal parts, and for layers to be recomputed that the model does not have. What
/// recompute_budget would choose is not looked at: see recomputed_within().
/// With a `share`, it is the graph of a replica that has so many rows of the element's batch, and the update is that of
/// all replicas' examples; without rows, the graph has no inputs.
StepGraph training_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                         std::span<const TensorType> element, const std::optional<BatchShare>& share = {});
/// What the executor of a training step is to do: the layers of config.offload by name. Throws Error for layers that
/// the model does not have, that are recomputed, or that are on the host.
ExecutorOptions training_options(const Model& model, const CompileConfig& config);
StepGraph evaluation_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                           std::span<const TensorType> element, const std::optional<BatchShare>& share = {});
/// `element` may go on with labels, which are ignored. Outputs: the model's.
StepGraph prediction_graph(const Model& model, std::span<const TensorType> element);

}  // namespace gpubench
