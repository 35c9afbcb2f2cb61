// What a run keeps of a trace, as text for a terminal: what was read and what is missing, and where idle time and
// kernels' time went.
#pragma once
#include <string>
#include <vector>

#include "core/report/text/render.h"
#include "core/report/text/table.h"
#include "core/results/info.h"
#include "core/results/run_reader.h"

namespace gpubench {

struct TitledTable {
  std::string title;
  Table table;
};

/// Of run.json: what was read, what is incomplete, who comes last and what changed, in sentences; empty for runs of
/// scripts.
std::vector<std::string> trace_sentences(const Info& run);
/// Of run.json: waits of ranks, and changes against another trace.
std::vector<TitledTable> trace_tables(const Info& run);
/// Of profile-N.json: idle time by what the launching thread did, and kernels. Of a watched job the counters say more
/// of the idle time: `job` of run.json has what they saw, and only the kernels are taken from the profile.
std::vector<TitledTable> step_tables(const Info& profile, const Info* job);
/// Of the row's rank; null for a run that watched no job.
const Info* job_of(const Run& run, const Record& row);
/// All sentences and tables of run.json.
std::string trace_facts_text(const Info& run, const TextStyle& style);
std::string tables_text(const std::vector<TitledTable>& tables);

}  // namespace gpubench
