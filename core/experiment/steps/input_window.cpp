#include "core/experiment/steps/input_window.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/units.h"
#include "core/telemetry/proc/process_probes.h"

namespace gpubench {
namespace {

/// A larger share of the measured elements puts the measurement in doubt, like a wide interval.
constexpr double most_unbalanced = 0.05;
/// Filling buffers costs steps at most the time for which they wait.
constexpr double least_wait = 0.10;
/// A larger change of the number of workers is one of the input's speed.
constexpr double most_changed_workers = 0.25;
/// Less than this are pages of the program; and a smaller share of the elements' bytes, which compressed files take
/// less of, hardly slows the input.
constexpr double least_read_bytes = 1 << 20, most_read_share = 0.02;

void hold_nothing(std::vector<StageStatistics>& stages) {
  for (StageStatistics& stage : stages) stage.held = 0;
}

}  // namespace

BufferBalance buffer_balance(const std::vector<StageStatistics>& from, const std::vector<StageStatistics>& to,
                             Seconds apart) {
  BufferBalance balance;
  if (from.size() != to.size()) return balance;
  double largest = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto given = static_cast<double>(to[i].produced - from[i].produced);
    if (given <= 0) continue;
    double taken = std::max(given + static_cast<double>(to[i].held - from[i].held), 0.0);
    const double workers_time = apart.count() * to[i].workers;
    if (taken < given && workers_time > 0) {
      const double idle = std::clamp((to[i].blocked - from[i].blocked).count() / workers_time, 0.0, 1.0);
      taken = idle < 1 ? std::min(taken / (1 - idle), given) : given;
    }
    balance.taken_over_given *= taken / given;
    const double change = std::abs(taken / given - 1);
    if (change > largest) balance.stage = to[i].stage;
    largest = std::max(largest, change);
  }
  return balance;
}

void InputWindow::begin() {
  if (epochs_ == nullptr) return;
  epochs_->begin_totals();
  from_ = epochs_->totals();
  epoch_ = epochs_->opened();
  fills_cache_ = epochs_->fills_cache();
  storage_from_ = bytes_read_from_storage();
}

void InputWindow::end() {
  if (epochs_ == nullptr || doubt_) return;
  const std::vector<StageStatistics> stages = epochs_->totals();
  for (std::size_t i = 0; i < stages.size() && stages.size() == from_.size(); ++i) {
    const int before = from_[i].workers, now = stages[i].workers;
    if (before <= 0 || now <= 0 || std::abs(now - before) <= most_changed_workers * before) continue;
    doubt_ = {DoubtKind::tuning,
              fmt::format("AUTOTUNE changed the workers of '{}' from {} to {} while it was measured; "
                          "a larger budget would tell",
                          stages[i].stage, before, now)};
    return;
  }
  const std::optional<double> storage = bytes_read_from_storage();
  if (stages.empty() || !storage || !storage_from_ || epochs_->opened() > 1) return;
  const double read = *storage - *storage_from_;
  if (read < least_read_bytes || read < most_read_share * static_cast<double>(stages.back().bytes)) return;
  doubt_ = {
      DoubtKind::first_read,
      fmt::format("{} came from the disk in this first epoch; later epochs, and the next run, find in memory what "
                  "fits there",
                  format_bytes(read))};
}

bool InputWindow::add(double seconds, Seconds waited) {
  if (epochs_ != nullptr && epochs_->opened() != epoch_ && epoch_began()) return true;
  waited_ += waited;
  return rule_.add(seconds) && ends();
}

/// Called when the next sample is the first of an epoch; true when measuring should end before it. Elements buffered at
/// the start are used up at the end of the first epoch: if they were significant, the window begins here.
bool InputWindow::epoch_began() {
  epoch_ = epochs_->opened();
  if (fills_cache_ && !epochs_->fills_cache()) {
    fills_cache_ = false;
    from_ = epochs_->totals_at_epoch_end();
    hold_nothing(from_);
    restart();
    return false;
  }
  if (!start_is_judged_) {
    start_is_judged_ = true;
    std::vector<StageStatistics> here = epochs_->totals_at_epoch_end();
    hold_nothing(here);
    if (is_off(balance(here))) {
      from_ = std::move(here);
      restart();
      return false;
    }
  }
  whole_ = {rule_.samples().size(), waited_};
  return wants_epoch_end_ && rule_.trim(whole_.samples) == StopReason::precise;
}

void InputWindow::restart() {
  start_is_judged_ = true;
  rule_ = StoppingRule(limits_);
  waited_ = {};
  wants_epoch_end_ = false;
}

/// Called when the stopping rule is satisfied, which ignores buffers: whether measuring ends.
bool InputWindow::ends() {
  if (epochs_ == nullptr) return true;
  if (fills_cache_) {
    doubt_ = {
        DoubtKind::cache,
        "a cache was still being filled, so this is the speed of the first epoch and not of later ones; a budget in "
        "which an epoch fits would tell"};
    return true;
  }
  const BufferBalance since_begin = balance(epochs_->totals());
  if (!is_off(since_begin)) return true;
  if (rule_.stop_reason() == StopReason::precise && rule_.measured() < limits_.budget) {
    wants_epoch_end_ = true;  // or the budget's end
    return false;
  }
  if (whole_.samples > 0) {
    rule_.trim(whole_.samples);
    waited_ = whole_.waited;
  } else {
    doubt_ = {DoubtKind::buffers, text(since_begin)};
  }
  return true;
}

BufferBalance InputWindow::balance(const std::vector<StageStatistics>& now) const {
  return buffer_balance(from_, now, Seconds(rule_.measured()));
}

bool InputWindow::is_off(const BufferBalance& balance) const {
  if (balance.taken_over_given < 1 - most_unbalanced) return true;
  return balance.taken_over_given > 1 / (1 - most_unbalanced) && wait_share() > least_wait;
}

std::string InputWindow::text(const BufferBalance& balance) const {
  constexpr std::string_view advice = "a budget in which a whole epoch fits would tell";
  if (balance.taken_over_given < 1) {
    return fmt::format(
        "{:.0f} % of the examples came from buffers that were filled before measuring began (by {}), and not from the "
        "source; {}",
        100 * (1 - balance.taken_over_given), balance.stage, advice);
  }
  return fmt::format(
      "{:.0f} % of what the source gave went into buffers that were still filling up (by {}), and not into steps; {}",
      100 * (1 - 1 / balance.taken_over_given), balance.stage, advice);
}

Epochs::Epochs(Open open, std::string what) : open_(std::move(open)), what_(std::move(what)) {}

void Epochs::open_next() {
  if (cursor_ != nullptr) totals_.end_epoch(cursor_->statistics());
  cursor_ = nullptr;  // its threads must end before others begin
  cursor_ = open_(static_cast<std::uint64_t>(opened_));
  ++opened_;
}

bool Epochs::fills_cache() const {
  const std::vector<StageStatistics> stages = statistics();
  return std::ranges::any_of(stages, &StageStatistics::is_filling);
}

void Epochs::fill_caches(Seconds most) {
  Element element;
  const Stopwatch watch;
  while (fills_cache() && watch.elapsed() < most) {
    check_interrupt();
    advance([&element](Cursor& cursor) { return cursor.next(element); });
  }
}

void Epochs::fail_empty() const {
  throw Error(fmt::format("{}: the dataset is empty", what_));
}

std::vector<StageStatistics> Epochs::statistics() const {
  return cursor_ != nullptr ? cursor_->statistics() : std::vector<StageStatistics>();
}

}  // namespace gpubench
