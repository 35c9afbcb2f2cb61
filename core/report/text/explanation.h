// Why the points of a run were not faster: verdicts, waterfalls and findings as text for a terminal, and as facts for
// JSON. The judging is core/diagnose.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/findings.h"
#include "core/diagnose/waterfall.h"
#include "core/report/text/render.h"
#include "core/results/run_reader.h"

namespace gpubench {

struct ExplainedRow {
  Record row;
  std::string where;  ///< "point 3: batch_size=4", with the axes that tell rows apart
  Diagnosis diagnosis;
  Waterfall waterfall;
};

struct ExplainOptions {
  std::optional<std::int64_t> point{};  ///< only its rows
  /// Nothing: those of the trace's framework, else Lua.
  std::optional<Words> words{};
};

enum class ExplainStatus { explained, healthy, cannot_tell };
/// "cannot_tell".
std::string_view to_string(ExplainStatus status);

/// Of the row with most to gain; `rows` is not empty.
ExplainStatus explain_status(const std::vector<ExplainedRow>& rows);

/// All rows with steps, in the order of points. Throws Error for a point that the run does not have, and if no row has
/// steps.
std::vector<ExplainedRow> explain_rows(const Run& run, const ExplainOptions& options = {});
/// The row with the largest gain of its verdict, of those that have a step; `rows` is not empty.
const ExplainedRow& most_to_gain(const std::vector<ExplainedRow>& rows);

/// Those that were asked for; else those of the trace's framework, or Lua.
Words words_of(const Run& run, const ExplainOptions& options);
/// "let several workers make the batches: DataLoader(...); at most 1.50 times as fast", for each remedy.
std::vector<std::string> remedy_lines(const Finding& finding, const Evidence& evidence);
/// profile-N.json of the row's point; nothing if the file is not there.
Info stored_profile(const Run& run, const Record& row);

/// `rows`: those of explain_rows() with the same options, also below. A table of the verdicts, if there are several
/// rows; then the findings and the waterfall of each row of the point, or of the row with most to gain.
std::string explanation_text(const Run& run, const std::vector<ExplainedRow>& rows, const ExplainOptions& options,
                             const TextStyle& style);
/// { name, headline, kind, gain_share, ..., remedies = { { name, advice, line, changes_results, at_most_times_as_fast,
/// expected_gain_share, ... } }, of_no_use = { { name, why } } } of each finding; `evidence`: what was diagnosed.
Info findings_info(const Diagnosis& diagnosis, const Evidence& evidence);
/// { run, experiment, status, points = { { point, ..., verdict, step_s, waterfall, findings, machine } } }
Info explanation_info(const Run& run, const std::vector<ExplainedRow>& rows, const ExplainOptions& options);

}  // namespace gpubench
