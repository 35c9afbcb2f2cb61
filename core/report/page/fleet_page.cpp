#include "core/report/page/fleet_page.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/report/page/page_parts.h"
#include "core/report/page/page_sections.h"
#include "core/report/text/fleet_text.h"
#include "core/results/fleet_state.h"

namespace gpubench {
namespace {

PageSection standing_section(const Info& verdict) {
  PageSection section{.id = "stands_out", .heading = "Who stands out"};
  PageTable table{
      .caption = "Machines that stand out",
      .table = {.headings = {{"machine"}, {"model"}, {"suite"}, {"since"}, {"what"}, {"what to do"}}, .rows = {}},
      .heads = 1};
  for (const Info& group : verdict.items("groups")) {
    for (const Info& one : group.items("stand_outs")) {
      table.table.rows.push_back({one.text("machine"), group.text("model"), group.text("suite"), since_text(one),
                                  one.text("text"), one.text("advice")});
      table.looks.emplace_back(machine_actions.parse(one.text("action")) == MachineAction::take_out ? "refuted"
                                                                                                    : "open");
    }
  }
  if (table.table.rows.empty()) {
    section.lines.push_back(fleet_states.parse(verdict.text("state")) == FleetState::calm ? "No machine stands out."
                                                                                          : "Nothing could be judged.");
  } else {
    section.tables.push_back(std::move(table));
  }
  return section;
}

PageSection missing_section(const Info& verdict) {
  PageSection section{.id = "not_reported", .heading = "Who did not report"};
  for (const Info& one : verdict.items("not_reported")) section.items.push_back({not_reported_text(one)});
  return section;
}

PageSection matrix_section(const Info& group, std::size_t number) {
  PageSection section{.id = fmt::format("figures_{}", number), .heading = group_heading(group)};
  if (!group.text("why_not").empty()) section.lines.push_back("Not judged: " + group.text("why_not") + ".");
  PageTable table{.caption = "Figures and machines: percent worse than the usual value",
                  .table = fleet_matrix(group, no_limit, no_limit),
                  .heads = 1};
  const Info::List& rows = group.items("rows");
  for (const Info& row : rows) {
    std::vector<std::string>& marks = table.marks.emplace_back(3);  // the figure, its usual value, its spread
    for (const Info& cell : row.items("cells")) marks.emplace_back(cell.items("signs").empty() ? "" : "refuted");
  }
  section.tables.push_back(std::move(table));
  section.note =
      "Numbers are percent worse than the usual value, the median of the machines; below 0 is better. Red with * "
      "stands out; what is not reliable does not count. Spread is the usual distance between machines.";
  if (group.text("why_not").empty()) section.items.push_back({trust_text(group)});
  return section;
}

}  // namespace

std::string fleet_page(const Info& verdict, const std::string& csv) {
  SectionedPage page{
      .title = "Fleet",
      .facts = {"fleet", verdict.text("tonight"),
                format_count(static_cast<std::int64_t>(verdict.number("machines").value_or(0)), "machine")},
      .headline = verdict.text("headline"),
      .lines = verdict.texts("notes")};
  embed_data(page.links, "values.csv", "fleet.csv", "text/csv", csv);
  page.sections.push_back(standing_section(verdict));
  page.sections.push_back(missing_section(verdict));
  std::size_t number = 0;
  for (const Info& group : verdict.items("groups")) page.sections.push_back(matrix_section(group, ++number));
  return sectioned_page(page);
}

}  // namespace gpubench
