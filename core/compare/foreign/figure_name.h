// Names of columns and figures of other programs, as columns of ours: with a unit of ours, and figures scaled to it.
#pragma once
#include <string>
#include <string_view>

#include "core/results/column.h"

namespace gpubench {

/// `column.kind` is Kind::unknown where the name does not say what it is.
struct ForeignColumn {
  Column column;
  /// A figure times this is in the column's unit.
  double scale = 1;
};

/// "time_ms", "Time (ms)" and "milliseconds" are times, of 1e-3 s; "fps" are frames_per_s; "throughput" is a figure of
/// which more is better. Throws Error for a name without a letter or digit.
ForeignColumn foreign_column(std::string_view name);

/// `name` with '_' for what no column may have: "GPU Time" is "GPU_Time". Throws Error where nothing is left.
std::string column_name_of(std::string_view name);

std::string lower_case(std::string_view text);

}  // namespace gpubench
