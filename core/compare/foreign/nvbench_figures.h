// What nvbench's JSON and its table have alike, under the same names here. A file is one process, of whose samples both
// have means. Summaries that nvbench hides, but for clocks, and those of the scatter of samples are left out.
#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/results/record.h"

namespace gpubench {

/// What a summary's value is: in JSON, in the heading of a table, and as the ending of a name here.
struct NvbenchHint {
  std::string_view hint, unit, ending;
};

inline constexpr std::array nvbench_hints = {
    NvbenchHint{"duration", "sec", "_s"},     NvbenchHint{"item_rate", "elem/sec", "_per_s"},
    NvbenchHint{"bytes", "bytes", "_bytes"},  NvbenchHint{"byte_rate", "bytes/sec", "_bytes_per_s"},
    NvbenchHint{"percentage", "%", "_share"}, NvbenchHint{"frequency", "Hz", "_hz"},
};

struct NvbenchSummary {
  std::string name, hint;
  /// Empty in tables.
  std::string tag = {};
  bool is_hidden = false;
  std::optional<double> value = std::nullopt;
};

/// Both throw Error where the record has such a column. Returns the axis' column.
std::string add_nvbench_axis(Record& record, const std::string& name, Cell value, const std::filesystem::path& file);
void add_nvbench_figure(Record& record, const NvbenchSummary& summary, const std::filesystem::path& file,
                        const std::string& where);

}  // namespace gpubench
