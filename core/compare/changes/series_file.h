// Series of values with names, read from JSON lines or CSV. The whole file is checked before any series is used, so bad
// input has no half result.
#pragma once
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

struct Series {
  /// As JSON writes it: "\"batch_size\"" or "17".
  std::string id;
  std::vector<double> values;
};

/// A file whose first character is '{' has one series per line: {"id": "a", "values": [1, 2.5]}. Any other file is CSV
/// whose first row names the columns `id` and `values`. A cell of `values` with several numbers (separated by blanks,
/// commas or semicolons, in brackets or not) is a whole series; cells with one number are joined by their id, in the
/// order of rows. Other fields and columns are ignored. Throws Error "<what>: line 3: ..." for missing, double or mixed
/// ids, for values that are missing, no numbers, or infinite, and for more than
/// most_series_values (core/base/input_limits.h).
std::vector<Series> read_series(std::istream& in, std::string_view what);

}  // namespace gpubench
