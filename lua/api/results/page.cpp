// gb._native.page: pages of sections for results that are no run, such as those of tests/gpu_check.
//
//   html(page)               the page: { title, facts, headline, lines, links = { { name, link } }, sections = { { id,
//                            heading, lines, items, tables = { { caption, headings, align = "llr", rows, looks, heads,
//                            folded } }, note } } }; a section without content is left out
//   parse_json(text, what)   the tables of a JSON text; an error starts with `what`
#include <string>

#include "core/base/error.h"
#include "core/report/page/page_sections.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

PageTable table_of(const Info& info) {
  PageTable table{.caption = info.text("caption"), .table = {}, .looks = info.texts("looks")};
  const std::string align = info.text("align");
  for (const std::string& heading : info.texts("headings")) {
    const std::size_t column = table.table.headings.size();
    const bool right = column < align.size() && align[column] == 'r';
    table.table.headings.push_back({heading, right ? Align::right : Align::left});
  }
  for (const Info& row : info.items("rows")) {
    std::vector<std::string> cells;
    if (row.list() != nullptr)
      for (const Info& cell : *row.list()) cells.push_back(cell.cell() == nullptr ? "" : to_text(*cell.cell()));
    if (cells.size() != table.table.headings.size())
      throw Error("page: a row of '" + table.caption + "' has another number of cells than there are headings");
    table.table.rows.push_back(std::move(cells));
  }
  if (const auto heads = info.number("heads")) table.heads = static_cast<std::size_t>(*heads);
  table.folded = info.text("folded") == "true";
  return table;
}

PageSection section_of(const Info& info) {
  PageSection section{.id = info.text("id"), .heading = info.text("heading"), .lines = info.texts("lines")};
  for (const std::string& item : info.texts("items")) section.items.push_back({item});
  for (const Info& table : info.items("tables")) section.tables.push_back(table_of(table));
  section.note = info.text("note");
  return section;
}

std::string html(const Info& info) {
  SectionedPage page{.title = info.text("title"),
                     .facts = info.texts("facts"),
                     .headline = info.text("headline"),
                     .lines = info.texts("lines")};
  for (const Info& link : info.items("links")) page.links.push_back({link.text("name"), link.text("link")});
  for (const Info& section : info.items("sections")) page.sections.push_back(section_of(section));
  return sectioned_page(page);
}

int parse(lua_State* L) {
  Value<Info>::push(L, parse_json(Value<std::string>::read(L, 1), Value<std::string>::read(L, 2)));
  return 1;
}

}  // namespace

void open_page(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module page = native.submodule("page");
  page.function<&html>("html").function<&parse, 2>("parse_json");
}

}  // namespace gpubench::lua
