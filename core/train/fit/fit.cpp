#include "core/train/fit/fit.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/shuffle.h"
#include "core/train/files/training_state.h"

namespace gpubench {

/// Lives as long as the fit to which the callbacks belong. A callback of that fit may begin another one.
class CallbacksInUse {
 public:
  CallbacksInUse(const std::vector<CallbackPtr>& callbacks, std::string_view operation) {
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      if (!callbacks[i]->is_in_use_) continue;
      throw Error(fmt::format("{0}: callback {1} belongs to a fit that is running; make another one for this {0}",
                              operation, i + 1));
    }
    for (const CallbackPtr& callback : callbacks) {
      if (std::exchange(callback->is_in_use_, true)) continue;  // it is in the list twice
      own_.push_back(callback);
    }
  }
  ~CallbacksInUse() {
    for (const CallbackPtr& callback : own_) {
      callback->leave();
      callback->is_in_use_ = false;
    }
  }
  CallbacksInUse(const CallbacksInUse&) = delete;
  CallbacksInUse& operator=(const CallbacksInUse&) = delete;

 private:
  std::vector<CallbackPtr> own_;
};

namespace {

/// Lets the callbacks watch an evaluation or a prediction, which `make` makes with what it is given.
template <class Make>
auto watched(Trainer& trainer, StepPhase phase, const std::vector<CallbackPtr>& callbacks, std::int64_t steps,
             Make&& make) {
  Inference how{.steps = steps};
  if (!callbacks.empty()) {
    how.before = [&](std::int64_t batch) {
      for (const CallbackPtr& callback : callbacks) callback->on_inference_batch_begin(phase, batch);
    };
    how.after = [&](std::int64_t batch, std::span<const HostTensor> outputs) {
      bool goes_on = true;
      const InferenceBatch now{phase, batch, outputs, [&] { return trainer.read_metrics(phase); }};
      for (const CallbackPtr& callback : callbacks) goes_on = callback->on_inference_batch_end(now) && goes_on;
      return goes_on;
    };
  }
  for (const CallbackPtr& callback : callbacks) callback->on_inference_begin(trainer, phase);
  auto result = make(how);
  Logs logs;
  if constexpr (std::is_same_v<decltype(result), Logs>) logs = result;
  for (const CallbackPtr& callback : callbacks) callback->on_inference_end(trainer, phase, logs);
  return result;
}

Logs evaluated(Trainer& trainer, const Dataset& dataset, const std::vector<CallbackPtr>& callbacks,
               std::int64_t steps) {
  return watched(trainer, StepPhase::evaluation, callbacks, steps,
                 [&](const Inference& how) { return trainer.evaluate(dataset, how); });
}

/// One fit under way.
class Fit {
 public:
  Fit(Trainer& trainer, const Dataset& dataset, const FitOptions& options)
      : trainer_(trainer),
        dataset_(dataset),
        options_(options),
        callbacks_(options.callbacks, "fit"),
        steps_(trainer.training_loop()),
        training_{trainer, options.epochs, expected_steps()} {
    for (const CallbackPtr& callback : options.callbacks) {
      wants_batches_ = wants_batches_ || callback->wants_batches();
      if (callback->wants_steps()) step_watchers_.push_back(callback.get());
      if (callback->wants_batch_begins()) begin_watchers_.push_back(callback.get());
    }
  }

  History run() {
    if (options_.validation) trainer_.evaluation_loop();  // fails now, not after an epoch
    if (trainer_.model().defined() || !options_.resume.empty()) trainer_.prepare_training(dataset_.element_types());
    resume();
    each([&](Callback& callback) { callback.on_train_begin(training_); });
    for (std::int64_t epoch = position_.epoch; epoch < options_.epochs && !training_.stop; ++epoch) {
      run_epoch(epoch);
    }
    trainer_.take_averages();
    each([&](Callback& callback) { callback.on_train_end(training_); });
    return std::move(history_);
  }

 private:
  std::int64_t expected_steps() const {
    if (options_.steps_per_epoch > 0) return options_.steps_per_epoch;
    const std::optional<std::int64_t> size = dataset_.size();
    if (size == endless) throw Error("fit: the dataset never ends; give steps_per_epoch or use take");
    return size.value_or(0);
  }

  template <class Call>
  void each(Call&& call) {
    for (const CallbackPtr& callback : options_.callbacks) call(*callback);
  }

  void run_epoch(std::int64_t epoch) {
    training_.skips_validation = options_.validation && !validates_after(epoch + 1);
    each([&](Callback& callback) { callback.on_epoch_begin(training_, epoch); });
    if (position_.step == 0) trainer_.reset_metrics();  // else they go on from where the training was saved
    train();
    Logs logs = trainer_.read_metrics();
    if (const auto skipped = trainer_.skipped_steps())
      logs.emplace_back("skipped_steps", static_cast<double>(*skipped));
    if (options_.validation && !training_.skips_validation) {
      const Logs found = evaluated(trainer_, *options_.validation, options_.callbacks, options_.validation_steps);
      for (const auto& [name, value] : found) logs.emplace_back("val_" + name, value);
    }
    each([&](Callback& callback) { callback.on_epoch_end(training_, epoch, logs); });
    history_.add(epoch, logs);
    position_.epoch = epoch + 1;
    position_.step = 0;
    if (options_.steps_per_epoch == 0) open_data(epoch + 1);
    save();
  }

  /// `epoch`: counted from 1.
  bool validates_after(std::int64_t epoch) const {
    if (const auto* const each = std::get_if<std::int64_t>(&options_.validation_freq)) return epoch % *each == 0;
    const auto& epochs = std::get<std::vector<std::int64_t>>(options_.validation_freq);
    return std::ranges::find(epochs, epoch) != epochs.end();
  }

  void save() {
    if (options_.saves && !options_.resume.empty()) save_training(trainer_, options_.resume, position_);
  }

  void resume() {
    position_.epoch = position_.data_epoch = options_.initial_epoch;
    if (options_.resume.empty()) return;
    const std::filesystem::path& from = options_.restart_from.empty() ? options_.resume : options_.restart_from;
    if (!std::filesystem::exists(from)) return;
    position_ = load_training(trainer_, from);
    training_.resumed = true;
  }

  /// Continues with the elements of this epoch of the dataset.
  void open_data(std::int64_t epoch) {
    cursor_.reset();
    position_.data_epoch = epoch;
    position_.data_position = 0;
  }

  void require_cursor() {
    if (cursor_) return;
    cursor_ = trainer_.open(dataset_, static_cast<std::uint64_t>(position_.data_epoch));
    if (position_.data_position > 0) cursor_->skip(position_.data_position);
  }

  void train() {
    require_cursor();
    std::int64_t step = position_.step;
    for (; options_.steps_per_epoch == 0 || step < options_.steps_per_epoch; ++step) {
      announce(step);
      if (!steps_.step(*cursor_) && !continue_dataset(step)) break;
      ++position_.data_position;
      position_.step = step + 1;
      training_.fetched = steps_.fetched();
      for (Callback* watcher : step_watchers_) watcher->on_step(step);
      if (wants_batches_) report_batch(step);
      if (options_.save_steps > 0 && position_.step % options_.save_steps == 0) {
        save();
      }
      if (training_.stop) {
        ++step;
        break;
      }
    }
    trainer_.runtime().synchronize();
    steps_.release();
    if (step == 0) throw Error("fit: the dataset is empty");
    training_.steps = step;
  }

  /// With steps_per_epoch, an epoch may begin in the middle of the dataset and go over its end.
  bool continue_dataset(std::int64_t step) {
    const bool nothing_yet = step == 0 && position_.data_position == 0;
    if (options_.steps_per_epoch == 0 || nothing_yet) return false;
    open_data(position_.data_epoch + 1);
    require_cursor();
    return steps_.step(*cursor_);
  }

  /// Not behind the last step of a dataset whose size is known.
  void announce(std::int64_t step) {
    if (begin_watchers_.empty()) return;
    const std::int64_t steps = expected_steps();
    if (steps > 0 && step >= steps) return;
    for (Callback* watcher : begin_watchers_) watcher->on_batch_begin(training_, step);
  }

  void report_batch(std::int64_t step) {
    const Logs logs = trainer_.read_metrics();
    each([&](Callback& callback) {
      if (callback.wants_batches()) callback.on_batch_end(training_, step, logs);
    });
  }

  Trainer& trainer_;
  const Dataset& dataset_;
  const FitOptions& options_;
  CallbacksInUse callbacks_;
  StepLoop steps_;
  Training training_;
  History history_;
  std::unique_ptr<Cursor> cursor_;
  TrainingPosition position_;
  bool wants_batches_ = false;
  std::vector<Callback*> step_watchers_, begin_watchers_;
};

}  // namespace

History fit(Trainer& trainer, const Dataset& dataset, const FitOptions& options) {
  if (options.epochs < 1) throw Error(fmt::format("fit: epochs must be at least 1, got {}", options.epochs));
  if (const auto* const each = std::get_if<std::int64_t>(&options.validation_freq); each != nullptr && *each < 1) {
    throw Error(fmt::format("fit: validation_freq must be at least 1, or a list of epochs, got {}", *each));
  }
  if (options.save_steps < 0 || (options.save_steps > 0 && options.resume.empty())) {
    throw Error(fmt::format("fit: save_steps of {}: at least 1 is needed, and resume must say where to save",
                            options.save_steps));
  }
  if (!options.resume.empty() && trainer.config().train_step) {
    throw Error(
        fmt::format("fit: resume saves the optimizer of compile, and model '{}' has a train_step, whose "
                    "optimizers are the script's; save its weights by ModelCheckpoint",
                    trainer.model().name()));
  }
  const bool saves_within_epochs = options.save_steps > 0 || options.steps_per_epoch > 0;
  if (!options.resume.empty() && saves_within_epochs) require_order(dataset, "fit: resume");
  return Fit(trainer, dataset, options).run();
}

Logs evaluate(Trainer& trainer, const Dataset& dataset, const EvaluationOptions& options) {
  const CallbacksInUse callbacks(options.callbacks, "evaluate");
  return evaluated(trainer, dataset, options.callbacks, options.steps);
}

std::vector<HostTensor> predict(Trainer& trainer, const Dataset& dataset, const EvaluationOptions& options) {
  const CallbacksInUse callbacks(options.callbacks, "predict");
  return watched(trainer, StepPhase::prediction, options.callbacks, options.steps,
                 [&](const Inference& how) { return trainer.predict(dataset, how); });
}

Logs train_steps(Trainer& trainer, const Dataset& dataset) {
  StepLoop steps = trainer.training_loop();
  trainer.reset_metrics();
  const std::unique_ptr<Cursor> cursor = trainer.open(dataset);
  while (steps.step(*cursor)) {
  }
  return trainer.read_metrics();
}

DatasetPtr batches_of(std::vector<HostTensor> arrays, std::int64_t batch_size,
                      std::optional<std::uint64_t> shuffle_seed) {
  if (arrays.empty() || arrays[0].shape().empty()) {
    throw Error("fit: arrays need a first dimension that counts the examples");
  }
  const std::int64_t examples = arrays[0].shape()[0];
  DatasetPtr dataset = from_tensor_slices(std::move(arrays));
  if (shuffle_seed) dataset = shuffle(std::move(dataset), {.buffer = examples, .seed = *shuffle_seed});
  return batch(std::move(dataset), batch_size);
}

void History::add(std::int64_t epoch, const Logs& logs) {
  epochs.push_back(epoch);
  for (const auto& [name, value] : logs) {
    const auto found =
        std::find_if(figures.begin(), figures.end(), [&name = name](const auto& own) { return own.first == name; });
    if (found == figures.end()) {
      figures.emplace_back(name, std::vector<double>{value});
    } else {
      found->second.push_back(value);
    }
  }
}

}  // namespace gpubench
