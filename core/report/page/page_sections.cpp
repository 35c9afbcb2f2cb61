#include "core/report/page/page_sections.h"

#include <cstdint>

#include "core/base/units.h"
#include "core/report/embedded_files.h"
#include "core/report/page/page_parts.h"
#include "core/report/page/page_results.h"

namespace gpubench {
namespace {

using kainjow::mustache::data;

data texts_of(const std::vector<std::string>& texts) {
  data all = empty_list();
  for (const std::string& text : texts) all.push_back(text);
  return all;
}

data facts_of(const std::vector<std::string>& facts) {
  data all = empty_list();
  for (const std::string& fact : facts) {
    data one;
    one.set("text", fact);
    one.set("first", &fact == facts.data());
    all.push_back(one);
  }
  return all;
}

data items_of(const std::vector<PageItem>& items) {
  data all = empty_list();
  for (const PageItem& item : items) {
    data one;
    one.set("text", item.text);
    one.set("links", links_of(item.links));
    all.push_back(one);
  }
  return all;
}

data table_of(const PageTable& shown) {
  data rows = empty_list();
  for (std::size_t i = 0; i < shown.table.rows.size(); ++i) {
    data row;
    row.set("look", data(data::type::bool_false));
    const std::string look = i < shown.looks.size() ? shown.looks[i] : "";
    row.set("cells", cells_of(shown.table, shown.table.rows[i], shown.heads, {}, look.empty() ? "" : "verdict " + look,
                              i < shown.marks.size() ? shown.marks[i] : std::vector<std::string>()));
    rows.push_back(row);
  }
  data table;
  table.set("caption", shown.caption);
  table.set("folded", shown.folded);
  table.set("headings", headings_of(shown.table));
  table.set("rows", rows);
  return table;
}

bool has_content(const PageSection& section) {
  return !section.lines.empty() || !section.charts.empty() || !section.items.empty() || !section.tables.empty();
}

data section_of(const PageSection& section) {
  data one;
  one.set("id", section.id);
  one.set("heading", section.heading);
  one.set("lines", texts_of(section.lines));
  set_list(one, "charts", charts_of(section.charts, section.id + "_"));
  set_list(one, "items", items_of(section.items));
  data tables = empty_list();
  for (const PageTable& table : section.tables) tables.push_back(table_of(table));
  one.set("tables", tables);
  set_text(one, "note", section.note);
  return one;
}

}  // namespace

std::string sectioned_page(const SectionedPage& page) {
  data values;
  values.set("title", page.title);
  values.set("page_facts", facts_of(page.facts));
  values.set("headline", page.headline);
  values.set("lines", texts_of(page.lines));
  values.set("links", links_of(page.links));
  data sections = empty_list();
  for (const PageSection& section : page.sections)
    if (has_content(section)) sections.push_back(section_of(section));
  values.set("sections", sections);
  return fill(embedded::sections_template, values);
}

}  // namespace gpubench
