// The comparison of sides: what differs in their environments, and the verdict on every figure of every common row.
#pragma once
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/compare/breakdown.h"
#include "core/compare/change.h"
#include "core/compare/fingerprint.h"
#include "core/compare/match.h"
#include "core/compare/side.h"

namespace gpubench {

/// The limits of a figure on the sides' machine; the default where nothing is known.
class LimitsSource {
 public:
  virtual ~LimitsSource() = default;
  virtual ChangeLimits limits_of(const RowKey& row, const Column& column, std::size_t processes) const = 0;
};

struct ComparisonOptions {
  /// The figures to compare; empty: those that the experiments' claims and charts are about, or all with a direction.
  std::vector<std::string> figures = {};
  /// All figures.
  bool all_figures = false;
  /// Directions of figures, instead of those that their columns have.
  std::vector<std::pair<std::string, Better>> better = {};
  /// Smaller changes are the same.
  double threshold = ChangeLimits{}.threshold;
  const LimitsSource* limits = nullptr;
};

struct ComparedSide {
  std::string name;
  std::size_t processes = 0;
};

struct ComparedRow {
  RowKey key;
  /// From 1: the side that is compared with the first.
  std::size_t side = 1;
  std::vector<Change> changes;
  BreakdownChange breakdown = {};
  /// Whether the processes of both sides took turns, so that a drift of the machine meets both.
  bool in_turn = false;
};

/// The changes of a row that count: step time and rates are figures of the same steps, so that they count once, with
/// the gravest verdict of them.
std::vector<const Change*> counted_changes(const ComparedRow& row);

/// Of the rows that all processes of both sides have measured.
struct GeometricMean {
  std::size_t side = 1;
  Column column = {};
  /// The shift of the processes' mean logarithms, with its 95 % interval.
  Estimate log_ratio = {0, {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}};
  std::size_t rows = 0;
};

/// The words of a command before its option --repeat, and after it; empty where none is known.
struct CommandForMore {
  std::vector<std::string> command, rest;
};

struct Comparison {
  std::vector<ComparedSide> sides;
  std::vector<Difference> differences;
  /// By side, then in the baseline's order.
  std::vector<ComparedRow> rows;
  std::vector<GeometricMean> means;
  /// By side: rows that the baseline does not have.
  std::vector<std::size_t> new_rows;
  /// Rows that a side has in common with the baseline.
  std::size_t common_rows = 0;
  /// By side, from 1: why figures may have changed.
  std::vector<std::string> causes;
  /// Figures that never make it fail, because no direction is known: those that are compared, and of results of others
  /// those that are left out for it.
  std::set<std::string> without_direction;
  /// Where no row is common: the axes in which the sides have nothing in common.
  std::string why_no_common_row;
  /// How to get more processes: of the last side (stored_call.h), unless the caller knows better.
  CommandForMore more;
  /// Of one process, where runs tell it.
  std::optional<double> seconds_of_process;

  std::size_t count(ChangeVerdict verdict) const;
  /// How many verdicts there are.
  std::size_t counted() const;
  /// How many verdicts rest on a test.
  std::size_t tested() const;
  /// Every verdict is open, because no row has processes enough on both sides.
  bool has_too_few_processes() const;
  /// The sum of the false-positive rates: alarms to expect from equal sides, at most.
  double expected_false_alarms() const;
};

/// Throws Error if a name in `figures` or `better` is no figure of these rows.
void check_figures(std::span<const MatchedRow> rows, const ComparisonOptions& options);

/// The first side is the baseline. Throws Error for sides that overlap, and as check_figures().
Comparison compare_sides(std::span<const Side> sides, const ComparisonOptions& options = {});

/// Rows that looked worse and were measured again: what `again` does not find worse too becomes ambiguous.
void confirm(Comparison& comparison, const Comparison& again);

/// Of `gpubench compare` and `check`: 1: a row is worse or has vanished; 3: no common row, too few processes for any
/// verdict, or a row is invalid, or ambiguous and `strict`; else 0. FASTER never fails.
int exit_status_of(const Comparison& comparison, bool strict);

}  // namespace gpubench
