#include "core/traces/difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/base/units.h"
#include "core/measure/shift.h"
#include "core/results/step_classes.h"
#include "core/trace/profile.h"

namespace gpubench {
namespace {

/// A range that holds nearly all of the trace: both traces are then of the same work.
std::string whole_range(const TraceAnalysis& analysis) {
  constexpr double nearly_all = 0.8;
  const double window = static_cast<double>(recorded_window(analysis.trace).length());
  const HostEvent* longest = nullptr;
  for (const HostEvent& event : analysis.trace.host) {
    if (event.work != HostWork::annotation) continue;
    if (longest == nullptr || event.time.length() > longest->time.length()) longest = &event;
  }
  if (longest == nullptr || static_cast<double>(longest->time.length()) < nearly_all * window) return {};
  return analysis.trace.text(*longest);
}

std::string rule_text(const TraceAnalysis& analysis) {
  return analysis.steps.rule.empty() ? "no steps" : "steps by " + shown_text(analysis.steps.rule, 60);
}

bool same_steps(const TraceAnalysis& before, const TraceAnalysis& after) {
  return before.steps.rule == after.steps.rule && !before.steps.rule.empty();
}

/// What both traces are cut into. Throws Error where it is not the same.
std::string common_unit(const TraceAnalysis& before, const TraceAnalysis& after) {
  if (before.idle.size() != after.idle.size() || before.is_on_cpu != after.is_on_cpu)
    throw Error(fmt::format("explain: --against: {} and {} cannot be compared: {} devices and {}",
                            shown_text(before.trace.file), shown_text(after.trace.file), before.idle.size(),
                            after.idle.size()));
  if (same_steps(before, after)) return "step";
  if (before.steps.steps.empty() && are_one_range(before, after))
    return fmt::format("the range '{}'", shown_text(whole_range(before), 60));
  throw Error(fmt::format(
      "explain: --against: {} has {} and {} has {}, so that nothing says that their times hold the same work; mark steps in "
      "both in the same way (--step NAME takes ranges of your own)",
      shown_text(before.trace.file), rule_text(before), shown_text(after.trace.file), rule_text(after)));
}

double steps_of(const TraceAnalysis& analysis, bool by_steps) {
  return by_steps ? std::max(analysis.step_count(), 1) : 1.0;
}

std::array<double, step_classes.size()> class_times(const TraceAnalysis& analysis, double steps) {
  const StepMarks& marks = analysis.timeline->steps();
  const Breakdown parts = break_down_each(analysis.timeline->spans(), marks.devices, marks.window());
  std::array<double, step_classes.size()> times{};
  for (std::size_t i = 0; i < step_classes.size(); ++i) {
    Clock::duration sum{};
    for (auto one = static_cast<std::size_t>(step_classes[i].first);
         one <= static_cast<std::size_t>(step_classes[i].last); ++one)
      sum += parts.charged[one];
    times[i] = Seconds(sum).count() / parts.devices / steps;
  }
  return times;
}

void add_kernels(TimeChanges& times, const TraceAnalysis& analysis, double steps, double TimeChange::*side) {
  const StepProfile profile = profile_steps(*analysis.timeline, analysis.timeline->steps());
  const double scale = static_cast<double>(profile.steps) / steps;
  for (const ProfileEntry& entry : profile.entries) {
    if (entry.node.op.empty()) continue;
    add_time(times, entry.node.op, entry.time.count() * scale, side);
  }
}

void add_idle(TimeChanges& times, const TraceAnalysis& analysis, double steps, double TimeChange::*side) {
  const double devices = static_cast<double>(std::max<std::size_t>(analysis.idle.size(), 1));
  for (const std::vector<IdlePart>& parts : analysis.idle)
    for (const IdlePart& part : parts)
      add_time(times, std::string(text_of(part.kind).name),
               static_cast<double>(part.time.length()) * 1e-9 / steps / devices, side);
}

/// One process on each side: its steps tell how much they differ, and a step is not called longer for less.
bool is_slower(const TraceAnalysis& before, const TraceAnalysis& after, bool by_steps, const TimeChange& step) {
  constexpr double threshold = 0.01, called = 0.0012;
  if (step.added_s() <= threshold * step.before_s) return false;
  const auto times = [&](const TraceAnalysis& side) {
    return by_steps ? side.steps.seconds() : std::vector{side.window_s()};
  };
  const std::vector<double> a = times(before), b = times(after);
  const Interval interval = Shift(a, b).interval(called);
  if (std::isfinite(interval.low)) return interval.low > 0;
  return *std::ranges::min_element(b) > *std::ranges::max_element(a);  // too few steps for the test
}

std::string signed_time(double seconds) {
  return (seconds < 0 ? "-" : "+") + format_seconds(std::abs(seconds));
}

/// Of all classes in which the device has no work.
double idle_added(const TraceDifference& difference) {
  double sum = 0;
  for (std::size_t i = 0; i < step_classes.size(); ++i)
    if (step_classes[i].first >= SpanClass::input_wait) sum += difference.classes[i].added_s();
  return sum;
}

Info changes_info(const std::vector<TimeChange>& changes) {
  Info::List list;
  for (const TimeChange& one : changes)
    list.push_back(Info::Fields{{"name", shown_text(one.name, 120)},
                                {"before_s", one.before_s},
                                {"after_s", one.after_s},
                                {"added_s", one.added_s()}});
  return list;
}

}  // namespace

void add_time(TimeChanges& changes, const std::string& name, double seconds, double TimeChange::*side) {
  TimeChange& own = changes[name];
  own.name = name;
  own.*side += seconds;
}

std::vector<TimeChange> largest(const TimeChanges& changes) {
  constexpr std::size_t most = 10;
  std::vector<TimeChange> sorted;
  for (const auto& [name, change] : changes) sorted.push_back(change);
  std::ranges::stable_sort(sorted, std::greater<>(), [](const TimeChange& one) { return std::abs(one.added_s()); });
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

std::string sentence_of(const TraceDifference& difference) {
  const TimeChange& step = difference.step;
  std::string text = fmt::format(
      "{} takes {} {} ({} -> {}, {:.2f} times as fast)", difference.unit == "step" ? "a step" : difference.unit,
      format_seconds(std::abs(step.added_s())), step.added_s() < 0 ? "less" : "more", format_seconds(step.before_s),
      format_seconds(step.after_s), step.before_s / step.after_s);
  std::vector<TimeChange> classes = difference.classes;
  std::ranges::stable_sort(classes, std::greater<>(), [](const TimeChange& one) { return std::abs(one.added_s()); });
  constexpr std::size_t most = 4;
  constexpr double least = 1e-3;  // of the step
  std::string parts;
  for (const TimeChange& one : std::span(classes).first(most))
    if (std::abs(one.added_s()) > least * step.before_s)
      parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", one.name, signed_time(one.added_s()));
  return text + parts;
}

bool are_one_range(const TraceAnalysis& before, const TraceAnalysis& after) {
  const std::string range = whole_range(before);
  return !same_steps(before, after) && !range.empty() && range == whole_range(after);
}

TraceDifference difference_of(const TraceAnalysis& before, const TraceAnalysis& after) {
  for (const TraceAnalysis* const side : {&before, &after})
    if (const QualityIssue* const issue = side->blocking())
      throw Error(
          fmt::format("explain: --against: {} cannot be judged: {}", shown_text(side->trace.file), issue->found));
  TraceDifference difference;
  difference.unit = common_unit(before, after);
  const bool by_steps = difference.unit == "step";
  const double steps_before = steps_of(before, by_steps), steps_after = steps_of(after, by_steps);
  difference.before_count = static_cast<std::size_t>(steps_before);
  difference.after_count = static_cast<std::size_t>(steps_after);
  difference.step = {difference.unit, before.window_s() / steps_before, after.window_s() / steps_after};
  const auto times_before = class_times(before, steps_before), times_after = class_times(after, steps_after);
  for (std::size_t i = 0; i < step_classes.size(); ++i)
    difference.classes.push_back({std::string(step_classes[i].name), times_before[i], times_after[i]});
  TimeChanges kernels, idle;
  add_kernels(kernels, before, steps_before, &TimeChange::before_s);
  add_kernels(kernels, after, steps_after, &TimeChange::after_s);
  add_idle(idle, before, steps_before, &TimeChange::before_s);
  add_idle(idle, after, steps_after, &TimeChange::after_s);
  difference.kernels = largest(kernels);
  difference.idle = largest(idle);
  difference.is_slower = is_slower(before, after, by_steps, difference.step);
  difference.sentence = sentence_of(difference);
  return difference;
}

Info difference_info(const TraceDifference& difference) {
  return Info::Fields{{"unit", difference.unit},
                      {"before_s", difference.step.before_s},
                      {"after_s", difference.step.after_s},
                      {"added_s", difference.step.added_s()},
                      {"times_as_fast", difference.step.before_s / difference.step.after_s},
                      {"idle_added_s", idle_added(difference)},
                      {"slower", difference.is_slower},
                      {"sentence", difference.sentence},
                      {"classes", changes_info(difference.classes)},
                      {"kernels", changes_info(difference.kernels)},
                      {"idle", changes_info(difference.idle)},
                      {"parts", changes_info(difference.parts)},
                      {"lines", changes_info(difference.lines)}};
}

}  // namespace gpubench
