// What a night leaves for the next one of its suite and host, and what the machine was before it.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/history/history.h"
#include "core/history/news.h"

namespace gpubench {

std::optional<std::string> remembered(const RunHistory& history, const std::string& host, const std::string& suite,
                                      const std::string& name);
/// An empty value is forgotten.
void remember(RunHistory& history, const std::string& host, const std::string& suite, const std::string& name,
              const std::string& value);

/// The name under which a suite remembers the last night that looked for what is missing.
inline constexpr const char* judged_night = "judged";

/// The thresholds of a suite: "step_time_s=0.05 loss=0.1", shares by metric.
inline constexpr const char* thresholds_state = "thresholds";

/// A state that is told when it begins: adds the news and remembers `name` as begun at `since`, unless it is remembered
/// already. Returns since when it lasts; empty if it is news.
std::string tell_state(RunHistory& history, const News& news, const std::string& name, const std::string& since);

/// The slots of a host's cards, of those that are known by an id.
std::map<std::string, std::string> cards_of(const RunHistory& history, const std::string& host);

/// Closes the open changes of a card that is gone. Returns their number.
std::size_t close_changes_of_card(RunHistory& history, const std::string& host, const std::string& card,
                                  const std::string& when);

/// The ids of two machines whose runs alternate under one host name: the latest run's, and that of a run between it and
/// an earlier one of the same machine. A machine that was set up anew has a new id for good.
std::optional<std::pair<std::string, std::string>> machines_of_one_name(const RunHistory& history,
                                                                        const std::string& host);

}  // namespace gpubench
