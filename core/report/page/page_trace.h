// The part of a report about a trace of another program: findings with remedies, tables of what changed and who waits,
// what was read and what was left out. The verdict is the page's headline.
#pragma once
#include <kainjow/mustache.hpp>

#include "core/results/run_reader.h"

namespace gpubench {

/// Sets "headline", "findings", "trace_tables" and "trace_sentences"; nothing for a run of a script.
void set_trace(kainjow::mustache::data& page, const Run& run);

}  // namespace gpubench
