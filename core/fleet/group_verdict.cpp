#include "core/fleet/group_verdict.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "core/fleet/siblings.h"
#include "core/measure/stats/quantile.h"
#include "core/results/fleet_state.h"
#include "core/results/speed_change.h"

namespace gpubench {
namespace {

/// A machine that stood out in so many nights, so far in many figures or so far in one, is taken out.
constexpr std::size_t sure_nights = 3;
constexpr double sure_share = 0.05, sure_share_of_one = 0.15;

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
class JudgedGroup {
 public:
  JudgedGroup(const FleetGroup& group, const std::set<std::string>& few_models, const std::set<std::string>& hosts)
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
                        {"action", std::string(machine_actions[action])},
                        {"advice", advice},
                        {"figures", std::move(figures)}};
  }

  std::pair<MachineAction, std::string> action_for(std::size_t machine, std::size_t nights) const {
    std::vector<double> level;
    for (std::size_t f = 0; f < group_.figures.size(); ++f)
      if (has_level(f, machine)) level.push_back(std::expm1(found_.worse(f, tonight(), machine)));
    if (group_.of_shares)
      return {MachineAction::watch, "watch it: other models reach more of their peaks; this model may reach less"};
    if (level.empty())
      return {MachineAction::watch, "watch it, and test it for longer: its level is normal, its spread is not"};
    if (nights < sure_nights)
      return {MachineAction::test_again,
              fmt::format("test it again: measure {} on {} once more",
                          group_.suite.empty() ? "it" : "suite " + group_.suite, group_.machines[machine].host)};
    const double most = std::ranges::max(level);
    if (median_in_place(level) >= sure_share && (level.size() > 1 || most >= sure_share_of_one))
      return {MachineAction::take_out, "take it out of service, and examine it"};
    return {MachineAction::watch, "watch it: it is worse night after night, by less than a reason to take it out"};
  }

  const FleetGroup& group_;
  StandOuts found_;
  const std::set<std::string>& few_models_;
  const std::set<std::string>& hosts_;
  bool has_slots_ = false;
  std::vector<std::size_t> all_tonight_;  ///< machines with values tonight
  std::vector<std::size_t> shown_;        ///< of these, those that were asked for, who stands out first
};

}  // namespace

GroupVerdict judge_group(const FleetGroup& group, const std::set<std::string>& few_models,
                         const std::set<std::string>& hosts) {
  const JudgedGroup judged(group, few_models, hosts);
  GroupVerdict verdict{.is_judged = judged.is_judged(), .has_machines = !judged.is_empty()};
  if (verdict.has_machines) verdict.facts = judged.describe();
  return verdict;
}

}  // namespace gpubench
