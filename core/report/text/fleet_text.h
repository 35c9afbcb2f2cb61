// Who stands out tonight, as text: the answer first, then the figures behind it.
#pragma once
#include <cstddef>
#include <limits>
#include <string>

#include "core/report/text/table.h"
#include "core/results/info.h"

namespace gpubench {

/// `verdict`: as core/fleet/verdict.h describes it. `wide`: all figures of all machines.
std::string fleet_text(const Info& verdict, bool wide);

/// "node042: since its first night, 2026-03-07 (100 nights)".
std::string since_text(const Info& stand_out);
/// "NVIDIA H100, suite hardware: 200 machines, 50 figures, 100 nights".
std::string group_heading(const Info& group);
/// How often the rule is wrong, by simulation and in these nights.
std::string trust_text(const Info& group);
/// "node003 (last 2026-06-12, 2 nights)".
std::string not_reported_text(const Info& one);
/// How much worse in percent: "8.1 *" stands out, "(2.0)" is not reliable, "-0.3" is better.
std::string fleet_cell_text(const Info& cell);

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
/// Figures in rows, machines in columns. `machines`, `rows`: at most so many.
Table fleet_matrix(const Info& group, std::size_t machines, std::size_t rows);

}  // namespace gpubench
