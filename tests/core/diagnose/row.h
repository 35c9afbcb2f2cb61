// Rows of results for tests of findings.
#pragma once
#include <optional>

#include "core/diagnose/findings.h"
#include "core/diagnose/rules/rules.h"

namespace gpubench::support {

/// A training of 32 examples in 10 ms on gpu:0 with 100 kernels, 95 % of it in kernels at 70 % of the best rate; `more`
/// replaces or adds cells.
inline Record trained_row(const Record& more = {}) {
  Record row{{"status", std::string("ok")},
             {"quality", std::string("ok")},
             {"device", std::string("gpu:0")},
             {"execution", std::string("graph")},
             {"precision", std::string("mixed_bfloat16")},
             {"replicas", std::int64_t{1}},
             {"batch_size", std::int64_t{32}},
             {"examples_per_s", 3200.0},
             {"compute_share", 0.95},
             {"copy_share", 0.01},
             {"input_wait_share", 0.01},
             {"launch_share", 0.01},
             {"host_share", 0.01},
             {"other_share", 0.01},
             {"mfu", 0.7},
             {"kernels", std::int64_t{100}}};
  for (const auto& [column, cell] : more.cells()) row.set(column, cell);
  return row;
}

inline std::optional<Finding> judged(const FindingRule& rule, const Record& row, const RunFacts& facts = {}) {
  return rule.judge(Evidence(row, facts));
}

/// An H200 by its data sheet, with 100 bytes of memory.
inline RunFacts h200_facts() {
  RunFacts facts;
  facts.devices.push_back({"gpu:0", {.float32 = 67e12, .tf32 = 494.7e12, .half = 989.4e12}, 100.0, false});
  return facts;
}

}  // namespace gpubench::support
