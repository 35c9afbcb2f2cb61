// The training configuration from model:compile(), and its checks against the model.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/replicas.h"
#include "core/nn/loss.h"
#include "core/nn/metric.h"
#include "core/nn/model.h"
#include "core/train/custom_step.h"
#include "core/train/loss_scale.h"
#include "core/train/metric_states.h"
#include "core/train/optimizer.h"

namespace gpubench {

/// The settings of model:compile().
struct CompileConfig {
  OptimizerPtr optimizer;
  /// One for all outputs, or one each; the model's loss is their sum.
  std::vector<LossPtr> losses;
  /// Of every output.
  std::vector<MetricPtr> metrics;
  ExecutorOptions executor;
  /// Whether batches are created in page-locked memory if the device of the model's inputs copies faster from there.
  bool pin_inputs = true;
  /// Keeps small gradients of 16-bit models; none: the loss is not scaled.
  LossScalePtr loss_scale = nullptr;
  /// Parts (micro-batches) into which a training step divides a batch. They are computed one after the other, and the
  /// update uses the mean of their gradients: the same result as for the whole batch except for rounding, with the
  /// activations of one part only. Layers that depend on the whole batch (BatchNormalization) see one part.
  std::int64_t gradient_accumulation_steps = 1;
  /// Names of layers whose activations are recomputed for the gradients instead of kept.
  std::vector<std::string> recompute{};
  /// Alternative to names: limit in bytes for a training step, for which layers are chosen; 0: none.
  std::size_t recompute_budget = 0;
  /// Layers whose activations are kept in host memory until their gradients are computed.
  struct Offload {
    bool all = false;                   ///< all layers that are not on the host
    std::vector<std::string> layers{};  ///< or these
    int ahead = OffloadOptions{}.ahead;
  } offload{};
  /// The replicas that train the model together; null: no replicas.
  ReplicasPtr replicas = nullptr;
  /// Factors of the outputs' losses in their sum; empty: all 1.
  std::vector<double> loss_weights{};
  /// Factors of training examples by their class, for a model with one output; empty: all 1.
  std::vector<float> class_weights{};
  /// Metrics of single outputs besides `metrics`: one list each, or none.
  std::vector<std::vector<MetricPtr>> output_metrics{};
  /// Is told what is odd and no error; none: nobody.
  std::function<void(const std::string&)> warn{};
  /// Steps of the script in place of those of optimizer, losses and metrics; null: those.
  CustomStepPtr train_step = nullptr, test_step = nullptr;
};

/// The metrics of one output.
std::vector<MetricPtr> metrics_of(const CompileConfig& config, std::size_t output);
/// "loss", then each metric. With several outputs: "loss", the loss of each output ("dense_1_loss"), then the metrics
/// of each ("dense_1_accuracy"). The model is defined.
std::vector<Figure> figures_of(const Model& model, const CompileConfig& config);

/// The layers with these names. Throws Error for a name that the model lacks; `purpose` completes "there is no layer
/// 'x' to ...".
std::vector<OwnerPtr> layers_named(const Model& model, const std::vector<std::string>& names, std::string_view purpose);

/// Throws Error naming a layer without a gradient: one that computes in int8.
void require_gradients(const Model& model);

/// Throws Error for settings of the step that compile describes and a train_step does not read: accumulation and
/// recomputation.
void require_plain_step(const Model& model, const CompileConfig& config);

/// Variables of the optimizer, then of the loss scale; both have been built. None for a train_step, whose optimizers
/// are those of the script.
std::vector<VariablePtr> optimizer_state(const Model& model, const CompileConfig& config);

/// Options for the executor of a training step, with the layers of config.offload. Throws Error for offloaded layers
/// that the model lacks, that are recomputed, or that are on the host.
ExecutorOptions training_executor_options(const Model& model, const CompileConfig& config);

}  // namespace gpubench
