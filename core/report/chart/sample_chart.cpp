#include "core/report/chart/sample_chart.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/base/input_limits.h"
#include "core/codec/byte_source.h"
#include "core/codec/csv_lines.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

// Points of a line at most: a page holds several lines, and more would not be seen.
constexpr std::size_t most_points = 200;
// Numbers of points are below; a larger one would not fit an integer.
constexpr double largest_point = 1e15;

std::optional<double> number_of(const std::vector<std::string_view>& line, std::size_t column) {
  if (column >= line.size()) return std::nullopt;
  return gpubench::number_in(cell_of_csv(line[column], false));
}

// Lines of samples are five numbers.
constexpr std::uint64_t longest_line = 4096;

// Bytes up to the last line end: a program that dies while it writes leaves a part of a line.
std::uint64_t whole_lines_of(const std::filesystem::path& path) {
  const std::uint64_t size = FileSource(path).left_at_most();
  if (size > largest_texts)
    throw Error(fmt::format("{}: {} bytes; charts read at most {}", path.string(), size, largest_texts));
  const std::uint64_t begin = size - std::min(size, longest_line);
  FileSource end(path, begin);
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  end.read(std::as_writable_bytes(std::span(text)), "the last line");
  return begin + text.rfind('\n') + 1;
}

// What the samples of a run are called: answers to queries have latencies, and steps have step times.
std::string time_column(std::span<const Record> records) {
  const bool answers = std::ranges::any_of(records, [](const Record& row) { return row.has("latency_s"); });
  return answers ? "latency_s" : "step_time_s";
}

// The row's settings, by which series are told apart and rows chosen.
Record settings_of(const Record& row, const ChartSpec& spec, std::span<const ChartAxis> axes) {
  std::set<std::string> names{"point", "status", spec.series};
  for (const ChartAxis& axis : axes) names.insert(axis.name);
  for (const auto& [name, cell] : spec.where.cells()) names.insert(name);
  Record settings;
  for (const std::string& name : names)
    if (row.has(name)) settings.set(name, row.get(name));
  return settings;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void add_distribution(const Record& settings, const ChartSpec& spec, std::vector<double> seconds,
                      std::vector<Record>& records) {
  std::ranges::sort(seconds);
  const std::size_t count = std::min(seconds.size(), most_points);
  for (std::size_t i = 0; i < count; ++i) {
    // The smallest and the largest are among them.
    const std::size_t rank = count > 1 ? i * (seconds.size() - 1) / (count - 1) : 0;
    Record row = settings;
    row.set(spec.x, seconds[rank]);
    row.set(spec.y, static_cast<double>(rank + 1) / static_cast<double>(seconds.size()));
    records.push_back(std::move(row));
  }
}

void add_course(const Record& settings, const ChartSpec& spec, std::vector<double> seconds,
                std::vector<Record>& records) {
  const std::size_t together = (seconds.size() + most_points - 1) / most_points;
  for (std::size_t first = 0; first < seconds.size(); first += together) {
    const std::size_t end = std::min(first + together, seconds.size());
    Record row = settings;
    row.set(spec.x, static_cast<std::int64_t>(first + 1));
    row.set(spec.y, median_of({seconds.begin() + static_cast<std::ptrdiff_t>(first),
                               seconds.begin() + static_cast<std::ptrdiff_t>(end)}));
    records.push_back(std::move(row));
  }
}

}  // namespace

SamplesByPoint read_samples(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "samples.csv";
  SamplesByPoint samples;
  if (!std::filesystem::is_regular_file(path)) return samples;
  CsvLines lines(std::make_unique<FileSource>(path, 0, whole_lines_of(path)), ',');
  if (!lines.next() || lines.text().size() > longest_line) return samples;
  const std::vector<std::string_view>& names = lines.fields();
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  const std::size_t point = column("point"), process = column("process"), seconds = column("seconds");
  while (lines.next()) {
    if (lines.text().size() > longest_line)
      throw Error(fmt::format("{}: line {} is no line of samples: it has {} bytes", path.string(), lines.line(),
                              lines.text().size()));
    const std::vector<std::string_view>& line = lines.fields();
    const auto of = number_of(line, point), value = number_of(line, seconds);
    const bool is_place = of && std::abs(*of) < largest_point;
    if (!is_place || !value || number_of(line, process).value_or(0) != 0) continue;
    samples[static_cast<std::int64_t>(*of)].push_back(*value);
  }
  return samples;
}

SampleRows sample_rows(ChartSpec& spec, const SamplesByPoint& samples, std::span<const Column> columns,
                       std::span<const Record> records, std::span<const ChartAxis> axes) {
  const std::string time = time_column(records);
  const bool is_distribution = spec.kind == ChartKind::distribution;
  spec.x = is_distribution ? time : "step";
  spec.y = is_distribution ? (time == "latency_s" ? "share_of_answers" : "share_of_steps") : time;
  SampleRows made{{columns.begin(), columns.end()}, {}};
  Column share = column_of(spec.y);
  if (is_distribution) share.unit = Unit::share;
  for (const Column& one : {column_of(spec.x), share}) {
    if (std::ranges::find(made.columns, one.name, &Column::name) == made.columns.end()) made.columns.push_back(one);
  }
  std::set<std::int64_t> done;  // a point of several rows has its samples once
  for (const Record& row : records) {
    const double number = gpubench::number_in(row.get("point")).value_or(0);
    const auto point = std::abs(number) < largest_point ? static_cast<std::int64_t>(number) : -1;
    const auto found = samples.find(point);
    const bool is_meant =
        std::ranges::all_of(spec.where.cells(), [&](const auto& cell) { return row.get(cell.first) == cell.second; });
    if (found == samples.end() || !is_meant || !done.insert(point).second) continue;
    const Record settings = settings_of(row, spec, axes);
    (is_distribution ? add_distribution : add_course)(settings, spec, found->second, made.records);
  }
  return made;
}

}  // namespace gpubench
