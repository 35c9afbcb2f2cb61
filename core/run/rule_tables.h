// Times of traces by the classes of another tool, to compare with what that tool prints; no run is written.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/report/text/render.h"
#include "core/results/info.h"
#include "core/traces/reference_rules.h"

namespace gpubench {

struct RuleTables {
  struct Trace {
    std::string file;
    int rank = -1;  ///< -1: unknown
    ReferenceTable table;
  };
  ReferenceRule rule = ReferenceRule::kineto;
  std::vector<Trace> traces;       ///< by rank
  std::vector<std::string> notes;  ///< files that were left out, and why
};

/// `places`: as of open_traces(). Throws Error as open_traces() and reference_table() do.
RuleTables rule_tables(const std::vector<std::filesystem::path>& places, ReferenceRule rule);

std::string rule_tables_text(const RuleTables& tables, const TextStyle& style);
/// { rule, meaning, unit = "us", traces = { { file, rank, rows = { { name, times = { CLASS = number } } } } }, notes }.
Info rule_tables_info(const RuleTables& tables);

}  // namespace gpubench
