// Criterion's estimates.json: one benchmark of one process, whose other benchmarks lie beside it. The process counts
// with the median of its samples: Criterion's samples share it. Criterion's own measurement is in nanoseconds.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/compare/foreign/reader.h"
#include "core/results/append_file.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// Names began with capitals in old versions.
const Info* estimate_in(const Info& json, const char* name, const char* old_name) {
  const Info* const found = json.find(name);
  return found != nullptr ? found : json.find(old_name);
}

bool is_criterion(const Info& json) {
  const Info* const median = estimate_in(json, "median", "Median");
  return median != nullptr && median->find("point_estimate") != nullptr && median->find("standard_error") != nullptr;
}

/// Median time in seconds.
double time_in(const fs::path& file, const Info& json) {
  if (estimate_in(json, "std_dev", "StdDev") == nullptr)
    fail(file, "it has changes between two runs of Criterion, not times; give estimates.json of the folder 'new'");
  const auto nanoseconds = estimate_in(json, "median", "Median")->number("point_estimate");
  if (!nanoseconds) fail(file, "'point_estimate' of the median is no number");
  return *nanoseconds * 1e-9;
}

/// Empty for old versions, which do not write beside the estimates what they are of.
Info benchmark_beside(const fs::path& file) {
  const fs::path about = file.parent_path() / "benchmark.json";
  return fs::exists(about) ? parse_json(read_file(about), about.string()) : Info();
}

/// "group/new/estimates.json" is of "group".
fs::path benchmark_folder(const fs::path& file) {
  return fs::weakly_canonical(file).parent_path().parent_path();
}

std::vector<MeasuringProcess> read_estimates(const fs::path& file, const Info& json) {
  std::string name = benchmark_beside(file).text("full_id");
  if (name.empty()) name = benchmark_folder(file).filename().string();
  ProcessRows process(file, "Criterion", file.filename().string(), {benchmark_axis});
  process.add({{benchmark_axis, name}, {"time_s", time_in(file, json)}});
  std::vector<MeasuringProcess> all;
  all.push_back(std::move(process.process()));
  return all;
}

/// Criterion keeps earlier runs beside the new one; a folder stands for one of them.
std::string run_in(const fs::path& folder, const std::vector<fs::path>& estimates) {
  std::set<std::string> names;
  for (const fs::path& one : estimates) names.insert(one.parent_path().filename().string());
  names.erase("change");
  if (names.contains("new") || names.empty()) return "new";
  if (names.size() == 1) return *names.begin();
  fail(folder, fmt::format("Criterion's runs {} are in it, and no 'new'; give the files estimates.json of one",
                           fmt::join(names, ", ")));
}

}  // namespace

std::vector<MeasuringProcess> read_criterion_folder(const fs::path& folder, const std::vector<fs::path>& estimates) {
  const std::string run = run_in(folder, estimates);
  std::map<fs::path, ProcessRows> processes;  // by the folder target/criterion
  for (const fs::path& file : estimates) {
    if (file.parent_path().filename() != run) continue;
    const Info json = json_of_file(file, text_of_file(file));
    if (!is_criterion(json)) fail(file, "these are no estimates of Criterion");
    const Info about = benchmark_beside(file);
    const fs::path own = benchmark_folder(file), inside = about.text("directory_name");
    fs::path root = fs::weakly_canonical(folder);
    std::string name = about.text("full_id");
    if (!inside.empty() && ("/" + own.generic_string()).ends_with("/" + inside.generic_string())) {
      root = own;
      for (auto part = inside.begin(); part != inside.end(); ++part) root = root.parent_path();
    }
    if (name.empty()) name = own.lexically_relative(root).generic_string();
    const auto [process, is_new] = processes.try_emplace(root, root, "Criterion", root.filename().string(),
                                                         std::vector<std::string>{benchmark_axis});
    process->second.add({{benchmark_axis, name}, {"time_s", time_in(file, json)}});
  }
  if (processes.empty()) fail(folder, "no estimates of a run of Criterion are in it");
  std::vector<MeasuringProcess> all;
  for (auto& [root, rows] : processes) all.push_back(std::move(rows.process()));
  return all;
}

constinit const JsonReader criterion_reader{.writer = "Criterion",
                                            .features = "'median' with 'point_estimate'",
                                            .recognizes = &is_criterion,
                                            .read = &read_estimates};

}  // namespace gpubench
