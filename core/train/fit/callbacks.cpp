#include "core/train/fit/callbacks.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/train/files/model_files.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

constexpr Seconds redraw_interval{0.1};
constexpr const char* clear_line = "\r\033[K";

constexpr const char* figure_separator = " - ";

std::string figures_text(const Logs& logs) {
  std::string text;
  for (const auto& [name, value] : logs) {
    const bool count = name.ends_with("_steps");
    text += fmt::format("{}{}: {:.{}f}", figure_separator, name, value, count ? 0 : 4);
  }
  return text;
}

}  // namespace

void CsvLogger::on_train_begin(Training&) {
  columns_.clear();
  file_.reset(std::fopen(options_.path.c_str(), options_.append ? "a" : "w"));
  if (!file_) {
    throw Error(fmt::format("CSVLogger: cannot write {}: {}", options_.path.string(), std::strerror(errno)));
  }
}

void CsvLogger::write(const std::string& line) {
  const bool written = std::fputs(line.c_str(), file_.get()) >= 0 && std::fflush(file_.get()) == 0;
  if (!written) {
    throw Error(fmt::format("CSVLogger: cannot write {}: {}", options_.path.string(), std::strerror(errno)));
  }
}

void CsvLogger::begin(const Training& training, const Logs& logs) {
  std::string header = "epoch", present;
  for (const auto& [name, value] : logs) columns_.push_back(name);
  for (const auto& [name, value] : logs) {
    if (training.skips_validation && training.trainer.figure(name) != nullptr) columns_.push_back("val_" + name);
  }
  for (const std::string& name : columns_) header += options_.separator + name;
  std::ifstream earlier(options_.path);
  if (!std::getline(earlier, present)) return write(header + "\n");
  if (present != header) {
    throw Error(fmt::format("CSVLogger: {} has the columns {}, and this training gives {}; append to another file",
                            options_.path.string(), present, header));
  }
}

void CsvLogger::on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) {
  if (columns_.empty()) begin(training, logs);
  std::string row = std::to_string(epoch + 1);
  for (const std::string& name : columns_) {
    const double* const value = find_log(logs, name);
    row += value == nullptr ? fmt::format("{}NA", options_.separator) : fmt::format("{}{}", options_.separator, *value);
  }
  write(row + "\n");
}

void CsvLogger::on_train_end(Training&) {
  file_.reset();
}

Monitor::Monitor(std::string owner, std::string figure, const std::string& mode, double min_delta)
    : owner_(std::move(owner)), figure_(std::move(figure)), min_delta_(std::abs(min_delta)) {
  if (mode == "min") given_ = Direction::down;
  if (mode == "max") given_ = Direction::up;
  if (!given_ && mode != "auto")
    throw Error(fmt::format("{}: mode must be 'auto', 'min' or 'max', got '{}'", owner_, mode));
}

void Monitor::fail_without_direction() const {
  throw Error(
      fmt::format("{}: nothing says whether larger or smaller values of '{}' are better: give mode = \"min\" or "
                  "mode = \"max\"",
                  owner_, figure_));
}

void Monitor::begin(const Trainer& trainer) {
  best_.reset();
  direction_ = given_;
  const Figure* const figure = trainer.figure(figure_);
  if (direction_ || figure == nullptr) return;
  direction_ = figure->direction();
  if (!direction_) fail_without_direction();
}

bool Monitor::is_left_out(const Training& training, const Logs& logs) const {
  return training.skips_validation && figure_.starts_with("val_") && find_log(logs, figure_) == nullptr;
}

bool Monitor::improves(const Trainer& trainer, const Logs& logs) {
  const double* now = find_log(logs, figure_);
  if (now == nullptr) {
    const bool validation = figure_.starts_with("val_");
    throw Error(fmt::format("{}: there is no figure '{}' to monitor (there are: {}){}", owner_, figure_,
                            names_of_logs(logs), validation ? "; figures of validation need validation_data" : ""));
  }
  if (!direction_) begin(trainer);  // a model without an input shape had no metrics when training began
  if (!direction_) fail_without_direction();
  latest_ = *now;
  if (std::isnan(latest_) || (best_ && !beats(*best_))) return false;
  best_ = latest_;
  return true;
}

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)), monitor_("EarlyStopping", options_.monitor, options_.mode, options_.min_delta) {
  if (options_.patience < 0) {
    throw Error(fmt::format("EarlyStopping: patience must be at least 0, got {}", options_.patience));
  }
}

void EarlyStopping::on_train_begin(Training& training) {
  monitor_.begin(training.trainer);
  waited_ = 0;
  best_weights_.clear();
}

void EarlyStopping::on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) {
  if (epoch < options_.start_from_epoch || monitor_.is_left_out(training, logs)) return;
  const bool improves = monitor_.improves(training.trainer, logs);
  if (options_.restore_best_weights && (improves || best_weights_.empty())) best_weights_ = training.trainer.weights();
  ++waited_;
  if (improves && (!options_.baseline || monitor_.beats(*options_.baseline))) waited_ = 0;
  // As in Keras, not after the first epoch, whatever it gave.
  if (!improves && waited_ >= options_.patience && epoch > 0) training.stop = true;
}

void EarlyStopping::on_train_end(Training& training) {
  if (!best_weights_.empty()) training.trainer.set_weights(best_weights_);
  best_weights_.clear();
}

void LearningRateScheduler::on_epoch_begin(Training& training, std::int64_t epoch) {
  training.trainer.set_learning_rate(function_(epoch, training.trainer.learning_rate()));
}

void LearningRateScheduler::on_epoch_end(Training& training, std::int64_t, Logs& logs) {
  logs.emplace_back("learning_rate", training.trainer.learning_rate());
}

ModelCheckpoint::ModelCheckpoint(ModelCheckpointOptions options)
    : options_(std::move(options)),
      path_("ModelCheckpoint", options_.path),
      monitor_("ModelCheckpoint", options_.monitor, options_.mode) {}

void ModelCheckpoint::on_train_begin(Training& training) {
  if (options_.save_best_only) monitor_.begin(training.trainer);
}

void ModelCheckpoint::on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) {
  if (options_.save_best_only) {
    // As in Keras, an epoch without validation is saved.
    if (!monitor_.is_left_out(training, logs)) {
      if (!monitor_.improves(training.trainer, logs)) return;
    } else if (const auto& warn = training.trainer.config().warn; warn && !warned_) {
      warned_ = true;
      warn(
          fmt::format("ModelCheckpoint: epochs without validation are saved too, as {} does not say whether they are "
                      "the best",
                      options_.monitor));
    }
  }
  const auto save = options_.save_weights_only ? &save_weights : &save_model;
  save(training.trainer.runtime(), training.trainer.model(), options_.place(path_.filled(epoch + 1, logs)));
}

ReduceLearningRateOnPlateau::ReduceLearningRateOnPlateau(ReduceLearningRateOptions options)
    : options_(std::move(options)), monitor_("ReduceLROnPlateau", options_.monitor, options_.mode, options_.min_delta) {
  if (!(options_.factor >= 0 && options_.factor < 1)) {
    throw Error(fmt::format("ReduceLROnPlateau: factor must be at least 0 and below 1, got {}", options_.factor));
  }
  if (options_.patience < 0 || options_.cooldown < 0 || !(options_.min_lr >= 0)) {
    throw Error(fmt::format("ReduceLROnPlateau: patience, cooldown and min_lr must be at least 0, got {}, {} and {}",
                            options_.patience, options_.cooldown, options_.min_lr));
  }
}

void ReduceLearningRateOnPlateau::on_train_begin(Training& training) {
  monitor_.begin(training.trainer);
  waited_ = cooling_ = 0;
}

void ReduceLearningRateOnPlateau::on_epoch_end(Training& training, std::int64_t, Logs& logs) {
  const double rate = training.trainer.learning_rate();
  const bool is_left_out = monitor_.is_left_out(training, logs);
  const bool improves = !is_left_out && monitor_.improves(training.trainer, logs);
  logs.emplace_back("learning_rate", rate);
  if (is_left_out) return;
  if (cooling_ > 0) {
    --cooling_;
    waited_ = 0;
  }
  if (improves) {
    waited_ = 0;
    return;
  }
  if (cooling_ > 0 || ++waited_ < options_.patience || rate <= options_.min_lr) return;
  training.trainer.set_learning_rate(std::max(rate * options_.factor, options_.min_lr));
  cooling_ = options_.cooldown;
  waited_ = 0;
}

void TerminateOnNan::on_batch_end(Training& training, std::int64_t, const Logs& logs) {
  const double* const loss = find_log(logs, "loss");
  if (loss != nullptr && !std::isfinite(*loss)) training.stop = true;
}

void print_figures(const Logs& logs, std::FILE* stream) {
  const std::string text = figures_text(logs);
  fmt::print(stream, "{}\n", text.empty() ? text : text.substr(std::string_view(figure_separator).size()));
}

Progress::Progress(Verbosity verbosity, std::FILE* stream) : verbosity_(verbosity), stream_(stream) {
  if (verbosity_ == Verbosity::line && isatty(fileno(stream_)) == 0) verbosity_ = Verbosity::silent;
}

void Progress::on_train_begin(Training& training) {
  training_ = &training;
}

void Progress::on_epoch_begin(Training&, std::int64_t epoch) {
  epoch_ = epoch;
  epoch_time_.restart();
  since_drawn_.restart();
}

void Progress::on_step(std::int64_t step) {
  if (since_drawn_.elapsed() < redraw_interval) return;
  since_drawn_.restart();
  const std::string of = training_->steps > 0 ? fmt::format("/{}", training_->steps) : "";
  fmt::print(stream_, "{}Epoch {}/{}  step {}{}{}", clear_line, epoch_ + 1, training_->epochs, step + 1, of,
             figures_text(training_->trainer.read_metrics()));
  std::fflush(stream_);
}

void Progress::on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) {
  if (verbosity_ == Verbosity::silent) return;
  const double seconds = epoch_time_.elapsed().count();
  const double per_step = training.steps > 0 ? seconds / static_cast<double>(training.steps) : 0;
  fmt::print(stream_, "{}Epoch {}/{}  {} steps - {} ({}/step){}\n", verbosity_ == Verbosity::line ? clear_line : "",
             epoch + 1, training.epochs, training.steps, format_seconds(seconds), format_seconds(per_step),
             figures_text(logs));
  std::fflush(stream_);
}

}  // namespace gpubench
