#include "core/report/page/page_results.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/report/text/render.h"
#include "core/report/text/run_table.h"
#include "core/results/doubt.h"

namespace gpubench {
namespace {

using kainjow::mustache::data;

// Text of more bytes gets a column of its own width.
constexpr std::size_t long_cell = 100;
// More of them are folded.
constexpr std::size_t few_problems = 5;
// Rows that have the same problem and are named.
constexpr std::size_t most_places = 20;
// What a page shows at most, and paper.
constexpr std::size_t most_cells = 30000;
constexpr std::size_t rows_on_paper = 25;
constexpr std::string_view why_it_ended = "stop reason";

// Of the columns that are neither axes, nor problems, nor what claims and charts are about, and why measuring ended:
// paper leaves them out.
std::vector<bool> extra_columns(const RunTable& shown, const std::vector<std::string>& figures) {
  std::set<std::string> keys{"±"};
  for (const std::string& name : figures) keys.insert(heading_of(column_of(name)));
  std::vector<bool> extra;
  for (std::size_t i = 0; i < shown.table.headings.size(); ++i) {
    const bool is_figure = i >= shown.axes && i + shown.problems < shown.table.headings.size();
    const std::string& heading = shown.table.headings[i].text;
    extra.push_back((is_figure && !figures.empty() && !keys.contains(heading)) || heading == why_it_ended);
  }
  return extra;
}

void set_class(data& cell, bool right, bool long_text, bool extra) {
  std::string classes = right ? "right" : long_text ? "long" : "";
  if (extra) classes += classes.empty() ? "extra" : " extra";
  set_text(cell, "class", classes);
}

bool is_marked(const std::vector<bool>& marks, std::size_t i) {
  return i < marks.size() && marks[i];
}

// The rows that are no sound measurement, by what is wrong with them.
data problems_of(const Run& run) {
  struct Problem {
    std::string what, where;
    std::size_t rows = 0;
  };
  std::vector<Problem> problems;
  std::map<std::string, std::size_t> places;
  const std::vector<std::string> all_axes = axis_names(run);
  for (const Record& record : run.records) {
    const std::string status = to_text(record.get("status"));
    const Doubt doubt = doubt_in(record);
    const bool failed = status != "ok";
    if (is_skipped(record) || (!failed && !doubt)) continue;
    const std::string detail = to_text(record.get("detail"));
    const std::string what = failed ? status + (detail.empty() ? "" : ": " + detail) : to_text(record.get("quality"));
    // The sentences of one kind of doubt differ in figures alone.
    const bool has_kind = !failed && doubt.kind != DoubtKind::unknown;
    const std::string key = has_kind ? std::string(to_string(doubt.kind)) : what;
    std::string where = fmt::format("point {}", to_text(record.get("point")));
    std::string axes;
    for (const std::string& axis : all_axes) {
      const Column column = column_of(axis);
      axes += fmt::format("{}{} {}", axes.empty() ? "" : ", ", heading_of(column),
                          format_cell(record.get(axis), column.unit));
    }
    if (!axes.empty()) where += fmt::format(" ({})", axes);
    const auto [place, is_new] = places.emplace(key, problems.size());
    if (is_new) problems.push_back({what, {}});
    Problem& same = problems[place->second];
    if (same.rows < most_places) same.where += (same.rows == 0 ? "" : ", ") + where;
    ++same.rows;
  }
  data all = empty_list();
  for (const auto& [what, where, rows] : problems) {
    data one;
    one.set("what", what);
    one.set("where", rows > most_places ? fmt::format("{} and {} more", where, rows - most_places) : where);
    all.push_back(one);
  }
  return all;
}

data skipped_of(const Run& run) {
  data all = empty_list();
  for (const SkippedPoints& skipped : skipped_points(run.records)) {
    data one;
    one.set("points", format_count(skipped.points, "point"));
    one.set("reason", skipped.reason);
    all.push_back(one);
  }
  return all;
}

std::size_t problem_count(const Run& run) {
  return static_cast<std::size_t>(std::ranges::count_if(run.records, [](const Record& record) {
    return !is_skipped(record) && (record.get("status") != Cell(std::string("ok")) || doubt_in(record));
  }));
}

data common_of(const std::vector<CommonValue>& common) {
  data all = empty_list();
  for (const CommonValue& value : common) {
    data one;
    one.set("heading", value.heading);
    one.set("text", value.text);
    one.set("first", &value == common.data());
    all.push_back(one);
  }
  return all;
}

// The first rows of the table; paper has fewer of them, and leaves out columns.
void set_table(data& page, const Run& run) {
  const std::vector<Record> records = rows_to_show(run.records);
  const RunTable shown = run_table(run.columns, records, axis_names(run), Detail::full);
  const Table& table = shown.table;
  const std::vector<bool> extra = extra_columns(shown, run.info.texts("figures"));
  const std::size_t columns = std::max<std::size_t>(table.headings.size(), 1);
  const std::size_t count = std::min(table.rows.size(), std::max<std::size_t>(most_cells / columns, 1));
  data rows = empty_list();
  for (std::size_t i = 0; i < count; ++i) {
    data row;
    std::string classes = to_text(records[i].get("status")) != "ok" ? "failed" : "";
    if (i >= rows_on_paper) classes += classes.empty() ? "rest" : " rest";
    set_text(row, "look", classes);
    row.set("cells", cells_of(table, table.rows[i], shown.axes, extra));
    rows.push_back(row);
  }
  set_list(page, "common", common_of(shown.common));
  page.set("headings", headings_of(table, extra));
  set_list(page, "rows", rows);
  const auto more_than = [&](const char* name, std::size_t most) {
    if (table.rows.size() > most) page.set(name, fmt::format("{} of {}", most, table.rows.size()));
  };
  more_than("rows_cut", count);
  more_than("rows_cut_on_paper", std::min(count, rows_on_paper));
}

}  // namespace

void set_list(data& page, const std::string& name, const data& values) {
  page.set("has_" + name, !values.is_empty_list());
  page.set(name, values);
}

// Without it, a template would take the value of what is around.
void set_text(data& one, const std::string& name, const std::string& text) {
  if (text.empty())
    one.set(name, data(data::type::bool_false));
  else
    one.set(name, text);
}

data empty_list() {
  return data(data::type::list);
}

data headings_of(const Table& table, const std::vector<bool>& extra) {
  data all = empty_list();
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    const Table::Heading& heading = table.headings[i];
    data one;
    one.set("text", heading.text);
    set_class(one, heading.align == Align::right, false, is_marked(extra, i));
    set_text(one, "description", heading.description);
    all.push_back(one);
  }
  return all;
}

data cells_of(const Table& table, const std::vector<std::string>& row, std::size_t heads,
              const std::vector<bool>& extra, const std::string& first_class, const std::vector<std::string>& marks) {
  data cells = empty_list();
  for (std::size_t column = 0; column < row.size(); ++column) {
    data cell;
    cell.set("text", row[column]);
    cell.set("head", column < heads);
    set_class(cell, table.headings[column].align == Align::right, row[column].size() > long_cell,
              is_marked(extra, column));
    if (column == 0 && !first_class.empty()) cell.set("class", first_class);
    if (column < marks.size() && !marks[column].empty()) cell.set("class", "right verdict " + marks[column]);
    cells.push_back(cell);
  }
  return cells;
}

void set_results(data& page, const Run& run) {
  set_list(page, "problems", problems_of(run));
  const std::size_t problems = problem_count(run);
  page.set("problem_count", format_count(static_cast<std::int64_t>(problems), "row"));
  page.set("few_problems", problems <= few_problems);
  page.set("skipped", skipped_of(run));
  set_table(page, run);
}

}  // namespace gpubench
