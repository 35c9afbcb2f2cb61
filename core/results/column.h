// Columns of results: name, unit, direction, kind and meaning. The columns that the program fills are declared in one
// table (declared_columns.cpp); any other column takes unit, direction and kind from its name's ending, so that a
// script declares nothing.
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
/// What a column's values come from, and so what two of them may be compared by.
enum class Kind {
  unknown,  ///< a script's own column whose name has no known ending
  text,     ///< words, even where a cell looks like a number
  setting,  ///< chosen by the script or given by the machine
  extent,   ///< how much was measured: steps, queries, epochs
  counted,  ///< the same in every run that does the same work: FLOP, kernels, bytes exchanged
  time,     ///< measured times, and the rates, shares and ratios that follow from them
  memory,   ///< measured memory
  sensor,   ///< power, clocks, temperatures and counters of the hardware
  learned   ///< what training reached: loss and accuracy, which differ with the seed
};

std::string_view to_string(Unit unit);
std::string_view to_string(Better better);

struct Column {
  std::string name;
  Unit unit = Unit::none;
  Better better = Better::neither;
  Kind kind = Kind::unknown;
  /// What fills it: "every row", "gpus", "efficiency", or the functions of gb.measure ("training, loop"). Empty for a
  /// script's own column.
  std::string_view filled_by = {};
  /// One line; empty for a script's own column.
  std::string_view description = {};
  /// Two more columns stand behind it, the ends of its 95 % interval (interval_end()).
  bool has_interval = false;
  /// Left out of tables in a terminal, which has no room for it.
  bool full_tables_only = false;

  bool is_text() const { return kind == Kind::text; }
  bool operator==(const Column&) const = default;
};

/// In the order in which files hold them; axes come after "process". Ends of intervals are among them.
std::span<const Column> standard_columns();
/// What some measurements add to them; files hold these only then.
std::span<const Column> optional_columns();
/// Null for a name that is not standard.
const Column* find_standard_column(std::string_view name);
/// The declared column, or one with the unit of the name's ending (`_s`, `_bytes`, `_per_s`, `_share`, `_w`, ...).
Column column_of(std::string_view name);
/// Throws Error for a name that files, charts and `--set` could not show: it has letters, digits, '_', '-' and '.', no
/// digit, '-' or '.' first.
void check_column_name(std::string_view name);
/// Whether it is no standard column or one of those that a sweep sets, such as batch_size, rather than measures.
bool may_be_axis(std::string_view name);
/// The ending of the name that tells the unit: "_s" of "step_time_s"; empty when the whole name says it.
std::string_view unit_suffix(const Column& column);
/// Whether a row's `quality` concerns the column. Quality says whether times were steady and memory was the point's
/// own, which changes no loss, no accuracy and no number without a unit.
bool depends_on_quality(const Column& column);
/// The column of an interval's end, "low" or "high": "step_time_low_s" of "step_time_s", "loss_low" of "loss".
std::string interval_end(const Column& column, std::string_view end);

}  // namespace gpubench
