// Magnitude pruning: the kernels' smallest weights become zero and stay so while training goes on, a growing share of
// them by a schedule (Zhu and Gupta, "To prune, or not to prune", 2017). Names follow the TensorFlow Model Optimization
// toolkit. A pruned model has as many variables as before: zeros make it smaller only once it is packed.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/executor.h"
#include "core/nn/model.h"
#include "core/train/callbacks.h"

namespace gpubench {

/// The share of zeros by training step, from 1. Before `begin_step` nothing is pruned; the masks are chosen anew at
/// begin_step (0: the first) and every `frequency` steps until `end_step` (none: for ever), where the last share is
/// reached.
struct SparsitySchedule {
  double initial_sparsity = 0, final_sparsity = 0.5;
  std::int64_t begin_step = 0;
  std::optional<std::int64_t> end_step = std::nullopt;
  double power = 3;
  std::int64_t frequency = 100;

  bool is_due(std::int64_t step) const;
  /// final + (initial - final) (1 - (step - begin) / (end - begin))^power; without an end the final share at once.
  double at(std::int64_t step) const;
};
/// Throws Error, naming `what`, for shares outside [0, 1), an end that is not behind the beginning, a frequency below 1
/// and a power that is not above 0.
void check(const SparsitySchedule& schedule, std::string_view what);

class MagnitudePruning final : public Callback {
 public:
  /// Prunes the kernels (variables with two dimensions or more) of the layers named, or of all but the last that has
  /// one. Throws Error for a schedule that check() refuses, a layer that the model lacks and one without a kernel.
  MagnitudePruning(Runtime& runtime, ModelPtr model, const SparsitySchedule& schedule, std::vector<std::string> layers);

  /// Throws Error for a training of another model. One that was resumed goes on with the masks that its zeros show.
  void on_train_begin(Training& training) override;
  /// After a training step: chooses the masks anew where the schedule says so, which waits for the device, and applies
  /// them, which does not.
  void step();
  void on_step(std::int64_t) override { step(); }
  bool wants_steps() const override { return true; }
  /// The share of zeros among the pruned kernels' weights now; waits for the device.
  double sparsity() const;

 private:
  struct Kernel {
    VariablePtr weights, mask;
  };
  void choose_kernels();
  void choose_masks(double sparsity);

  Runtime& runtime_;
  ModelPtr model_;
  SparsitySchedule schedule_;
  std::vector<std::string> layers_;
  std::vector<Kernel> kernels_;
  std::unique_ptr<Executor> apply_;
  std::int64_t step_ = 0;
};

/// A mask for `weights` (float32): 0 for round(sparsity count) of them, those of the smallest magnitude and among equal
/// ones the first, 1 for the others.
HostTensor magnitude_mask(const HostTensor& weights, double sparsity);

}  // namespace gpubench
