// The change of one figure of one row between two sides, and the verdict on it. A verdict is a value: terminal,
// Markdown, JSON, JUnit and gates show the same one. Definitions: docs/compare.md.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/stats/process_bootstrap.h"
#include "core/results/column.h"

namespace gpubench {

enum class ChangeVerdict {
  worse,      ///< a loud one: SLOWER for times
  vanished,   ///< the baseline has the row, the other side has not measured it
  better,     ///< FASTER for times
  changed,    ///< a figure without a direction
  same,       ///< its interval lies inside the threshold
  ambiguous,  ///< neither can be shown with so many processes
  invalid     ///< figures that must not be compared
};

/// What decides, for a figure of one row.
struct ChangeLimits {
  /// Below this share no change is called. Raised to 2.5 (IQR / median) / sqrt(processes) where that is larger, unless
  /// it was calibrated.
  double threshold = 0.01;
  bool calibrated = false;
  /// From calibration: the rate of false alarms, and the smallest change that is found in 95 %.
  std::optional<double> false_positive_rate = std::nullopt;
  std::optional<double> visible = std::nullopt;
};

/// Below 7 processes a side, p < 0.002 cannot be reached: 2 / C(12, 6) = 0.0022.
inline constexpr std::size_t least_processes = 7;
inline constexpr double called_p = 0.002;
inline constexpr double called_rate = 0.01;

struct Change {
  Column column;
  ChangeVerdict verdict = ChangeVerdict::ambiguous;
  /// Why it is ambiguous, invalid or vanished.
  std::string reason = {};
  /// Medians over the processes.
  double before = 0, after = 0;
  std::size_t processes_before = 0, processes_after = 0;
  /// Processes of the other side whose figure is NaN or infinite, which it is in none of the baseline.
  std::size_t processes_without_number = 0;
  /// The medians of the processes.
  std::vector<double> figures_before = {}, figures_after = {};
  /// ln(after / before) with its 95 % interval; none where a figure is not positive, and for exact figures.
  std::optional<Estimate> log_ratio = std::nullopt;
  /// Counted figures that are equal in all processes of a side need no statistics.
  bool exact = false;
  double threshold = 0;
  bool calibrated = false;
  /// (IQR / median) of the noisier side.
  double noise = 0;
  /// Of the Mann-Whitney test; empty for exact figures.
  std::optional<double> p = std::nullopt;
  /// Over all comparisons of the report.
  double false_discovery_rate = 1;
  /// How often equal sides would be called different, at most.
  double false_positive_rate = 0;
  /// The smallest change that would be found in 95 % of such comparisons.
  std::optional<double> visible = std::nullopt;
  /// Processes a side that would settle an ambiguous one; empty if no reasonable number does.
  std::optional<std::size_t> processes_needed = std::nullopt;

  bool is_alarm() const { return verdict == ChangeVerdict::worse || verdict == ChangeVerdict::vanished; }
  /// Whether it rests on figures of both sides.
  bool compares_figures() const { return verdict != ChangeVerdict::invalid && verdict != ChangeVerdict::vanished; }
  /// (after - before) / before.
  double relative() const { return before == 0 ? 0 : after / before - 1; }
};

/// All but the verdict of what needs statistics. Both sides have at least one process with a figure.
Change measure_change(const Column& column, std::span<const ProcessFigures> before,
                      std::span<const ProcessFigures> after, const ChangeLimits& limits = {});

/// The verdict of a measured change whose false_discovery_rate is known. Leaves invalid and vanished ones as they are.
void judge_change(Change& change);

/// "SLOWER", "FASTER" for times and rates, "MORE", "LESS" for memory, power and energy, "WORSE", "BETTER" for others;
/// "CHANGED", "SAME", "AMBIGUOUS", "INVALID", "VANISHED".
std::string_view word_of(ChangeVerdict verdict, const Column& column);

/// "4.1 %" for 0.041; large ones as "1.2e+09 %".
std::string format_percent(double share);
/// "takes 4.1 % more time", "takes 3.0 % more memory", "0.4 points less accurate", "equal".
std::string text_of_change(const Change& change);
/// The ends of the interval in per cent: "[3.2, 5.0] %"; empty if there is none.
std::string interval_text(const Change& change);

}  // namespace gpubench
