// The part of a report about a trace of another program: tables of what changed and who waits, what was read and what
// was left out. The verdict is the page's headline.
#pragma once
#include <kainjow/mustache.hpp>
#include <vector>

#include "core/report/text/explanation.h"
#include "core/results/run_reader.h"

namespace gpubench {

/// Sets "headline", "trace_tables" and "trace_sentences"; nothing for a run of a script. `rows`: its explained ones.
void set_trace(kainjow::mustache::data& page, const Run& run, const std::vector<ExplainedRow>& rows);

}  // namespace gpubench
