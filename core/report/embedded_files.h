// Files of the repository that are compiled into the program, so that it does not need them at run time.
#pragma once
#include <string_view>

namespace gpubench::embedded {

/// core/report/templates/report.mustache
extern const std::string_view report_template;
/// core/report/templates/index.mustache
extern const std::string_view index_template;
/// core/report/templates/sections.mustache: pages of sections.
extern const std::string_view sections_template;
/// core/report/templates/charts.mustache and table.mustache: parts of other templates.
extern const std::string_view charts_part, table_part;
/// core/report/templates/page.css
extern const std::string_view page_style;
/// core/report/templates/page.js
extern const std::string_view page_code;
/// core/report/templates/chart.css: replaces gnuplot's encodings of text_grey in plots/style.gp, for text and lines.
extern const std::string_view chart_style;
/// plots/style.gp
extern const std::string_view gnuplot_style;

}  // namespace gpubench::embedded
