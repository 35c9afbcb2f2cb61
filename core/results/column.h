// Columns of results: name, unit, which direction is better, and what they mean. The standard columns are one table;
// any other column gets its unit from its name's ending, so a script declares nothing twice.
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
enum class Better { neither, lower, higher };

std::string_view to_string(Unit unit);
std::string_view to_string(Better better);

struct Column {
  std::string name;
  Unit unit = Unit::none;
  Better better = Better::neither;
  /// Cells are text even where they look like a number.
  bool is_text = false;
  /// One line; empty for a script's own column.
  std::string_view description = {};

  bool operator==(const Column&) const = default;
};

/// In the order in which files hold them; axes come after "process".
std::span<const Column> standard_columns();
/// What some measurements add to them; files hold these only then.
std::span<const Column> optional_columns();
/// Null for a name that is not standard.
const Column* find_standard_column(std::string_view name);
/// The standard column, or one with the unit of the name's ending (`_s`, `_bytes`, `_per_s`, `_share`, `_w`, ...).
Column column_of(std::string_view name);
/// Throws Error for a name that files, charts and `--set` could not show: it has letters, digits, '_', '-' and '.', no
/// digit, '-' or '.' first.
void check_column_name(std::string_view name);
/// Whether it is no standard column or one of those that a sweep sets, such as batch_size, rather than measures.
bool may_be_axis(std::string_view name);
/// The ending of the name that tells the unit: "_s" of "step_time_s"; empty when the whole name says it.
std::string_view unit_suffix(const Column& column);
/// Whether a row's `quality` is about the column: it tells whether times were steady and memory was the point's own,
/// which changes no loss, no accuracy and no count.
bool depends_on_quality(const Column& column);
/// The column of an interval's end, "low" or "high": "step_time_low_s" of "step_time_s", "loss_low" of "loss".
std::string interval_end(const Column& column, std::string_view end);

}  // namespace gpubench
