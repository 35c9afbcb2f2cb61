// The change of one figure of one row between two sides, and the verdict on it. A verdict is a value: terminal,
// Markdown, JSON, JUnit and gates show the same one. Definitions: docs/compare.md.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/shift.h"
#include "core/results/column.h"

namespace gpubench {

enum class ChangeVerdict {
  worse,      ///< a loud one: SLOWER for times
  vanished,   ///< the baseline has the row, the other side has not measured it
  better,     ///< FASTER for times
  changed,    ///< a figure without a direction
  same,       ///< a change beyond the threshold is excluded
  ambiguous,  ///< neither can be shown with so many processes
  invalid     ///< figures that must not be compared
};

/// What decides, for a figure of one row.
struct ChangeLimits {
  /// A smaller share is the same. It does not depend on the figures: noise makes no change harmless.
  double threshold = 0.01;
  /// From calibration: the rate of false alarms, and the smallest change that is found in 95 %.
  std::optional<double> false_positive_rate = std::nullopt;
  std::optional<double> visible = std::nullopt;
};

/// One rule: a change is called where the Mann-Whitney test of the processes has p < called_p, and the shift is beyond
/// the threshold; it is the same where the interval of error same_error lies inside of it. By simulation with 7, 10 and
/// 20 processes a side (normal, log-normal, two states, one disturbed process): equal sides are called different in at
/// most 0.2 %, and sides 5 % apart the same in at most 0.1 % (tests/core/compare/simulation_test.cpp).
inline constexpr double called_p = 0.0012, same_error = 0.02, interval_error = 0.05;
/// Below 7 processes a side, called_p cannot be reached: 2 / C(12, 6) = 0.0022.
inline constexpr std::size_t least_processes = 7;

struct Change {
  Column column;
  ChangeVerdict verdict = ChangeVerdict::ambiguous;
  /// Why it is ambiguous, invalid or vanished.
  std::string reason = {};
  /// Medians over the processes. Their ratio may differ from `log_ratio`, which looks at all of them.
  double before = 0, after = 0;
  std::size_t processes_before = 0, processes_after = 0;
  /// Processes of the other side whose figure is NaN or infinite, which it is in none of the baseline.
  std::size_t processes_without_number = 0;
  /// The medians of the processes.
  std::vector<double> figures_before = {}, figures_after = {};
  /// ln(after / before), the shift of the logarithms, with its 95 % interval; none where a figure is not positive, and
  /// for exact figures.
  std::optional<Estimate> log_ratio = std::nullopt;
  /// The interval that has to lie inside the threshold.
  Interval same_interval = {};
  /// Counted figures that are equal in all processes of a side need no statistics.
  bool exact = false;
  double threshold = 0;
  /// Whether the rate of false alarms and the visible change are those of `calibrate`.
  bool calibrated = false;
  /// (IQR / median) of the noisier side.
  double noise = 0;
  /// Of the Mann-Whitney test; empty for exact figures.
  std::optional<double> p = std::nullopt;
  /// How often equal sides would be called different, at most.
  double false_positive_rate = 0;
  /// The smallest change that would be found in 95 % of such comparisons.
  std::optional<double> visible = std::nullopt;
  /// Processes a side that would settle an ambiguous one; empty if no reasonable number does.
  std::optional<std::size_t> processes_needed = std::nullopt;

  bool is_alarm() const { return verdict == ChangeVerdict::worse || verdict == ChangeVerdict::vanished; }
  /// Whether it rests on figures of both sides.
  bool compares_figures() const { return verdict != ChangeVerdict::invalid && verdict != ChangeVerdict::vanished; }
  /// The change as a share of the baseline.
  double relative() const;
};

/// All but the verdict of what needs statistics. Both sides have at least one process with a figure.
Change measure_change(const Column& column, std::span<const ProcessFigures> before,
                      std::span<const ProcessFigures> after, const ChangeLimits& limits = {});

/// The verdict of a measured change. Leaves invalid and vanished ones as they are.
void judge_change(Change& change);

/// "SLOWER", "FASTER" for times and rates, "MORE", "LESS" for memory, power and energy, "WORSE", "BETTER" for others;
/// "CHANGED", "SAME", "AMBIGUOUS", "INVALID", "VANISHED".
std::string_view word_of(ChangeVerdict verdict, const Column& column);

/// "4.1 %" for 0.041; large ones as "1.2e+09 %".
std::string format_percent(double share);
/// "takes 4.1 % more time", "takes 3.0 % more memory", "0.4 points less accurate", "equal".
std::string text_of_change(const Change& change);
/// The ends of the interval: "[3.2, 5.0] %", of shares in points; empty if there is none.
std::string interval_text(const Change& change);

}  // namespace gpubench
