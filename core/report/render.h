// Renders a stored run in the formats of `gpubench show`: text and Markdown with scaled units for people, CSV and JSON
// with plain SI values.
#pragma once
#include <string>
#include <string_view>

#include "core/results/run_reader.h"

namespace gpubench {

enum class Format { text, csv, json, markdown };

/// Throws Error that lists the formats.
Format parse_format(std::string_view name);

std::string render(const Run& run, Format format);

/// The table only, as in the text format.
std::string render_table(const Run& run);

/// The axes in run.json; empty if it has none.
std::vector<std::string> axis_names(const Run& run);

}  // namespace gpubench
