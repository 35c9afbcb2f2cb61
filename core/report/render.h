// A stored run in one of the formats of `gpubench show`: scaled for people as text and Markdown, plain SI values as CSV
// and JSON.
#pragma once
#include <string>
#include <string_view>

#include "core/results/run_reader.h"

namespace gpubench {

enum class Format { text, csv, json, markdown };

/// Throws Error that lists the formats.
Format parse_format(std::string_view name);

std::string render(const Run& run, Format format);

/// The table alone, as the text rendering has it.
std::string render_table(const Run& run);

/// The axes that run.json names; none when it names none.
std::vector<std::string> axis_names(const Run& run);

}  // namespace gpubench
