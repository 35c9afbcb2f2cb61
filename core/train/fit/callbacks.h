// Callbacks around epochs and steps of fit: they see the figures and may change the learning rate, stop the training or
// save the model. Contains the interface and Keras' callbacks under their names.
#pragma once
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/tensor/host_tensor.h"
#include "core/train/files/filled_path.h"
#include "core/train/metric_states.h"

namespace gpubench {

class Trainer;
enum class StepPhase : std::uint8_t;

/// A running training, as callbacks see it.
struct Training {
  Trainer& trainer;
  std::int64_t epochs = 1;
  /// Steps per epoch; 0 if not yet known.
  std::int64_t steps = 0;
  /// Whether it continues from a saved training.
  bool resumed = false;
  /// Set to end the training: after the current batch when set by a callback of a batch, else after the current epoch.
  bool stop = false;
  /// Whether the current epoch ends without the validation that others have.
  bool skips_validation = false;
  /// When the input of the latest step was fetched.
  Clock::time_point fetched{};
};

/// A batch of an evaluation or a prediction.
struct InferenceBatch {
  StepPhase phase{};
  std::int64_t batch = 0;
  /// Of a prediction.
  std::span<const HostTensor> outputs{};
  /// Reads the figures so far of an evaluation, which waits for the device.
  std::function<Logs()> logs{};
};

class Callback {
 public:
  virtual ~Callback() = default;
  /// Around each evaluation, also those of fit's validation, and each prediction. `logs`: of an evaluation.
  virtual void on_inference_begin(Trainer&, StepPhase) {}
  virtual void on_inference_end(Trainer&, StepPhase, const Logs& /*logs*/) {}
  /// Around its batches. If the dataset's size is not known, none may follow the beginning of one.
  virtual void on_inference_batch_begin(StepPhase, std::int64_t /*batch*/) {}
  /// False ends it.
  virtual bool on_inference_batch_end(const InferenceBatch&) { return true; }
  virtual void on_train_begin(Training&) {}
  virtual void on_epoch_begin(Training&, std::int64_t /*epoch*/) {}
  /// Called before every step, only if wants_batch_begins(). If the dataset's size is not known, no step may follow.
  virtual void on_batch_begin(Training&, std::int64_t /*batch*/) {}
  virtual bool wants_batch_begins() const { return false; }
  /// `logs` has the epoch's figures so far. Reading them waits for the device, so this is called only if
  /// wants_batches().
  virtual void on_batch_end(Training&, std::int64_t /*batch*/, const Logs& /*logs*/) {}
  /// `logs` has loss, metrics and val_...; added figures go into the history.
  virtual void on_epoch_end(Training&, std::int64_t /*epoch*/, Logs& /*logs*/) {}
  virtual void on_train_end(Training&) {}
  virtual bool wants_batches() const { return false; }
  /// Called after every step without waiting for the device, only if wants_steps().
  virtual void on_step(std::int64_t /*step*/) {}
  virtual bool wants_steps() const { return false; }
  /// Called when the fit is over, however it has ended: from here on its Training is gone.
  virtual void leave() noexcept {}

 private:
  friend class CallbacksInUse;
  bool is_in_use_ = false;  // by a fit
};
using CallbackPtr = std::shared_ptr<Callback>;

struct CsvLoggerOptions {
  std::filesystem::path path;
  char separator = ',';
  bool append = false;
};

/// Writes the figures of every epoch, numbered from 1, as a row of a CSV file; the row is on disk before the next
/// epoch.
class CsvLogger final : public Callback {
 public:
  explicit CsvLogger(CsvLoggerOptions options) : options_(std::move(options)) {}

  /// Throws Error if the file cannot be opened.
  void on_train_begin(Training& training) override;
  /// Throws Error if the row cannot be written, and if the file that it is appended to has other columns.
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;
  void on_train_end(Training& training) override;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const std::string& line);
  void begin(const Training& training, const Logs& logs);

  CsvLoggerOptions options_;
  std::unique_ptr<std::FILE, Close> file_;
  /// Written once as the header, from the first epoch; figures that an epoch lacks are "NA", as in Keras.
  std::vector<std::string> columns_;
};

/// Tracks one figure over the epochs, for EarlyStopping, ModelCheckpoint and ReduceLROnPlateau.
class Monitor {
 public:
  /// `mode`: "min", "max" or "auto" (as the loss or metric behind the figure has it). Throws Error otherwise.
  Monitor(std::string owner, std::string figure, const std::string& mode, double min_delta = 0);

  /// Forgets the best value. Throws Error if the mode is "auto" and the metric does not say which values are better.
  void begin(const Trainer& trainer);
  /// Whether this epoch's figure beats the best one by more than min_delta. Throws Error listing the figures if it is
  /// not in `logs`, and if nothing says which values are better.
  bool improves(const Trainer& trainer, const Logs& logs);
  /// Whether the figure is of a validation that this epoch does not have.
  bool is_left_out(const Training& training, const Logs& logs) const;
  /// Whether the latest figure beats this one by more than min_delta.
  bool beats(double other) const { return gain_over(other) > min_delta_; }
  double best() const { return best_.value_or(0); }

 private:
  [[noreturn]] void fail_without_direction() const;
  double gain_over(double other) const { return *direction_ == Direction::up ? latest_ - other : other - latest_; }

  std::string owner_, figure_;
  std::optional<Direction> given_, direction_;
  double min_delta_;
  double latest_ = 0;
  std::optional<double> best_;
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  std::int64_t patience = 0;
  std::string mode = "auto";
  bool restore_best_weights = false;
  std::int64_t start_from_epoch = 0;
  /// What the figure must also beat to count as an improvement.
  std::optional<double> baseline{};
};

/// Ends training when a figure has not improved for some epochs, and can restore the best weights: those of the best
/// epoch, or of the first that was watched while none is better.
class EarlyStopping final : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options);

  void on_train_begin(Training& training) override;
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;
  void on_train_end(Training& training) override;

 private:
  EarlyStoppingOptions options_;
  Monitor monitor_;
  std::int64_t waited_ = 0;
  std::vector<HostTensor> best_weights_;
};

/// Sets the learning rate before every epoch, as a function of the epoch and the current rate.
class LearningRateScheduler final : public Callback {
 public:
  using Function = std::function<double(std::int64_t epoch, double rate)>;
  explicit LearningRateScheduler(Function function) : function_(std::move(function)) {}

  void on_epoch_begin(Training& training, std::int64_t epoch) override;
  /// Adds the figure learning_rate.
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;

 private:
  Function function_;
};

struct ModelCheckpointOptions {
  /// Folder or file, in which names of figures are filled in (core/train/files/filled_path.h).
  std::string path;
  std::string monitor = "val_loss";
  bool save_best_only = false;
  /// Whether the path is a file of weights only.
  bool save_weights_only = false;
  std::string mode = "auto";
  /// Maps the path after replacement to the path to write; may throw Error to refuse it.
  std::function<std::string(const std::string& filled)> place = [](const std::string& filled) { return filled; };
};

/// Saves the model after every epoch, or only if a figure has improved.
class ModelCheckpoint final : public Callback {
 public:
  explicit ModelCheckpoint(ModelCheckpointOptions options);
  void on_train_begin(Training& training) override;
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;

 private:
  ModelCheckpointOptions options_;
  FilledPath path_;
  Monitor monitor_;
  bool warned_ = false;  ///< of epochs without the figure
};

struct ReduceLearningRateOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  std::int64_t patience = 10;
  std::string mode = "auto";
  double min_delta = 1e-4;
  std::int64_t cooldown = 0;
  double min_lr = 0;
};

/// Multiplies the learning rate by a factor when a figure has not improved for some epochs. The figure learning_rate
/// goes into the history.
class ReduceLearningRateOnPlateau final : public Callback {
 public:
  /// Throws Error for a factor that reduces nothing, and for negative numbers.
  explicit ReduceLearningRateOnPlateau(ReduceLearningRateOptions options);
  void on_train_begin(Training& training) override;
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;

 private:
  ReduceLearningRateOptions options_;
  Monitor monitor_;
  std::int64_t waited_ = 0, cooling_ = 0;
};

/// Ends training when the loss is infinite or not a number. It looks after every batch, which waits for the device.
class TerminateOnNan final : public Callback {
 public:
  void on_batch_end(Training& training, std::int64_t batch, const Logs& logs) override;
  bool wants_batches() const override { return true; }
};

enum class Verbosity : std::uint8_t { silent, line, epochs };

/// One line: "loss: 0.1234 - accuracy: 0.9876".
void print_figures(const Logs& logs, std::FILE* stream);

/// Prints the progress of fit: one rewritten line on a terminal, elsewhere a line per epoch or nothing.
class Progress final : public Callback {
 public:
  /// `line` needs a terminal; on other streams it prints nothing.
  Progress(Verbosity verbosity, std::FILE* stream);

  void on_train_begin(Training& training) override;
  void on_epoch_begin(Training& training, std::int64_t epoch) override;
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;
  void on_step(std::int64_t step) override;
  bool wants_steps() const override { return verbosity_ == Verbosity::line; }

 private:
  Verbosity verbosity_;
  std::FILE* stream_;
  Training* training_ = nullptr;
  std::int64_t epoch_ = 0;
  Stopwatch epoch_time_, since_drawn_;
};

}  // namespace gpubench
