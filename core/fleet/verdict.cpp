#include "core/fleet/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/measure/stats/quantile.h"
#include "core/results/csv.h"
#include "core/results/speed_change.h"

namespace gpubench {
namespace {

constexpr int schema = 1;  // it grows when a field changes its meaning or goes away
constexpr EnumNames<FleetState, 3> states{"unknown state of a fleet", {"calm", "stands_out", "not_judged"}};
/// A machine that stood out in so many nights, so far in many figures or so far in one, is taken out.
constexpr std::size_t sure_nights = 3;
constexpr double sure_share = 0.05, sure_share_of_one = 0.15;
constexpr std::size_t most_named = 4, most_listed = 20;

double percent_of(double worse) {
  return 100 * std::expm1(worse);
}

bool is_time_like(const Column& column) {
  using enum Unit;
  return column.unit == seconds || column.unit == per_second || column.unit == flops_per_second ||
         column.unit == bytes_per_second;
}

std::string figure_text(const FleetFigure& figure) {
  return fmt::format("{} {}{}{}", figure.experiment, figure.metric, figure.axes.empty() ? "" : " of ", figure.axes);
}

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Info::List names_of_signs(SignSet signs) {
  Info::List names;
  for (std::size_t i = 0; i < stand_out_signs; ++i)
    if (const auto sign = static_cast<StandOutSign>(i); signs.has(sign))
      names.emplace_back(std::string(to_string(sign)));
  return names;
}

/// One group with the rule's answer.
class GroupVerdict {
 public:
  GroupVerdict(const FleetGroup& group, const std::set<std::string>& few_models, const std::set<std::string>& hosts)
      : group_(group), found_(group.siblings), few_models_(few_models), hosts_(hosts) {
    // A machine of several cards is named with the slot.
    std::map<std::string, std::set<std::string>> slots;
    for (const FleetMachine& machine : group.machines) slots[machine.host].insert(machine.slot);
    has_slots_ = std::ranges::any_of(slots, [](const auto& one) { return one.second.size() > 1; });
    for (std::size_t machine = 0; machine < group.machines.size(); ++machine) {
      if (!has_value(machine)) continue;
      all_tonight_.push_back(machine);
      if (is_shown(machine)) shown_.push_back(machine);
    }
    std::ranges::stable_sort(shown_, std::ranges::greater(),
                             [&](std::size_t machine) { return stands_out(machine) ? 1 + worst(machine) : 0; });
  }

  bool is_empty() const { return shown_.empty(); }
  bool is_judged() const {
    return tonight_exists() &&
           std::ranges::any_of(all_tonight_, [&](std::size_t machine) { return found_.is_judged(tonight(), machine); });
  }

  Info describe() const {
    Info::List stand_outs, columns, rows;
    for (const std::size_t machine : shown_) {
      columns.emplace_back(Info::Fields{{"machine", name_of(machine)},
                                        {"host", group_.machines[machine].host},
                                        {"slot", group_.machines[machine].slot},
                                        {"stands_out", stands_out(machine)}});
      if (stands_out(machine)) stand_outs.push_back(describe(machine));
    }
    std::size_t figures = 0, unreliable = 0;
    std::vector<double> far_from;
    for (std::size_t f = 0; f < group_.figures.size(); ++f) {
      if (std::ranges::none_of(all_tonight_, [&](std::size_t m) { return !std::isnan(group_.tonight[f][m].value); }))
        continue;
      ++figures;
      for (const std::size_t machine : all_tonight_)
        unreliable += !std::isnan(group_.tonight[f][machine].value) && !group_.tonight[f][machine].reliable;
      if (const double one = found_.far_from(f, tonight()); !std::isnan(one)) far_from.push_back(one);
      rows.push_back(describe_row(f));
    }
    const auto [named, all] = named_nights();
    Info::Fields fields{{"suite", group_.suite},
                        {"model", group_.model},
                        {"of_shares", group_.of_shares},
                        {"tonight", group_.dates.empty() ? "" : group_.dates.back()},
                        {"nights", count(group_.dates.size())},
                        {"machines", count(all_tonight_.size())},
                        {"figures", count(figures)},
                        {"why_not", why_not()},
                        {"unreliable", count(unreliable)},
                        {"named_nights", count(named)},
                        {"machine_nights", count(all)}};
    if (!far_from.empty()) fields.emplace_back("far_from_percent", 100 * median_in_place(far_from));
    fields.emplace_back("stand_outs", std::move(stand_outs));
    fields.emplace_back("columns", std::move(columns));
    fields.emplace_back("rows", std::move(rows));
    return fields;
  }

 private:
  static std::int64_t count(std::size_t number) { return static_cast<std::int64_t>(number); }
  bool tonight_exists() const { return !group_.dates.empty(); }
  std::size_t tonight() const { return group_.dates.size() - 1; }

  bool has_value(std::size_t machine) const {
    return tonight_exists() && std::ranges::any_of(group_.tonight, [&](const std::vector<TonightValue>& figure) {
             return !std::isnan(figure[machine].value);
           });
  }

  /// Others than these are there for the comparison.
  bool is_shown(std::size_t machine) const {
    const FleetMachine& one = group_.machines[machine];
    return (hosts_.empty() || hosts_.contains(one.host)) && (!group_.of_shares || few_models_.contains(one.model));
  }

  bool stands_out(std::size_t machine) const { return is_shown(machine) && found_.signs(tonight(), machine).any(); }

  double worst(std::size_t machine) const {
    double most = 0;
    for (std::size_t f = 0; f < group_.figures.size(); ++f)
      if (found_.signs(f, tonight(), machine).any()) most = std::max(most, found_.worse(f, tonight(), machine));
    return most;
  }

  std::string name_of(std::size_t machine) const {
    const FleetMachine& one = group_.machines[machine];
    std::string name = has_slots_ && !one.slot.empty() ? one.slot + " of " + one.host : one.host;
    return group_.of_shares ? fmt::format("{} ({})", name, one.model) : name;
  }

  std::string why_not() const {
    if (is_judged()) return "";
    const std::size_t machines = all_tonight_.size();
    if (machines == 1) return fmt::format("one machine of this model has no siblings; it needs {}", fewest_siblings);
    if (machines <= fewest_siblings)
      return fmt::format("{} of this model: each has {}, and needs {}", count_of(machines, "machine"),
                         count_of(machines - 1, "sibling"), fewest_siblings);
    return "no figure has reliable values of 4 machines";
  }

  /// Of machines that do not stand out tonight: nights in which they did, of all.
  std::pair<std::size_t, std::size_t> named_nights() const {
    std::size_t named = 0, all = 0;
    for (std::size_t machine = 0; machine < group_.machines.size(); ++machine) {
      if (tonight_exists() && found_.signs(tonight(), machine).any()) continue;
      for (std::size_t night = 0; night < group_.dates.size(); ++night) {
        all += found_.is_judged(night, machine);
        named += found_.signs(night, machine).any();
      }
    }
    return {named, all};
  }

  Info describe_row(std::size_t f) const {
    const FleetFigure& figure = group_.figures[f];
    Info::Fields row{{"figure", figure_text(figure)},
                     {"experiment", figure.experiment},
                     {"axes", figure.axes},
                     {"metric", figure.metric},
                     {"unit", std::string(to_string(figure.column.unit))},
                     {"better", std::string(to_string(figure.column.better))}};
    add_number(row, "usual", found_.usual(f, tonight()));
    add_number(row, "spread_percent", 100 * found_.spread(f, tonight()));
    Info::List cells;
    for (const std::size_t machine : shown_) {
      const TonightValue& value = group_.tonight[f][machine];
      Info::Fields cell;
      add_number(cell, "value", value.value);
      if (!std::isnan(value.value)) cell.emplace_back("reliable", value.reliable);
      add_number(cell, "worse_percent", percent_of(found_.worse(f, tonight(), machine)));
      add_number(cell, "deviations", found_.deviations(f, tonight(), machine));
      if (const SignSet signs = found_.signs(f, tonight(), machine); signs.any() && is_shown(machine))
        cell.emplace_back("signs", names_of_signs(signs));
      cells.emplace_back(std::move(cell));
    }
    row.emplace_back("cells", std::move(cells));
    return row;
  }

  static void add_number(Info::Fields& fields, const char* name, double value) {
    if (!std::isnan(value)) fields.emplace_back(name, value);
  }

  /// Figures in which the machine stands out, the worst first.
  std::vector<std::size_t> figures_of(std::size_t machine) const {
    std::vector<std::size_t> figures;
    for (std::size_t f = 0; f < group_.figures.size(); ++f)
      if (found_.signs(f, tonight(), machine).any()) figures.push_back(f);
    std::ranges::stable_sort(figures, std::ranges::greater(),
                             [&](std::size_t f) { return found_.worse(f, tonight(), machine); });
    return figures;
  }

  const char* how(const std::vector<std::size_t>& figures) const {
    return std::ranges::all_of(figures, [&](std::size_t f) { return is_time_like(group_.figures[f].column); })
               ? "slower"
               : "worse";
  }

  bool has_level(std::size_t f, std::size_t machine) const {
    const SignSet signs = found_.signs(f, tonight(), machine);
    return signs.has(StandOutSign::broad) || signs.has(StandOutSign::extreme) || signs.has(StandOutSign::lasting);
  }

  /// "48 of 50 figures 7.1 to 9.0 % slower than its siblings (median 8.0 %)".
  std::string level_text(std::size_t machine, const std::vector<std::size_t>& figures) const {
    std::vector<double> percents;
    for (const std::size_t f : figures) percents.push_back(percent_of(found_.worse(f, tonight(), machine)));
    const auto [least, most] = std::ranges::minmax(percents);
    if (figures.size() == 1)
      return fmt::format("1 of {} {} % {} than its siblings: {}", count_of(figures_tonight(machine), "figure"),
                         amount_text(most), how(figures), figure_text(group_.figures[figures.front()]));
    const std::string few = amount_text(least), many = amount_text(most);
    const std::string range = few == many ? few + " %" : fmt::format("{} to {} %", few, many);
    return fmt::format("{} of {} {} {} than its siblings (median {} %)", figures.size(),
                       count_of(figures_tonight(machine), "figure"), range, how(figures),
                       amount_text(median_in_place(percents)));
  }

  std::size_t figures_tonight(std::size_t machine) const {
    std::size_t figures = 0;
    for (std::size_t f = 0; f < group_.figures.size(); ++f) figures += !std::isnan(found_.worse(f, tonight(), machine));
    return figures;
  }

  std::string spread_text(std::size_t machine, const std::vector<std::size_t>& figures) const {
    const std::size_t f = figures.front();
    const bool frequent = found_.signs(f, tonight(), machine).has(StandOutSign::frequent);
    const std::string what = frequent
                                 ? fmt::format("in {} of its last 20 nights far from its siblings, else like them",
                                               found_.far_nights(f, tonight(), machine))
                                 : "its repeats within a run spread at least 3 times as much as those of its siblings";
    return fmt::format("spread: {}: {}{}", figure_text(group_.figures[f]), what,
                       figures.size() == 1 ? "" : fmt::format(" ({} figures)", figures.size()));
  }

  std::string text_of(std::size_t machine) const {
    std::vector<std::size_t> level, spread;
    for (const std::size_t f : figures_of(machine)) (has_level(f, machine) ? level : spread).push_back(f);
    std::string text;
    if (!level.empty()) text = level_text(machine, level);
    if (found_.signs(tonight(), machine).has(StandOutSign::recurring))
      text = "spread: many of its figures at once are worse in some of its last 9 nights, but not tonight";
    if (!spread.empty()) text += (text.empty() ? "" : "; ") + spread_text(machine, spread);
    return text;
  }

  Info describe(std::size_t machine) const {
    const FleetMachine& one = group_.machines[machine];
    const std::size_t since = found_.since(tonight(), machine);
    std::size_t nights = 0;
    bool before = false;
    for (std::size_t night = 0; night < group_.dates.size(); ++night) {
      if (!found_.is_judged(night, machine)) continue;
      before = before || night < since;
      nights += night >= since;
    }
    const auto [action, advice] = action_for(machine, nights);
    Info::List figures;
    for (const std::size_t f : figures_of(machine)) {
      Info::Fields figure{{"figure", figure_text(group_.figures[f])},
                          {"value", group_.tonight[f][machine].value},
                          {"unit", std::string(to_string(group_.figures[f].column.unit))}};
      add_number(figure, "usual", found_.usual(f, tonight()));
      add_number(figure, "worse_percent", percent_of(found_.worse(f, tonight(), machine)));
      add_number(figure, "lasting_percent", percent_of(found_.lasting_worse(f, tonight(), machine)));
      add_number(figure, "deviations", found_.deviations(f, tonight(), machine));
      figure.emplace_back("signs", names_of_signs(found_.signs(f, tonight(), machine)));
      figures.emplace_back(std::move(figure));
    }
    return Info::Fields{{"machine", name_of(machine)},
                        {"host", one.host},
                        {"slot", one.slot},
                        {"signs", names_of_signs(found_.signs(tonight(), machine))},
                        {"since", group_.dates[since]},
                        {"since_first", !before},
                        {"nights", count(nights)},
                        {"figures_tonight", count(figures_tonight(machine))},
                        {"text", text_of(machine)},
                        {"action", action},
                        {"advice", advice},
                        {"figures", std::move(figures)}};
  }

  std::pair<std::string, std::string> action_for(std::size_t machine, std::size_t nights) const {
    std::vector<double> level;
    for (std::size_t f = 0; f < group_.figures.size(); ++f)
      if (has_level(f, machine)) level.push_back(std::expm1(found_.worse(f, tonight(), machine)));
    if (group_.of_shares)
      return {"watch", "watch it: other models reach more of their peaks; this model may reach less"};
    if (level.empty()) return {"watch", "watch it, and test it for longer: its level is normal, its spread is not"};
    if (nights < sure_nights)
      return {"test again",
              fmt::format("test it again: measure {} on {} once more",
                          group_.suite.empty() ? "it" : "suite " + group_.suite, group_.machines[machine].host)};
    const double most = std::ranges::max(level);
    if (median_in_place(level) >= sure_share && (level.size() > 1 || most >= sure_share_of_one))
      return {"take out", "take it out of service, and examine it"};
    return {"watch", "watch it: it is a little worse, night after night"};
  }

  const FleetGroup& group_;
  StandOuts found_;
  const std::set<std::string>& few_models_;
  const std::set<std::string>& hosts_;
  bool has_slots_ = false;
  std::vector<std::size_t> all_tonight_;  ///< machines with values tonight
  std::vector<std::size_t> shown_;        ///< of these, those that were asked for, who stands out first
};

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
                       groups.size() > 1 ? fmt::format(" ({} in all)", count_of(machines, "machine")) : "", missing);
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
    const GroupVerdict verdict(group, few_models, asked);
    if (verdict.is_judged()) {
      few_models.erase(group.model);
    } else {
      few_models.insert(group.model);
    }
    if (verdict.is_empty()) continue;
    groups.push_back(verdict.describe());
    for (const Info& column : groups.back().items("columns")) tonight_hosts.insert(column.text("host"));
    tonight = std::max(tonight, groups.back().text("tonight"));
  }
  // Where something is judged, the rest is named below it.
  std::ranges::stable_partition(groups, [](const Info& group) { return group.text("why_not").empty(); });
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
                      {"state", std::string(states[state])},
                      {"machines", static_cast<std::int64_t>(tonight_hosts.size())},
                      {"groups", std::move(groups)},
                      {"not_reported", std::move(not_reported)},
                      {"notes", std::move(notes)}};
}

FleetState state_of(const Info& verdict) {
  return states.parse(verdict.text("state"));
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
