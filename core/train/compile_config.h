// How a model is trained: what model:compile() sets, held against the model.
#pragma once
#include <string>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/replicas.h"
#include "core/nn/loss.h"
#include "core/nn/metric.h"
#include "core/nn/model.h"
#include "core/train/loss_scale.h"
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
  /// Names of layers whose activations are computed a second time for the gradients instead of being kept.
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

/// "loss", then each metric; with several outputs a metric counts once per output ("dense_1_accuracy").
std::vector<std::string> metric_names(const Model& model, const CompileConfig& config);

/// The layers of these names. Throws Error for a name that the model does not have; `purpose` ends the sentence "there
/// is no layer 'x' to ...".
std::vector<OwnerPtr> layers_named(const Model& model, const std::vector<std::string>& names, std::string_view purpose);

/// Throws Error where a layer has no gradient, naming it: one that computes in int8.
void require_gradients(const Model& model);

/// What the executor of a training step is to do, with the layers of config.offload. Throws Error for layers that the
/// model does not have, that are recomputed, or that are on the host.
ExecutorOptions training_executor_options(const Model& model, const CompileConfig& config);

}  // namespace gpubench
