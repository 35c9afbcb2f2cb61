#include "core/report/page.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <kainjow/mustache.hpp>
#include <string_view>

#include "core/base/units.h"
#include "core/report/embedded_files.h"
#include "core/report/render.h"
#include "core/report/run_table.h"
#include "core/report/svg.h"
#include "core/report/text.h"

namespace gpubench {
namespace {

using kainjow::mustache::data;

// Shown elsewhere on the page, or of use to programs only.
constexpr std::array<std::string_view, 11> not_facts = {"experiment", "title",      "run",    "status",
                                                        "rows",       "axis_names", "charts", "expectations",
                                                        "warnings",   "notes",      "columns"};
constexpr std::size_t long_cell = 100;

std::string fill(std::string_view page, const data& values) {
  kainjow::mustache::mustache mustache{std::string(page)};
  mustache.set_custom_escape([](const std::string& text) { return escape_html(one_line(text)); });
  return mustache.render(values);
}

data list() {
  return data(data::type::list);
}

// `path` is the prefix of names in a nested table: "machine · ".
void add_facts(data& facts, const std::string& path, const std::string& name, const Info& info) {
  const Column column = column_of(name);
  const std::string label = path + heading_of(column);
  const auto add = [&](const std::string& value) {
    data fact;
    fact.set("name", label);
    fact.set("value", value);
    facts.push_back(fact);
  };
  if (const auto* fields = info.fields()) {
    for (const auto& [key, value] : *fields) add_facts(facts, label + " · ", key, value);
    return;
  }
  if (const auto* items = info.list()) {
    std::string joined;
    const bool plain = std::ranges::all_of(*items, [](const Info& item) { return item.cell() != nullptr; });
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (!plain) add_facts(facts, label + " · ", std::to_string(i + 1), (*items)[i]);
      if (plain) joined += (i == 0 ? "" : ", ") + to_text(*(*items)[i].cell());
    }
    if (!joined.empty()) add(joined);
    return;
  }
  if (is_empty(*info.cell())) return;
  add(format_cell(*info.cell(), column.unit));
}

data facts_of(const Info& info) {
  data facts = list();
  if (!info.fields()) return facts;
  for (const auto& [name, value] : *info.fields()) {
    if (std::ranges::find(not_facts, name) == not_facts.end()) add_facts(facts, "", name, value);
  }
  return facts;
}

std::string_view symbol_of(std::string_view verdict) {
  if (verdict == "confirmed") return "✓";
  if (verdict == "refuted") return "✗";
  if (verdict == "inconclusive") return "?";
  return "–";
}

data expectations_of(const Info& info) {
  data all = list();
  const Info* expectations = info.find("expectations");
  if (!expectations || !expectations->list()) return all;
  for (const Info& expectation : *expectations->list()) {
    const std::string verdict = expectation.text("verdict");
    data one;
    one.set("claim", expectation.text("claim"));
    one.set("verdict", verdict);
    one.set("reason", expectation.text("reason"));
    one.set("symbol", std::string(symbol_of(verdict)));
    one.set("class", verdict.substr(0, verdict.find(' ')));
    all.push_back(one);
  }
  return all;
}

data texts_of(const Info& info, std::string_view field) {
  data all = list();
  for (const std::string& text : info.texts(field)) all.push_back(text);
  return all;
}

data charts_of(const std::vector<DrawnChart>& charts) {
  data all = list();
  for (std::size_t i = 0; i < charts.size(); ++i) {
    data one;
    one.set("title", charts[i].title);
    one.set("svg", inline_svg(charts[i].svg, fmt::format("chart{}_", i + 1)));
    all.push_back(one);
  }
  return all;
}

data headings_of(const Table& table) {
  data all = list();
  for (const auto& heading : table.headings) {
    data one;
    one.set("text", heading.text);
    one.set("right", heading.align == Align::right);
    if (!heading.description.empty()) one.set("description", heading.description);
    all.push_back(one);
  }
  return all;
}

// Columns without any value are left out; the others keep the order of results.csv.
data meanings_of(const Run& run) {
  data all = list();
  for (const Column& column : run.columns) {
    const bool used = std::ranges::any_of(run.records, [&](const Record& record) { return record.has(column.name); });
    if (!used || column.description.empty()) continue;
    data one;
    one.set("name", column.name);
    one.set("unit", std::string(to_string(column.unit)));
    one.set("description", std::string(column.description));
    all.push_back(one);
  }
  return all;
}

data rows_of(const Table& table, const std::vector<Record>& records) {
  data rows = list();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    data cells = list();
    for (std::size_t column = 0; column < table.rows[i].size(); ++column) {
      const std::string& text = table.rows[i][column];
      data cell;
      cell.set("text", text);
      if (table.headings[column].align == Align::right) {
        cell.set("class", "right");
      } else if (text.size() > long_cell) {
        cell.set("class", "long");
      }
      cells.push_back(cell);
    }
    data row;
    const std::string status = to_text(records[i].get("status"));
    row.set("failed", status != "ok" && status != "skipped");
    row.set("cells", cells);
    rows.push_back(row);
  }
  return rows;
}

// Names the rows that are no sound measurement before the table, whose columns with the reason may be out of sight.
data problems_of(const Run& run) {
  data all = list();
  for (const Record& record : run.records) {
    const std::string status = to_text(record.get("status"));
    const std::string quality = to_text(record.get("quality"));
    const bool failed = status != "ok";
    if (!failed && (quality.empty() || quality == "ok")) continue;
    std::string where = fmt::format("point {}", to_text(record.get("point")));
    for (const std::string& axis : axis_names(run)) {
      const Column column = column_of(axis);
      where += fmt::format(", {} {}", heading_of(column), format_cell(record.get(axis), column.unit));
    }
    data one;
    one.set("what", failed ? status : quality);
    one.set("where", where);
    if (record.has("detail")) one.set("why", to_text(record.get("detail")));
    all.push_back(one);
  }
  return all;
}

data common_of(const std::vector<CommonValue>& common) {
  data all = list();
  for (const CommonValue& value : common) {
    data one;
    one.set("heading", value.heading);
    one.set("text", value.text);
    one.set("first", &value == common.data());
    all.push_back(one);
  }
  return all;
}

void set_list(data& page, const std::string& name, const data& values) {
  page.set("has_" + name, !values.is_empty_list());
  page.set(name, values);
}

}  // namespace

std::string report_page(const Run& run, const std::vector<DrawnChart>& charts) {
  const RunTable shown = run_table(run.columns, run.records, axis_names(run), Detail::full);
  const std::size_t count = run.records.size();
  data page;
  page.set("style", std::string(embedded::page_style));
  const std::string title = run.info.text("title");
  page.set("title", title.empty() ? run.info.text("experiment") : title);
  for (const char* name : {"experiment", "run", "status"}) page.set(name, run.info.text(name));
  page.set("row_count", format_count(static_cast<std::int64_t>(count), "row"));
  page.set("has_index", true);
  page.set("warnings", texts_of(run.info, "warnings"));
  page.set("notes", texts_of(run.info, "notes"));
  set_list(page, "expectations", expectations_of(run.info));
  set_list(page, "charts", charts_of(charts));
  set_list(page, "problems", problems_of(run));
  set_list(page, "common", common_of(shown.common));
  page.set("headings", headings_of(shown.table));
  set_list(page, "rows", rows_of(shown.table, run.records));
  set_list(page, "meanings", meanings_of(run));
  page.set("facts", facts_of(run.info));
  return fill(embedded::report_template, page);
}

std::string index_page(const std::vector<RunSummary>& runs) {
  data experiments = list();
  for (std::size_t i = 0; i < runs.size();) {
    data one;
    data rows = list();
    const std::string& experiment = runs[i].experiment;
    for (; i < runs.size() && runs[i].experiment == experiment; ++i) {
      data run;
      run.set("started", runs[i].started);
      run.set("name", runs[i].name);
      run.set("title", runs[i].title);
      run.set("status", runs[i].status == "running" ? "unfinished" : runs[i].status);
      run.set("rows", std::to_string(runs[i].rows));
      if (std::filesystem::exists(runs[i].directory / "report.html")) {
        run.set("link", fmt::format("{}/{}/report.html", escape_url(experiment), escape_url(runs[i].name)));
      }
      rows.push_back(run);
    }
    one.set("experiment", experiment);
    one.set("runs", rows);
    experiments.push_back(one);
  }
  data page;
  page.set("style", std::string(embedded::page_style));
  page.set("experiments", experiments);
  return fill(embedded::index_template, page);
}

}  // namespace gpubench
