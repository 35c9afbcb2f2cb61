#include "core/train/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/units.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

constexpr Seconds redraw_interval{0.1};
constexpr const char* clear_line = "\r\033[K";

constexpr const char* separator = " - ";

std::string figures(const Logs& logs) {
  std::string text;
  for (const auto& [name, value] : logs) {
    const bool count = name.ends_with("_steps");
    text += fmt::format("{}{}: {:.{}f}", separator, name, value, count ? 0 : 4);
  }
  return text;
}

}  // namespace

void print_figures(const Logs& logs, std::FILE* stream) {
  const std::string text = figures(logs);
  fmt::print(stream, "{}\n", text.empty() ? text : text.substr(std::string_view(separator).size()));
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
             figures(training_->trainer.read_metrics()));
  std::fflush(stream_);
}

void Progress::on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) {
  if (verbosity_ == Verbosity::silent) return;
  const double seconds = epoch_time_.elapsed().count();
  const double per_step = training.steps > 0 ? seconds / static_cast<double>(training.steps) : 0;
  fmt::print(stream_, "{}Epoch {}/{}  {} steps - {} ({}/step){}\n", verbosity_ == Verbosity::line ? clear_line : "",
             epoch + 1, training.epochs, training.steps, format_seconds(seconds), format_seconds(per_step),
             figures(logs));
  std::fflush(stream_);
}

}  // namespace gpubench
