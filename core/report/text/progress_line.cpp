#include "core/report/text/progress_line.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/base/terminal.h"
#include "core/base/units.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

constexpr std::chrono::milliseconds between_draws{200};
constexpr std::string_view gap = "  ";
/// The last part is left out where it would be shorter.
constexpr std::size_t least_text = 8;

constexpr std::array<std::string_view, 5> phases{"preparing", "training", "warming up", "measuring", "tracing"};

std::string text_of(const Activity::Reading& activity) {
  if (!(activity.value > 0)) return std::string(phases[static_cast<std::size_t>(activity.phase)]);
  const std::string value = format_seconds(activity.value);
  const double percent = 100 * activity.relative_error;
  if (!std::isfinite(percent)) return value;
  return percent < 10 ? fmt::format("{} ± {:.2g} %", value, percent) : fmt::format("{} ± {:.0f} %", value, percent);
}

}  // namespace

std::string progress_text(const SweepProgress& progress, const Activity::Reading& activity, double elapsed_s,
                          std::size_t width) {
  const double left = std::max(progress.left_s - std::clamp(elapsed_s, 0.0, std::max(progress.call_s, 0.0)), 0.0);
  std::string line = shorten(format_seconds(left) + " left", width);
  const bool measures = !progress.count.empty();
  for (const std::string& part : {progress.count, measures ? text_of(activity) : ""}) {
    if (part.empty()) continue;
    if (display_width(line) + gap.size() + display_width(part) > width) return line;
    line += std::string(gap) + part;
  }
  const std::size_t used = display_width(line) + gap.size();
  const std::string text = one_line(progress.text);
  if (text.empty() || used + std::min(least_text, display_width(text)) > width) return line;
  return line + std::string(gap) + shorten_middle(text, width - used);
}

ProgressLine::ProgressLine(const Activity& activity, int descriptor)
    : activity_(activity), descriptor_(descriptor), reflows_(terminal_reflows()) {}

ProgressLine::~ProgressLine() {
  hide();
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::show(SweepProgress progress) {
  if (!terminal_columns(descriptor_) || !terminal_has_escapes()) return;
  const std::lock_guard lock(mutex_);
  progress_ = std::move(progress);
  since_ = Clock::now();
  is_shown_ = true;
  draw();
  try {
    if (!thread_.joinable()) thread_ = std::thread([this] { redraw_until_stopped(); });
  } catch (const std::system_error&) {
    // The system has no more threads: the line changes with each call only.
  }
  changed_.notify_one();
}

void ProgressLine::hide() {
  const std::lock_guard lock(mutex_);
  is_shown_ = false;
  if (drawn_ == 0) return;
  write(erasure(static_cast<std::size_t>(terminal_columns(descriptor_).value_or(0))));
  drawn_ = 0;
}

void ProgressLine::redraw_until_stopped() {
  block_signals();
  run_when_idle();
  std::unique_lock lock(mutex_);
  while (!stops_) {
    if (!is_shown_) {
      changed_.wait(lock);
    } else if (changed_.wait_for(lock, between_draws) == std::cv_status::timeout && is_shown_) {
      draw();
    }
  }
}

void ProgressLine::draw() {
  const auto width = static_cast<std::size_t>(terminal_columns(descriptor_).value_or(0));
  // A terminal that is stopped (Ctrl-S) must not stop the sweep.
  if (width < 2 || !takes_output(descriptor_)) return;
  const std::string text =
      progress_text(progress_, activity_.read(), Seconds(Clock::now() - since_).count(), width - 1);
  const std::size_t columns = display_width(text);
  write(drawn_ >= width ? erasure(width) + text : "\r" + text + "\x1b[K");
  drawn_ = columns;
}

std::string ProgressLine::erasure(std::size_t width) const {
  const std::size_t above = width > 0 && reflows_ && drawn_ > 0 ? (drawn_ - 1) / width : 0;
  return above == 0 ? "\r\x1b[J" : fmt::format("\r\x1b[{}A\x1b[J", above);
}

void ProgressLine::write(const std::string& text) const {
  if (takes_output(descriptor_)) static_cast<void>(::write(descriptor_, text.data(), text.size()) < 0);
}

}  // namespace gpubench
