// Training by epochs as in Keras: the step loop over a dataset, with validation and callbacks between epochs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/data/dataset.h"
#include "core/train/fit/callbacks.h"
#include "core/train/trainer.h"

namespace gpubench {

/// The figures of a training, by epoch.
struct History {
  std::vector<std::int64_t> epochs;
  /// By figure, in the order of their first appearance; one value per epoch.
  std::vector<std::pair<std::string, std::vector<double>>> figures;

  void add(std::int64_t epoch, const Logs& logs);
};

struct FitOptions {
  std::int64_t epochs = 1;
  std::int64_t initial_epoch = 0;
  /// Steps per epoch; 0: until the dataset ends. A dataset that has not ended is continued in the next epoch.
  std::int64_t steps_per_epoch = 0;
  /// Batched; null: no validation.
  DatasetPtr validation{};
  /// The first batches of it alone; 0: all.
  std::int64_t validation_steps = 0;
  /// Validates after each so many epochs, or after these, counted from 1.
  std::variant<std::int64_t, std::vector<std::int64_t>> validation_freq = std::int64_t{1};
  std::vector<CallbackPtr> callbacks{};
  /// File in which the training's state is saved after every epoch. If it exists, the training continues from it, with
  /// the same weights as without the interruption. Figures of the continued epoch cover only its rest. Empty: not
  /// saved.
  std::filesystem::path resume{};
  /// File to continue from instead of `resume`; empty: `resume`.
  std::filesystem::path restart_from{};
  /// Whether this process saves: several processes that train together have equal states and need only one file.
  bool saves = true;
  /// Also saves after every `save_steps` steps of an epoch; 0: only between epochs.
  std::int64_t save_steps = 0;
};

/// `dataset` must be batched. Throws Error if it is empty, or infinite without steps_per_epoch.
History fit(Trainer& trainer, const Dataset& dataset, const FitOptions& options);

struct EvaluationOptions {
  std::int64_t steps = 0;  ///< the first batches alone; 0: all
  std::vector<CallbackPtr> callbacks{};
};

/// Loss and metrics over `dataset`, which must be batched.
Logs evaluate(Trainer& trainer, const Dataset& dataset, const EvaluationOptions& options);
/// The model's outputs for `dataset`, which must be batched.
std::vector<HostTensor> predict(Trainer& trainer, const Dataset& dataset, const EvaluationOptions& options);

/// Takes one training step for each element of `dataset` and returns the figures of these steps: for loops of scripts,
/// without epochs and callbacks.
Logs train_steps(Trainer& trainer, const Dataset& dataset);

/// Batches over arrays with equal first dimensions: inputs, then labels. With a seed, every epoch has a new random
/// order.
DatasetPtr batches_of(std::vector<HostTensor> arrays, std::int64_t batch_size,
                      std::optional<std::uint64_t> shuffle_seed = {});

}  // namespace gpubench
