// Magnitude pruning: the smallest weights of kernels become zero and stay zero during further training, with a share
// that grows by a schedule (Zhu and Gupta, "To prune, or not to prune", 2017). Names follow the TensorFlow Model
// Optimization toolkit. A pruned model has as many variables as before: zeros only shrink it when it is compressed.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/executor.h"
#include "core/nn/model.h"
#include "core/train/fit/callbacks.h"

namespace gpubench {

/// The share of zeros by training step, from 1. Nothing is pruned before `begin_step`. Masks are chosen at begin_step
/// (0: the first step) and then every `frequency` steps until `end_step` (none: without end), where the final share is
/// reached.
struct SparsitySchedule {
  double initial_sparsity = 0, final_sparsity = 0.5;
  std::int64_t begin_step = 0;
  std::optional<std::int64_t> end_step = std::nullopt;
  double power = 3;
  std::int64_t frequency = 100;

  bool is_due(std::int64_t step) const;
  /// final + (initial - final) (1 - (step - begin) / (end - begin))^power; the final share if there is no end.
  double at(std::int64_t step) const;
};
/// Throws Error, naming `what`, for shares outside [0, 1), an end that is not after the beginning, a frequency below 1
/// and a power that is not positive.
void check(const SparsitySchedule& schedule, std::string_view what);

class MagnitudePruning final : public Callback {
 public:
  /// Prunes the kernels (variables with at least two dimensions) of the named layers, or of all layers except the last
  /// with a kernel. Throws Error for a schedule that check() refuses, and for a layer that the model lacks or that has
  /// no kernel.
  MagnitudePruning(Runtime& runtime, ModelPtr model, const SparsitySchedule& schedule, std::vector<std::string> layers);

  /// Throws Error for a training of another model. A resumed training continues with the masks given by its zeros.
  void on_train_begin(Training& training) override;
  /// Call after each training step: updates the masks when the schedule requires it, which waits for the device, and
  /// applies them, which does not.
  void step();
  void on_step(std::int64_t) override { step(); }
  bool wants_steps() const override { return true; }
  /// The current share of zeros in the pruned kernels; waits for the device.
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

/// A mask for `weights` (float32): 0 for the round(sparsity * count) weights of smallest magnitude (ties: the first
/// ones), 1 for the others.
HostTensor magnitude_mask(const HostTensor& weights, double sparsity);

}  // namespace gpubench
