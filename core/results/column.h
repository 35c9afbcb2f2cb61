// Columns of results: name, unit, direction, kind and meaning. Columns that the program fills are declared in one table
// (declared_columns.cpp). Other columns get unit, direction and kind from the ending of their name, so scripts need no
// declarations.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace gpubench {

enum class Unit {
  none,
  seconds,
  bytes,
  per_second,
  flops,
  flops_per_second,
  bytes_per_second,
  share,
  watts,
  joules,
  hertz,
  celsius
};
/// Which direction is better.
enum class Better { neither, lower, higher };
/// The origin of a column's values, which decides how they may be compared.
enum class Kind {
  unknown,  ///< a script's column without a known ending
  text,     ///< words, even if a cell looks like a number
  setting,  ///< chosen by the script or given by the machine
  extent,   ///< how much was measured: steps, queries, epochs
  counted,  ///< the same in every run of the same work: FLOP, kernels, bytes exchanged
  time,     ///< measured times, and rates, shares and ratios derived from them
  memory,   ///< measured memory
  sensor,   ///< power, clocks, temperatures and counters of the hardware
  learned   ///< results of training: loss and accuracy, which depend on the seed
};

std::string_view to_string(Unit unit);
std::string_view to_string(Better better);
std::string_view to_string(Kind kind);
/// Throw Error that lists what is possible.
Unit parse_unit(std::string_view text);
Better parse_better(std::string_view text);
Kind parse_kind(std::string_view text);

struct Column {
  std::string name;
  Unit unit = Unit::none;
  Better better = Better::neither;
  Kind kind = Kind::unknown;
  /// What fills it: "every row", "gpus", "efficiency", or functions of gb.measure ("training, loop"). Empty for a
  /// script's own column.
  std::string_view filled_by = {};
  /// One line; empty for a script's own column.
  std::string_view description = {};
  /// Two more columns follow it, the ends of its 95 % interval (interval_end()).
  bool has_interval = false;
  /// Not shown in terminal tables, which lack the space.
  bool full_tables_only = false;
  /// Of a script's own column: smaller changes, as a share, are the same in comparisons. 0: what the comparison says.
  double threshold = 0;

  bool is_text() const { return kind == Kind::text; }
  bool operator==(const Column&) const = default;
};

/// In the order of result files, interval ends included; axes come after "process".
std::span<const Column> standard_columns();
/// Additional columns of some measurements; only in the files of those.
std::span<const Column> optional_columns();
/// Null for a name that is not standard.
const Column* find_standard_column(std::string_view name);
/// The declared column, or one with the unit of the name's ending (`_s`, `_bytes`, `_per_s`, `_share`, `_w`, ...).
Column column_of(std::string_view name);
/// "3 %" as 0.03. Throws Error unless it is a number of per cent above 0 and at most 50.
double parse_threshold(std::string_view text);
/// Throws Error for a name that files, charts and `--set` do not support. Supported are letters, digits, '_', '-' and
/// '.', but a digit, '-' or '.' not as the first character.
void check_column_name(std::string_view name);
/// True for names that are no standard column, and for standard columns that a sweep sets instead of measures, such as
/// batch_size.
bool may_be_axis(std::string_view name);
/// The ending of the name that states the unit: "_s" for "step_time_s"; empty if there is none.
std::string_view unit_suffix(const Column& column);
/// The column that says whether a row's figures of this kind can be relied on: "quality" for times, sensors and what is
/// not known, "memory_quality" for memory. Empty for kinds that nothing disturbs: counted figures, and what training
/// learned.
std::string_view quality_column(Kind kind);
/// The column of an interval's end, "low" or "high": "step_time_low_s" for "step_time_s", "loss_low" for "loss".
std::string interval_end(const Column& column, std::string_view end);

}  // namespace gpubench
