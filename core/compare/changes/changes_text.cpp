#include "core/compare/changes/changes_text.h"

#include <fmt/format.h>
#include <iterator>

#include "core/base/interrupt.h"
#include "core/compare/changes/find_changes.h"
#include "core/compare/changes/find_outliers.h"
#include "core/compare/changes/series_file.h"

namespace gpubench {

std::string changes_text(std::istream& in, std::string_view what) {
  std::string text;
  for (const Series& series : read_series(in, what)) {
    check_interrupt();
    const Changes found = find_changes(series.values);
    const std::vector<std::size_t> outliers = find_outliers(series.values, found.changes);
    fmt::format_to(std::back_inserter(text),
                   "{{\"id\": {}, \"changes\": [{}], \"alarms\": [{}], \"outliers\": [{}]}}\n", series.id,
                   fmt::join(found.changes, ", "), fmt::join(found.alarms, ", "), fmt::join(outliers, ", "));
  }
  return text;
}

}  // namespace gpubench
