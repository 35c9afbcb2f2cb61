#include "core/report/chart/chart_info.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "core/base/error.h"

namespace gpubench {
namespace {

double number_field(const Info& fields, std::string_view name) {
  const Info* field = fields.find(name);
  if (!field) return 0;
  if (const Cell* cell = field->cell()) {
    if (const auto* real = std::get_if<double>(cell)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(cell)) return static_cast<double>(*whole);
  }
  throw Error(fmt::format("run.json: charts: '{}' is not a number", name));
}

Record where_in(const Info& fields) {
  Record where;
  const Info* cells = fields.find("where");
  if (!cells || !cells->fields()) return where;
  for (const auto& [name, value] : *cells->fields()) {
    if (value.cell()) where.set(name, *value.cell());
  }
  return where;
}

std::vector<Cell> cells_in(const Info& fields, std::string_view name) {
  std::vector<Cell> cells;
  const Info* list = fields.find(name);
  if (!list || !list->list()) return cells;
  for (const Info& one : *list->list())
    if (one.cell()) cells.push_back(*one.cell());
  return cells;
}

std::vector<double> numbers_in(const Info& fields, std::string_view name) {
  std::vector<double> numbers;
  for (const Cell& cell : cells_in(fields, name))
    if (const auto number = gpubench::number_in(cell)) numbers.push_back(*number);
  return numbers;
}

Info::List list_of(const auto& values) {
  return {values.begin(), values.end()};
}

ChartSpec chart_in(const Info& fields) {
  return {.kind = parse_chart_kind(fields.text("kind")),
          .name = fields.text("name"),
          .title = fields.text("title"),
          .x = fields.text("x"),
          .y = fields.text("y"),
          .series = fields.text("series"),
          .where = where_in(fields),
          .log_x = number_field(fields, "log_x"),
          .log_y = number_field(fields, "log_y"),
          .each = fields.text("each"),
          .order = fields.text("order"),
          .limits = numbers_in(fields, "limits"),
          .knees = cells_in(fields, "knees")};
}

}  // namespace

Info chart_info(const ChartSpec& spec) {
  Info::Fields fields{{"name", spec.name},
                      {"title", spec.title},
                      {"kind", std::string(to_string(spec.kind))},
                      {"x", spec.x},
                      {"y", spec.y}};
  if (!spec.series.empty()) fields.emplace_back("series", spec.series);
  Info::Fields where;
  for (const auto& [name, cell] : spec.where.cells()) where.emplace_back(name, cell);
  if (!where.empty()) fields.emplace_back("where", std::move(where));
  if (spec.log_x != 0) fields.emplace_back("log_x", spec.log_x);
  if (spec.log_y != 0) fields.emplace_back("log_y", spec.log_y);
  if (!spec.each.empty()) fields.emplace_back("each", spec.each);
  if (!spec.order.empty()) fields.emplace_back("order", spec.order);
  if (!spec.limits.empty()) fields.emplace_back("limits", list_of(spec.limits));
  if (!spec.knees.empty()) fields.emplace_back("knees", list_of(spec.knees));
  return fields;
}

std::vector<ChartSpec> charts_in(const Info& info) {
  std::vector<ChartSpec> specs;
  const Info* charts = info.find("charts");
  if (!charts || !charts->list()) return specs;
  for (const Info& chart : *charts->list()) specs.push_back(chart_in(chart));
  return specs;
}

std::vector<ChartAxis> chart_axes_in(const Info& info) {
  std::vector<ChartAxis> axes;
  for (const std::string& name : info.texts("axis_names")) axes.push_back({.name = name});
  const Info* declared = info.find("axes");
  if (!declared || !declared->list()) return axes;
  for (const Info& one : *declared->list()) {
    const auto axis = std::ranges::find(axes, one.text("name"), &ChartAxis::name);
    if (axis != axes.end()) axis->values = cells_in(one, "values");
  }
  return axes;
}

}  // namespace gpubench
