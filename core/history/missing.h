// Figures that earlier nights of a suite had and the latest one lacks: a lost device, an experiment that measures
// nothing, a row or column that is gone. Each is news once, then known as missing until it is measured again.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/history/history.h"
#include "core/results/info.h"

namespace gpubench {

struct MissingSeries {
  HistorySeries series = {};
  std::string since = {};  ///< when it was reported; empty: it is news
};

/// Of the watched series of this suite and host, those of which `runs` ("<experiment>/<name>") measured none, neither
/// on another card in the same slot: all that were reported as missing, and those that the last night before had. A
/// slot's last night with an experiment is its latest runs in which no series comes twice, however long ago. Those that
/// were measured again are no longer known as missing.
std::vector<MissingSeries> find_missing(RunHistory& history, const std::vector<std::string>& runs,
                                        const std::string& suite, const std::string& host);
/// What one line of a night's news says is missing.
struct MissingNews {
  std::vector<std::int64_t> series = {};
  std::string line = {};
};
/// Stores that they are missing since `when`, with their news.
void report_missing(RunHistory& history, const std::vector<MissingNews>& all, const std::string& suite,
                    const std::string& host, const std::string& night, const std::string& when);
/// Nobody is told that they are missing: the suite no longer asks for them.
void give_up_missing(RunHistory& history, const std::vector<std::int64_t>& series);
/// They are meant to be missing: later nights do not name them. `experiment`: only its own; all if empty. Returns their
/// number.
std::int64_t accept_missing(RunHistory& history, const std::string& experiment);

}  // namespace gpubench
