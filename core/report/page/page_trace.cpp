#include "core/report/page/page_trace.h"

#include <string>
#include <vector>

#include "core/report/page/page_results.h"
#include "core/report/text/text.h"
#include "core/report/text/trace_text.h"

namespace gpubench {
namespace {

using kainjow::mustache::data;

data list_of(const std::vector<std::string>& texts) {
  data all = empty_list();
  for (const std::string& text : texts) all.push_back(text);
  return all;
}

data cells_of(const std::vector<std::string>& texts) {
  data all = empty_list();
  for (const std::string& text : texts) {
    data one;
    one.set("text", text);
    all.push_back(one);
  }
  return all;
}

data table_of(const TitledTable& table) {
  data one, rows = empty_list();
  std::vector<std::string> headings;
  for (const Table::Heading& heading : table.table.headings) headings.push_back(heading.text);
  for (const std::vector<std::string>& row : table.table.rows) {
    data cells;
    cells.set("cells", cells_of(row));
    rows.push_back(cells);
  }
  one.set("title", table.title);
  one.set("headings", cells_of(headings));
  one.set("rows", rows);
  return one;
}

}  // namespace

void set_trace(data& page, const Run& run, const std::vector<ExplainedRow>& rows) {
  if (run.info.items("traces").empty()) return;
  set_list(page, "trace_sentences", list_of(trace_sentences(run.info)));
  if (const Info* const difference = run.info.find("trace_difference"))
    page.set("difference", difference->text("sentence"));
  data tables = empty_list();
  for (const TitledTable& table : trace_tables(run.info)) tables.push_back(table_of(table));
  if (!rows.empty()) {  // else no step is known: the sentences say why
    const ExplainedRow& most = most_to_gain(rows);
    page.set("headline", escape_html(one_line(most.diagnosis.verdict())));
    for (const TitledTable& table : step_tables(stored_profile(run, most.row), job_of(run, most.row)))
      tables.push_back(table_of(table));
  }
  set_list(page, "trace_tables", tables);
}

}  // namespace gpubench
