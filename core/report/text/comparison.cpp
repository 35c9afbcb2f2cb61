#include "core/report/text/comparison.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/shell_text.h"
#include "core/base/shown_text.h"
#include "core/base/units.h"
#include "core/measure/stats/quantile.h"
#include "core/report/text/comparison_lines.h"
#include "core/report/text/junit.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

/// The largest change of a verdict, by ratio.
const PlacedChange* worst_of(const std::vector<PlacedChange>& changes, ChangeVerdict verdict) {
  const auto size_of = [](const PlacedChange& one) {
    return one.change->log_ratio ? std::abs(one.change->log_ratio->value) : std::abs(one.change->relative());
  };
  const PlacedChange* worst = nullptr;
  for (const PlacedChange& one : changes)
    if (one.change->verdict == verdict && (!worst || size_of(one) > size_of(*worst))) worst = &one;
  return worst;
}

std::string described(const PlacedChange& one) {
  if (one.change->verdict == ChangeVerdict::vanished)
    return fmt::format("{} has vanished: {}", row_text(*one.row), one.change->reason);
  const std::string interval = interval_text(*one.change);
  return fmt::format("{}{} ({}, {})", text_of_change(*one.change), interval.empty() ? "" : " " + interval,
                     heading_of(one.change->column), row_text(*one.row));
}

std::string markdown_of_comparison(const Comparison& comparison) {
  std::string sides;
  for (const ComparedSide& side : comparison.sides)
    sides += fmt::format("{}`{}` ({})", sides.empty() ? "" : " → ", escape_markdown(side.name),
                         format_count(static_cast<std::int64_t>(side.processes), "process"));
  std::string differs;
  for (const Difference& one : comparison.differences)
    differs += fmt::format("{}{}", differs.empty() ? "" : ", ", one.key);
  std::string means;
  for (const GeometricMean& mean : comparison.means) means += (means.empty() ? "" : "; ") + mean_text(comparison, mean);
  return fmt::format("**{}**\n{}: {}\nDiffers: {}\nMeans: {}\nTrust: {}\n", escape_markdown(headline_of(comparison)),
                     sides, counts_of(comparison),
                     differs.empty() ? "nothing that is recorded" : escape_markdown(differs),
                     means.empty() ? "none" : escape_markdown(means), escape_markdown(trust_text(comparison)));
}

// ---- JSON and CSV

void set_number(Info& info, std::string_view name, std::optional<double> value) {
  if (value && std::isfinite(*value)) info.set(name, *value);
}

Info info_of_change(const Change& change) {
  Info info(Info::Fields{{"figure", change.column.name},
                         {"unit", std::string(to_string(change.column.unit))},
                         {"verdict", std::string(word_of(change.verdict, change.column))},
                         {"alarm", change.is_alarm()},
                         {"text", text_of_change(change)}});
  if (!change.reason.empty()) info.set("reason", change.reason);
  if (change.processes_before > 0) set_number(info, "before", change.before);
  if (change.processes_after > 0) {
    set_number(info, "after", change.after);
    if (change.before != 0) set_number(info, "change", change.relative());
  }
  if (change.log_ratio) {
    set_number(info, "change_low", std::expm1(change.log_ratio->interval.low));
    set_number(info, "change_high", std::expm1(change.log_ratio->interval.high));
  }
  info.set("processes_before", static_cast<std::int64_t>(change.processes_before));
  info.set("processes_after", static_cast<std::int64_t>(change.processes_after));
  if (change.exact) info.set("exact", true);
  if (change.p) {
    set_number(info, "p", change.p);
    set_number(info, "threshold", change.threshold);
    set_number(info, "noise", change.noise);
    info.set("calibrated", change.calibrated);
  }
  if (change.false_positive_rate > 0) set_number(info, "false_positive_rate", change.false_positive_rate);
  set_number(info, "visible_change", change.visible);
  if (change.processes_needed) info.set("processes_needed", static_cast<std::int64_t>(*change.processes_needed));
  return info;
}

std::string json_of_comparison(const Comparison& comparison) {
  Info::List sides, differences, rows, means;
  for (std::size_t i = 0; i < comparison.sides.size(); ++i) {
    Info side(Info::Fields{{"name", comparison.sides[i].name},
                           {"processes", static_cast<std::int64_t>(comparison.sides[i].processes)}});
    if (i > 0) {
      side.set("new_rows", static_cast<std::int64_t>(comparison.new_rows[i]));
      side.set("cause", comparison.causes[i]);
    }
    sides.push_back(std::move(side));
  }
  for (const Difference& one : comparison.differences) {
    Info::List values(one.values.begin(), one.values.end());
    differences.push_back(
        Info::Fields{{"key", one.key}, {"origin", std::string(to_string(one.origin))}, {"values", std::move(values)}});
  }
  for (const ComparedRow& row : comparison.rows) {
    Info::Fields axes;
    for (const auto& [name, value] : row.key.axes) axes.emplace_back(name, parse_cell(value, false));
    Info::List changes;
    for (const Change& change : row.changes) changes.push_back(info_of_change(change));
    Info fields(Info::Fields{{"experiment", row.key.experiment},
                             {"axes", std::move(axes)},
                             {"side", comparison.sides[row.side].name},
                             {"changes", std::move(changes)}});
    if (row.key.number > 0) fields.set("row", static_cast<std::int64_t>(row.key.number + 1));
    rows.push_back(std::move(fields));
  }
  for (const GeometricMean& mean : comparison.means)
    means.push_back(Info::Fields{{"side", comparison.sides[mean.side].name},
                                 {"figure", mean.column.name},
                                 {"ratio", std::exp(mean.log_ratio.value)},
                                 {"ratio_low", std::exp(mean.log_ratio.interval.low)},
                                 {"ratio_high", std::exp(mean.log_ratio.interval.high)},
                                 {"rows", static_cast<std::int64_t>(mean.rows)}});
  return to_json(Info(Info::Fields{{"headline", headline_of(comparison)},
                                   {"summary", counts_of(comparison)},
                                   {"sides", std::move(sides)},
                                   {"differences", std::move(differences)},
                                   {"rows", std::move(rows)},
                                   {"geometric_means", std::move(means)},
                                   {"common_rows", static_cast<std::int64_t>(comparison.common_rows)},
                                   {"expected_false_alarms", comparison.expected_false_alarms()}}));
}

std::string csv_of_comparison(const Comparison& comparison) {
  std::string text = csv_line({"side", "experiment", "row", "figure", "verdict", "before", "after", "change",
                               "change_low", "change_high", "processes_before", "processes_after", "p", "threshold",
                               "false_positive_rate", "visible_change", "reason"});
  for (const auto& [row, change] : all_changes(comparison)) {
    const Info info = info_of_change(*change);
    std::vector<std::string> fields{to_csv(comparison.sides[row->side].name), to_csv(row->key.experiment),
                                    to_csv(row->key.text())};
    for (const char* name :
         {"figure", "verdict", "before", "after", "change", "change_low", "change_high", "processes_before",
          "processes_after", "p", "threshold", "false_positive_rate", "visible_change", "reason"}) {
      const Info* const field = info.find(name);
      fields.push_back(field && field->cell() ? to_csv(*field->cell()) : "");
    }
    text += csv_line(fields);
  }
  return text;
}

std::string junit_of_comparison(const Comparison& comparison) {
  std::vector<TestCase> cases;
  for (const auto& [row, change] : all_changes(comparison)) {
    const bool open = change->verdict == ChangeVerdict::ambiguous || change->verdict == ChangeVerdict::invalid;
    const TestOutcome outcome = change->is_alarm() ? TestOutcome::failed
                                : open             ? TestOutcome::skipped
                                                   : TestOutcome::passed;
    const std::string name = fmt::format("{} {}{}", row->key.text(), change->column.name,
                                         comparison.sides.size() > 2 ? " of " + comparison.sides[row->side].name : "");
    cases.push_back({row->key.experiment, name, outcome,
                     fmt::format("{}: {}", word_of(change->verdict, change->column),
                                 change->reason.empty() ? described({row, change}) : change->reason)});
  }
  return junit_suite("gpubench compare", "", cases);
}

}  // namespace

std::string row_text(const ComparedRow& row) {
  const std::string axes = row.key.text();
  return row.key.experiment.empty() ? axes : axes.empty() ? row.key.experiment : row.key.experiment + " " + axes;
}

std::string counts_of(const Comparison& comparison) {
  // In the order of importance; words of one verdict differ by the figure's kind.
  std::map<std::pair<ChangeVerdict, std::string>, int> counts;
  for (const ComparedRow& row : comparison.rows)
    for (const Change* const change : counted_changes(row))
      ++counts[{change->verdict, std::string(word_of(change->verdict, change->column))}];
  std::string text;
  for (const auto& [verdict, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict.second);
  for (std::size_t side = 1; side < comparison.sides.size(); ++side) {
    if (comparison.new_rows[side] == 0) continue;
    text += fmt::format("; {} only in {}", format_count(static_cast<std::int64_t>(comparison.new_rows[side]), "row"),
                        comparison.sides[side].name);
  }
  return text.empty() ? "nothing to compare" : text;
}

std::string headline_of(const Comparison& comparison) {
  if (comparison.common_rows == 0)
    return "no common row: the sides have measured nothing with equal experiment and axes" +
           (comparison.why_no_common_row.empty() ? "" : ": " + comparison.why_no_common_row);
  const std::vector<PlacedChange> changes = all_changes(comparison);
  if (comparison.has_too_few_processes() && !changes.empty())
    return "nothing judged: " + worst_of(changes, ChangeVerdict::ambiguous)->change->reason;
  for (const ChangeVerdict verdict : {ChangeVerdict::worse, ChangeVerdict::vanished, ChangeVerdict::better,
                                      ChangeVerdict::changed, ChangeVerdict::invalid, ChangeVerdict::ambiguous}) {
    const PlacedChange* const worst = worst_of(changes, verdict);
    if (!worst) continue;
    const bool is_open = verdict == ChangeVerdict::invalid || verdict == ChangeVerdict::ambiguous;
    return fmt::format("{} in {} of {}: {}", word_of(verdict, worst->change->column), comparison.count(verdict),
                       format_count(static_cast<std::int64_t>(comparison.counted()), "comparison"),
                       is_open ? worst->change->reason : described(*worst));
  }
  return fmt::format("SAME in all of {}", format_count(static_cast<std::int64_t>(comparison.counted()), "comparison"));
}

std::string mean_text(const Comparison& comparison, const GeometricMean& mean) {
  Change change{.column = mean.column, .log_ratio = mean.log_ratio};
  if (mean.column.unit == Unit::share) change.column.unit = Unit::none;  // a ratio of shares, not points
  const std::string text = text_of_change(change) + " " + interval_text(change);
  const std::string side = comparison.sides.size() > 2 ? " of " + comparison.sides[mean.side].name : "";
  return fmt::format("{}{}: {} (geometric mean of {})", heading_of(mean.column), side, text,
                     format_count(static_cast<std::int64_t>(mean.rows), "row"));
}

namespace {

std::string without_direction_text(const std::set<std::string>& names) {
  constexpr std::size_t most = 5;
  if (names.empty()) return {};
  std::string list;
  std::size_t count = 0;
  for (const std::string& name : names)
    if (count++ < most) list += (list.empty() ? "" : ", ") + name;
  if (names.size() > most) list += fmt::format(" and {} more", names.size() - most);
  return fmt::format("; {} cannot fail, because no direction is known: --better {}=lower (or higher) gives one", list,
                     *names.begin());
}

std::string tested_text(const Comparison& comparison) {
  const std::vector<PlacedChange> changes = all_changes(comparison);
  std::vector<double> visible;
  double rate = 0, threshold = 0;
  std::int64_t blind = 0;
  bool in_turn = true;
  for (const PlacedChange& one : changes) {
    if (!one.change->compares_figures() || one.change->false_positive_rate <= 0) continue;
    rate = std::max(rate, one.change->false_positive_rate);
    threshold = std::max(threshold, one.change->threshold);
    in_turn = in_turn && one.row->in_turn;
    if (!one.change->log_ratio) continue;
    if (one.change->visible)
      visible.push_back(*one.change->visible);
    else
      ++blind;
  }
  if (comparison.tested() == 0) return "no verdict rests on a test: each side needs at least 7 processes";
  std::string text = fmt::format(
      "{} tested; equal sides differ at a rate of at most {:.2f} % each, so {:.2g} false alarms are "
      "to be expected",
      format_count(static_cast<std::int64_t>(comparison.tested()), "comparison"), 100 * rate,
      comparison.expected_false_alarms());
  if (!in_turn)
    text += " (the sides were not measured in turn: a drift of the machine between them is not in this rate)";
  if (!visible.empty()) {
    text += fmt::format("; changes from {} are found in 95 %", format_percent(median(visible)));
    if (visible.size() > 1)
      text += fmt::format(" (in the median row; in the worst from {})", format_percent(std::ranges::max(visible)));
  }
  // It may come from a column of the baseline, which may be anybody's.
  if (threshold > ChangeLimits{}.threshold)
    text += fmt::format("; changes of up to {} count as the same", format_percent(threshold));
  if (blind > 0) text += fmt::format("; in {} no change up to a factor of 5 can be seen", format_count(blind, "row"));
  return text;
}

}  // namespace

std::string trust_text(const Comparison& comparison) {
  return tested_text(comparison) + without_direction_text(comparison.without_direction);
}

std::string where_time_went(const Comparison& comparison, std::size_t side) {
  const PlacedChange* worst = nullptr;
  const std::vector<PlacedChange> changes = changes_of_side(comparison, side);
  for (const PlacedChange& one : changes) {
    const bool is_worse = one.change->verdict == ChangeVerdict::worse && one.change->log_ratio;
    if (!is_worse || one.row->breakdown.main_class_text().empty()) continue;
    if (!worst || std::abs(one.change->log_ratio->value) > std::abs(worst->change->log_ratio->value)) worst = &one;
  }
  if (!worst) return {};
  return fmt::format("{} ({})", worst->row->breakdown.main_class_text(), row_text(*worst->row));
}

std::string next_step_text(const Comparison& comparison) {
  std::size_t needed = 0;
  for (const auto& [row, change] : all_changes(comparison)) {
    if (change->verdict != ChangeVerdict::ambiguous || !change->processes_needed) continue;
    needed = std::max(needed, *change->processes_needed);
  }
  if (needed == 0) return {};
  std::string text = fmt::format("measure {} processes a side", needed);
  if (!comparison.more.command.empty()) {
    std::vector<std::string> words = comparison.more.command;
    words.insert(words.end(), {"--repeat", std::to_string(needed)});
    words.insert(words.end(), comparison.more.rest.begin(), comparison.more.rest.end());
    text += ": " + shell_text(words);
  }
  if (comparison.seconds_of_process)
    text += fmt::format(" (about {} for both sides)",
                        format_seconds(2 * static_cast<double>(needed) * *comparison.seconds_of_process));
  return text;
}

std::string render_comparison(const Comparison& comparison, Format format, const TextStyle& style) {
  switch (format) {
    case Format::text:
      return text_of_comparison(comparison, style);
    case Format::csv:
      return style.width > 0 ? shown_lines(csv_of_comparison(comparison)) : csv_of_comparison(comparison);
    case Format::json:
      return json_of_comparison(comparison);
    case Format::junit:
      return junit_of_comparison(comparison);
    case Format::markdown:
      return markdown_of_comparison(comparison);
  }
  return {};
}

}  // namespace gpubench
