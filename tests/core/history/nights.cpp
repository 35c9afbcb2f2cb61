#include "tests/core/history/nights.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/results/csv.h"
#include "core/results/run_directory.h"

namespace gpubench::support {
namespace {

std::string name_of(const Night& night) {
  std::string name = night.started;
  std::erase_if(name, [](char c) { return c == '-' || c == ':'; });
  return name + "-" + night.host;
}

Info info_of(const Night& night) {
  Info::Fields details{{"uuid", night.uuid}, {"driver", night.driver}};
  Info::Fields device{{"name", "gpu:0"}, {"description", "a GPU"}, {"details", details}};
  return Info::Fields{{"experiment", night.experiment},
                      {"status", "done"},
                      {"started", night.started},
                      {"axis_names", Info::List{"device", "size"}},
                      {"figures", Info::List{"step_time_s", "flops_per_s"}},
                      {"tags", Info::List{"suite=" + night.suite}},
                      {"program", Info::Fields{{"commit", "c1"}}},
                      {"machine", Info::Fields{{"host", night.host}, {"load_1min", 0.5}}},
                      {"devices", Info::List{device}}};
}

}  // namespace

std::string date_of(int day) {
  constexpr std::chrono::sys_days first(std::chrono::year(2026) / std::chrono::January / 1);
  return utc_text(first + std::chrono::days(day) + std::chrono::hours(2));
}

Run run_of(const Night& night, const std::filesystem::path& out) {
  Run run;
  run.directory = results_root(out) / night.experiment / name_of(night);
  run.info = info_of(night);
  for (const char* const name : {"experiment", "point", "process", "status", "quality", "device", "size", "step_time_s",
                                 "step_time_low_s", "step_time_high_s", "flops_per_s", "warmup_s", "stop_reason"})
    run.columns.push_back(column_of(name));
  run.records.push_back({{"experiment", night.experiment},
                         {"point", std::int64_t{1}},
                         {"process", std::int64_t{0}},
                         {"status", std::string("ok")},
                         {"quality", night.quality},
                         {"device", std::string("gpu:0")},
                         {"size", std::int64_t{64}},
                         {"step_time_s", night.step_time_s},
                         {"step_time_low_s", 0.99 * night.step_time_s},
                         {"step_time_high_s", 1.01 * night.step_time_s},
                         {"flops_per_s", 1e6 / night.step_time_s},
                         {"warmup_s", 0.5}});
  return run;
}

std::filesystem::path write_run(const Night& night, const std::filesystem::path& out) {
  const Run run = run_of(night, out);
  std::filesystem::create_directories(run.directory);
  replace_file(run.directory / "run.json", to_json(run.info));
  std::vector<std::string> header, line;
  for (const Column& column : run.columns) {
    header.push_back(column.name);
    line.push_back(to_csv(run.records[0].get(column.name)));
  }
  replace_file(run.directory / "results.csv", csv_line(header) + csv_line(line));
  return run.directory;
}

std::vector<Run> runs_with(const std::vector<double>& values, Night night, int first_day) {
  std::vector<Run> runs;
  for (const double value : values) {
    night.step_time_s = value;
    night.started = date_of(first_day++);
    runs.push_back(run_of(night));
  }
  return runs;
}

std::vector<double> near(double level, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(level * (1 + 0.001 * ((i * 7) % 5 - 2)));
  return values;
}

std::size_t merge(RunHistory& history, const std::filesystem::path& other) {
  const MergedFile merged = merge(history, std::vector{other}).front();
  if (!merged.fault.empty()) throw Error(merged.fault);
  return merged.added;
}

}  // namespace gpubench::support
