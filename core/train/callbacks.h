// What happens around epochs and steps of fit: a callback sees the figures and may change the learning rate, stop the
// training or save the model. Here are the interface and the callbacks that Keras has, under its names.
#pragma once
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/tensor/host_tensor.h"
#include "core/train/metric_states.h"

namespace gpubench {

class Trainer;

/// A training under way, as callbacks see it.
struct Training {
  Trainer& trainer;
  std::int64_t epochs = 1;
  /// Steps of an epoch; 0 while that is not known.
  std::int64_t steps = 0;
  /// Whether it goes on from a saved one.
  bool resumed = false;
  /// Set to end the training after the current epoch.
  bool stop = false;
};

class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin(Training&) {}
  virtual void on_epoch_begin(Training&, std::int64_t /*epoch*/) {}
  /// `logs` has the epoch's figures so far. Reading them waits for the device, so it is called only if wants_batches().
  virtual void on_batch_end(Training&, std::int64_t /*batch*/, const Logs& /*logs*/) {}
  /// `logs` has loss, metrics and val_...; what is added here goes into the history.
  virtual void on_epoch_end(Training&, std::int64_t /*epoch*/, Logs& /*logs*/) {}
  virtual void on_train_end(Training&) {}
  virtual bool wants_batches() const { return false; }
  /// After every step, without waiting for the device; only if wants_steps().
  virtual void on_step(std::int64_t /*step*/) {}
  virtual bool wants_steps() const { return false; }
};
using CallbackPtr = std::shared_ptr<Callback>;

struct CsvLoggerOptions {
  std::filesystem::path path;
  char separator = ',';
  bool append = false;
};

/// Writes the figures of every epoch, numbered from 1, as a row of a CSV file; on disk before the next epoch begins.
class CsvLogger final : public Callback {
 public:
  explicit CsvLogger(CsvLoggerOptions options) : options_(std::move(options)) {}

  /// Throws Error when the file cannot be opened.
  void on_train_begin(Training& training) override;
  /// Throws Error when the row cannot be written.
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;
  void on_train_end(Training& training) override;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const std::string& line);

  CsvLoggerOptions options_;
  std::unique_ptr<std::FILE, Close> file_;
  bool needs_header_ = true;
};

/// Follows one figure over the epochs: EarlyStopping and ModelCheckpoint ask whether it is better than ever.
class Monitor {
 public:
  /// `mode`: "min", "max" or "auto", which takes max for figures named after accuracy. Throws Error otherwise.
  Monitor(std::string owner, std::string figure, const std::string& mode, double min_delta = 0);

  void reset() { best_.reset(); }
  /// Whether this epoch's figure beats the best so far by more than min_delta. Throws Error, listing the figures that
  /// are there, when it is not among `logs`.
  bool improves(const Logs& logs);
  double best() const { return best_.value_or(0); }

 private:
  std::string owner_, figure_;
  bool larger_is_better_;
  double min_delta_;
  std::optional<double> best_;
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  std::int64_t patience = 0;
  std::string mode = "auto";
  bool restore_best_weights = false;
  std::int64_t start_from_epoch = 0;
};

/// Ends training when a figure has not improved for a number of epochs, and can give back the best weights.
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

/// Sets the learning rate before every epoch from a function of the epoch and the rate so far.
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
  /// Folder, in which "{epoch}" stands for the epoch from 1 and "{val_loss}" for any figure.
  std::string path;
  std::string monitor = "val_loss";
  bool save_best_only = false;
  std::string mode = "auto";
  /// Where the filled path is written; may refuse it by an Error.
  std::function<std::string(const std::string& filled)> place = [](const std::string& filled) { return filled; };
};

/// Saves the model after every epoch, or only when a figure has improved.
class ModelCheckpoint final : public Callback {
 public:
  explicit ModelCheckpoint(ModelCheckpointOptions options);
  void on_train_begin(Training& training) override;
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;

 private:
  ModelCheckpointOptions options_;
  Monitor monitor_;
};

enum class Verbosity : std::uint8_t { silent, line, epochs };

/// One line: "loss: 0.1234 - accuracy: 0.9876".
void print_figures(const Logs& logs, std::FILE* stream);

/// Prints how far fit is: on a terminal one line that is rewritten, elsewhere a line per epoch or nothing.
class Progress final : public Callback {
 public:
  /// `line` needs a terminal; on any other stream it says nothing.
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
