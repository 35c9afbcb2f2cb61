#include "core/fleet/verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/base/units.h"
#include "core/fleet/group_verdict.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

constexpr int schema = 1;  // it grows when a field changes its meaning or goes away
constexpr std::size_t most_named = 4, most_listed = 20;

std::string headline_of(const Info::List& groups, const Info::List& not_reported, std::size_t machines,
                        const std::string& tonight) {
  std::vector<std::string> names;
  std::set<std::string> hosts;
  std::string why;
  bool judged = false;
  for (const Info& group : groups) {
    judged = judged || group.text("why_not").empty();
    if (why.empty()) why = group.text("why_not");
    for (const Info& one : group.items("stand_outs"))
      if (hosts.insert(one.text("host")).second) names.push_back(one.text("host"));
  }
  const std::string missing = not_reported.empty() ? "" : fmt::format("; {} did not report", not_reported.size());
  if (!judged)
    return fmt::format("Nothing could be judged{}{}{}", why.empty() ? ": there are no figures of tonight" : ": " + why,
                       groups.size() > 1
                           ? fmt::format(" ({} in all)", format_count(static_cast<std::int64_t>(machines), "machine"))
                           : "",
                       missing);
  std::string all = names.empty() ? "" : ": ";
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i) all += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most_named) all += fmt::format(" and {} more", names.size() - most_named);
  const std::string count = names.empty() ? "No machine" : std::to_string(names.size());
  return fmt::format("{} of {} {} out in the night of {}{}{}", count, machines,
                     names.size() > 1 ? "machines stand"
                     : names.empty()  ? "stands"
                                      : "machines stands",
                     tonight, all, missing);
}

/// A fleet has more names than a message should.
void check_hosts(const Fleet& fleet, const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    if (std::ranges::find(fleet.hosts, host) != fleet.hosts.end()) continue;
    const std::size_t listed = std::min(fleet.hosts.size(), most_listed);
    throw Error(
        fmt::format("fleet: no host '{}'{} (known: {}{})", host, suggestion(host, names_of(fleet.hosts)),
                    fmt::join(fleet.hosts.begin(), fleet.hosts.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
                    listed < fleet.hosts.size() ? fmt::format(" and {} more", fleet.hosts.size() - listed) : ""));
  }
}

}  // namespace

Info fleet_verdict(const Fleet& fleet, const std::vector<std::string>& hosts) {
  check_hosts(fleet, hosts);
  const std::set<std::string> asked(hosts.begin(), hosts.end());
  std::set<std::string> few_models;
  Info::List groups, not_reported, notes;
  std::set<std::string> tonight_hosts;
  std::string tonight;
  for (const FleetGroup& group : fleet.groups) {
    GroupVerdict verdict = judge_group(group, few_models, asked);
    if (verdict.is_judged) {
      few_models.erase(group.model);
    } else {
      few_models.insert(group.model);
    }
    if (!verdict.has_machines) continue;
    groups.push_back(std::move(verdict.facts));
    for (const Info& column : groups.back().items("columns")) tonight_hosts.insert(column.text("host"));
    tonight = std::max(tonight, groups.back().text("tonight"));
  }
  // Where something is judged, the rest is named below it.
  std::stable_partition(groups.begin(), groups.end(), [](const Info& group) { return group.text("why_not").empty(); });
  for (const NotReported& one : fleet.not_reported) {
    if (!asked.empty() && !asked.contains(one.host)) continue;
    not_reported.emplace_back(Info::Fields{{"host", one.host},
                                           {"slot", one.slot},
                                           {"suite", one.suite},
                                           {"last", one.last},
                                           {"nights", static_cast<std::int64_t>(one.nights)}});
  }
  for (const std::string& note : fleet.notes) notes.emplace_back(note);
  const std::string headline = headline_of(groups, not_reported, tonight_hosts.size(), tonight);
  FleetState state = FleetState::not_judged;
  for (const Info& group : groups) {
    if (state == FleetState::not_judged && group.text("why_not").empty()) state = FleetState::calm;
    if (!group.items("stand_outs").empty()) state = FleetState::stands_out;
  }
  return Info::Fields{{"schema", schema},
                      {"headline", headline},
                      {"tonight", tonight},
                      {"state", std::string(fleet_states[state])},
                      {"machines", static_cast<std::int64_t>(tonight_hosts.size())},
                      {"groups", std::move(groups)},
                      {"not_reported", std::move(not_reported)},
                      {"notes", std::move(notes)}};
}

std::string fleet_csv(const Info& verdict) {
  const auto cell_text = [](const Info& info, const char* name) {
    const Info* const found = info.find(name);
    return found && found->cell() ? to_csv(*found->cell()) : std::string();
  };
  std::string text = csv_line({"suite", "model", "night", "host", "slot", "experiment", "axes", "metric", "unit",
                               "better", "value", "reliable", "usual", "worse_percent", "deviations", "stands_out"});
  for (const Info& group : verdict.items("groups")) {
    const Info::List& columns = group.items("columns");
    for (const Info& row : group.items("rows")) {
      const Info::List& cells = row.items("cells");
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (!cells[i].find("value")) continue;
        std::vector<std::string> line;
        for (const char* const name : {"suite", "model", "tonight"}) line.push_back(cell_text(group, name));
        for (const char* const name : {"host", "slot"}) line.push_back(cell_text(columns[i], name));
        for (const char* const name : {"experiment", "axes", "metric", "unit", "better"})
          line.push_back(cell_text(row, name));
        for (const char* const name : {"value", "reliable"}) line.push_back(cell_text(cells[i], name));
        line.push_back(cell_text(row, "usual"));
        for (const char* const name : {"worse_percent", "deviations"}) line.push_back(cell_text(cells[i], name));
        line.emplace_back(fmt::format("{}", fmt::join(cells[i].texts("signs"), " ")));
        text += csv_line(line);
      }
    }
  }
  return text;
}

}  // namespace gpubench
