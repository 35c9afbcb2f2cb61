#include "core/report/text/fleet_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <vector>

#include "core/base/units.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/results/column.h"

namespace gpubench {
namespace {

/// What a screen has room for.
constexpr std::size_t text_width = 120;
constexpr std::size_t few_machines = 8, few_rows = 15, few_missing = 12, few_models = 4;

std::size_t count_in(const Info& info, std::string_view name) {
  return static_cast<std::size_t>(info.number(name).value_or(0));
}

std::string usual_text(const Info& row) {
  const std::optional<double> usual = row.number("usual");
  return usual ? format_cell(Cell(*usual), parse_unit(row.text("unit"))) : "";
}

double worst_in(const Info& row, std::size_t machines) {
  double worst = -std::numeric_limits<double>::infinity();
  const Info::List& cells = row.items("cells");
  for (std::size_t i = 0; i < std::min(machines, cells.size()); ++i)
    worst = std::max(worst, cells[i].number("worse_percent").value_or(worst));
  return worst;
}

void add_line(std::string& text, const std::string& line, std::size_t indent = 0) {
  text += std::string(indent, ' ') + one_line(line) + "\n";
}

bool has_level(const Info& figure) {
  const std::vector<std::string> signs = figure.texts("signs");
  return std::ranges::any_of(
      signs, [](const std::string& sign) { return sign == "broad" || sign == "extreme" || sign == "lasting"; });
}

void add_stand_out(std::string& text, const Info& one) {
  add_line(text, one.text("machine") + " stands out " + since_text(one), 2);
  add_line(text, one.text("text"), 4);
  const Info::List& figures = one.items("figures");
  if (figures.size() > 1 && has_level(figures.front())) {
    const Info& most = figures.front();
    if (const auto worse = most.number("worse_percent"))
      add_line(text,
               fmt::format("most: {}, {:.1f} % ({} instead of {})", most.text("figure"), *worse,
                           format_cell(Cell(most.number("value").value_or(0)), parse_unit(most.text("unit"))),
                           usual_text(most)),
               4);
  }
  add_line(text, "-> " + one.text("advice"), 4);
}

/// Models of which there is one machine are one line: a mixed fleet may have many.
void add_not_judged(std::string& text, const std::vector<const Info*>& groups, bool wide) {
  if (groups.empty()) return;
  text += "\nnot judged:\n";
  std::vector<std::string> alone;
  for (const Info* const group : groups) {
    if (!wide && groups.size() > few_models && count_in(*group, "machines") == 1) {
      alone.push_back(group->text("model"));
    } else {
      add_line(text, group_heading(*group) + ": " + group->text("why_not"), 2);
    }
  }
  if (alone.empty()) return;
  const std::string line = fmt::format("{} with one machine each, which has no siblings: {}",
                                       format_count(alone.size(), "model"), fmt::join(alone, ", "));
  text += "  " + wrap_words(one_line(line), 2, 4, text_width);
}

void add_matrix(std::string& text, const Info& group, bool wide) {
  const std::size_t machines = group.items("columns").size(), standing = group.items("stand_outs").size();
  const std::size_t shown = wide || machines <= few_machines ? machines : std::min(standing, few_machines);
  if (shown == 0) return;
  const std::size_t rows = wide ? no_limit : few_rows;
  text += "\n";
  add_line(text,
           "Percent worse than the usual value (the median of the machines); * "
           "stands out, (unreliable), below 0 is better:");
  text += render_text(fleet_matrix(group, shown, rows));
  if (group.items("rows").size() > rows || machines > shown)
    add_line(text,
             fmt::format("The {} with the largest differences of {}, {} of {}; --wide shows all, --format html writes "
                         "a page.",
                         std::min(rows, group.items("rows").size()), format_count(group.items("rows").size(), "figure"),
                         shown, format_count(machines, "machine")));
}

}  // namespace

std::string since_text(const Info& one) {
  const bool first = one.text("since_first") == "true";
  return fmt::format("since {}{} ({})", first ? "its first night here, " : "", one.text("since"),
                     format_count(count_in(one, "nights"), "night"));
}

std::string group_heading(const Info& group) {
  return fmt::format(
      "{}, {}: {}, {}, {}",
      group.text("of_shares") == "true" ? "All models, by the share of what each should reach" : group.text("model"),
      group.text("suite").empty() ? "by hand" : "suite " + group.text("suite"),
      format_count(count_in(group, "machines"), "machine"), format_count(count_in(group, "figures"), "figure"),
      format_count(count_in(group, "nights"), "night"));
}

std::string trust_text(const Info& group) {
  std::string text = fmt::format(
      "How sure: of sound machines the rule names at most 1 of 100 000 figures in simulations, and here it has named "
      "{} of {} nights of the machines that do not stand out tonight.",
      count_in(group, "named_nights"), count_in(group, "machine_nights"));
  if (const auto from = group.number("far_from_percent"))
    text += fmt::format(" Half of the figures count as far from {:.1f} % worse on, the others from more.", *from);
  if (const std::size_t unreliable = count_in(group, "unreliable"); unreliable > 0)
    text += fmt::format(" {} of tonight {} not reliable and {} not count.", format_count(unreliable, "value"),
                        unreliable == 1 ? "is" : "are", unreliable == 1 ? "does" : "do");
  return text;
}

std::string not_reported_text(const Info& one) {
  return fmt::format("{}{} (last {}, {} missed)", one.text("slot").empty() ? "" : one.text("slot") + " of ",
                     one.text("host"), one.text("last"), format_count(count_in(one, "nights"), "night"));
}

std::string fleet_cell_text(const Info& cell) {
  const auto worse = cell.number("worse_percent");
  if (!worse) return cell.text("reliable") == "false" ? "(unreliable)" : "";
  return fmt::format("{:.1f}{}", *worse, cell.items("signs").empty() ? "" : " *");
}

Table fleet_matrix(const Info& group, std::size_t machines, std::size_t rows) {
  const Info::List& columns = group.items("columns");
  machines = std::min(machines, columns.size());
  Table table{.headings = {{"figure"}, {"usual", Align::right}, {"spread", Align::right}}, .rows = {}};
  for (std::size_t i = 0; i < machines; ++i) table.headings.push_back({columns[i].text("machine"), Align::right});
  std::vector<const Info*> sorted;
  for (const Info& row : group.items("rows")) sorted.push_back(&row);
  if (rows < sorted.size()) {
    std::ranges::stable_sort(sorted, std::ranges::greater(), [&](const Info* row) { return worst_in(*row, machines); });
    sorted.resize(rows);
  }
  for (const Info* const row : sorted) {
    const auto spread = row->number("spread_percent");
    std::vector<std::string> line{row->text("figure"), usual_text(*row),
                                  spread ? fmt::format("{:.1f} %", *spread) : ""};
    const Info::List& cells = row->items("cells");
    for (std::size_t i = 0; i < machines; ++i) line.push_back(fleet_cell_text(cells[i]));
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::string fleet_text(const Info& verdict, bool wide) {
  std::string text;
  add_line(text, verdict.text("headline"));
  std::vector<const Info*> not_judged;
  for (const Info& group : verdict.items("groups")) {
    if (!group.text("why_not").empty()) {
      not_judged.push_back(&group);
      continue;
    }
    text += "\n";
    add_line(text, group_heading(group));
    for (const Info& one : group.items("stand_outs")) add_stand_out(text, one);
    if (group.items("stand_outs").empty()) add_line(text, "none of them stands out", 2);
  }
  add_not_judged(text, not_judged, wide);
  const Info::List& missing = verdict.items("not_reported");
  if (!missing.empty()) text += "\ndid not report:\n";
  for (std::size_t i = 0; i < std::min(missing.size(), wide ? no_limit : few_missing); ++i)
    add_line(text, not_reported_text(missing[i]), 2);
  if (!wide && missing.size() > few_missing)
    add_line(text, fmt::format("and {} more; --wide shows all", missing.size() - few_missing), 2);
  if (!verdict.items("notes").empty()) text += "\n";
  for (const std::string& note : verdict.texts("notes")) add_line(text, note);
  const std::size_t judged = verdict.items("groups").size() - not_judged.size();
  for (const Info& group : verdict.items("groups")) {
    if (!group.text("why_not").empty()) continue;
    text += "\n";
    if (judged > 1) add_line(text, group_heading(group));
    text += wrap_words(one_line(trust_text(group)), 0, 0, text_width);
    add_matrix(text, group, wide);
  }
  return text;
}

}  // namespace gpubench
