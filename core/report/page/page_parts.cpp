#include "core/report/page/page_parts.h"

#include <fmt/format.h>
#include <utility>

#include "core/report/chart/svg.h"
#include "core/report/embedded_files.h"
#include "core/report/page/page_results.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

using kainjow::mustache::data;

data figures_of(const Table& figures) {
  data rows = empty_list();
  for (const std::vector<std::string>& row : figures.rows) {
    data one;
    one.set("look", data(data::type::bool_false));
    one.set("cells", cells_of(figures, row, 1));
    rows.push_back(one);
  }
  return rows;
}

}  // namespace

std::string fill(std::string_view page, data values) {
  values.set("style", std::string(embedded::page_style));
  values.set("code", std::string(embedded::page_code));
  values.set("charts_part", std::string(embedded::charts_part));
  values.set("table_part", std::string(embedded::table_part));
  kainjow::mustache::mustache mustache{std::string(page)};
  mustache.set_custom_escape([](const std::string& text) { return escape_html(one_line(text)); });
  return mustache.render(values);
}

data charts_of(const std::vector<DrawnChart>& charts, std::string_view prefix) {
  data all = empty_list();
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const DrawnChart& chart = charts[i];
    data one;
    one.set("title", chart.title);
    if (chart.is_wide) one.set("wide", true);
    one.set("description", chart.description.empty() ? chart.title : chart.description);
    set_text(one, "left_out", chart.left_out);
    if (!chart.svg.empty()) one.set("svg", inline_svg(chart.svg, fmt::format("{}{}_", prefix, i + 1)));
    one.set("headings", headings_of(chart.figures));
    set_list(one, "rows", figures_of(chart.figures));
    if (chart.all_figures > chart.figures.rows.size())
      one.set("figures_cut", fmt::format("{} of {}", chart.figures.rows.size(), chart.all_figures));
    one.set("links", links_of(chart.links));
    all.push_back(one);
  }
  return all;
}

data links_of(const std::vector<PageLink>& links) {
  data all = empty_list();
  for (const PageLink& link : links) {
    data one;
    one.set("name", link.name);
    one.set("link", link.link);
    set_text(one, "download", link.download);
    all.push_back(one);
  }
  return all;
}

PageLink embedded_file(const std::string& name, const std::string& file, std::string_view type, std::string_view text) {
  return {name, fmt::format("data:{};charset=utf-8,{}", type, escape_url(text)), file};
}

void embed_data(std::vector<PageLink>& links, const std::string& name, const std::string& file, std::string_view type,
                std::string_view text) {
  constexpr std::size_t most_bytes = 1'000'000;
  if (text.size() <= most_bytes) links.push_back(embedded_file(name, file, type, text));
}

}  // namespace gpubench
