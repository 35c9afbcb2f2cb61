// Training by epochs, as in Keras: the step loop over a dataset, validation and callbacks between the epochs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/data/dataset.h"
#include "core/train/callbacks.h"
#include "core/train/trainer.h"

namespace gpubench {

/// The figures of a training, by epoch.
struct History {
  std::vector<std::int64_t> epochs;
  /// By figure, in the order in which they first appeared; one value per epoch.
  std::vector<std::pair<std::string, std::vector<double>>> figures;

  void add(std::int64_t epoch, const Logs& logs);
};

struct FitOptions {
  std::int64_t epochs = 1;
  std::int64_t initial_epoch = 0;
  /// Steps of one epoch; 0: until the dataset ends. A dataset that goes on is continued in the next epoch.
  std::int64_t steps_per_epoch = 0;
  /// Batched; null: none.
  DatasetPtr validation{};
  std::vector<CallbackPtr> callbacks{};
  /// Where the training's state is saved after every epoch; when it is there already, the training goes on from it
  /// with the weights of one that was never interrupted. Figures of the epoch that it goes on in cover its rest. Empty:
  /// nowhere.
  std::filesystem::path resume{};
  /// What it goes on from instead of `resume`; empty: that one.
  std::filesystem::path restart_from{};
  /// Whether this process saves: where several train together, their states are equal and one file is enough.
  bool saves = true;
  /// Saves also after so many steps of an epoch; 0: only between epochs.
  std::int64_t save_steps = 0;
};

/// `dataset` is batched. Throws Error when it is empty, or endless without steps_per_epoch.
History fit(Trainer& trainer, const Dataset& dataset, const FitOptions& options);

/// Batches over arrays whose first dimensions agree: inputs, then labels.
/// With a seed, every epoch has all examples in another order.
DatasetPtr batches_of(std::vector<HostTensor> arrays, std::int64_t batch_size,
                      std::optional<std::uint64_t> shuffle_seed = {});

}  // namespace gpubench
