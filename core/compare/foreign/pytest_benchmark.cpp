// pytest-benchmark's JSON: a file is one process. Its rounds are no observations of their own, because they share the
// process: the process counts with their median.
#include <fmt/format.h>

#include "core/base/shown_text.h"
#include "core/compare/foreign/reader.h"
#include "core/results/cell.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

bool is_pytest_benchmark(const Info& json) {
  const Info* const benchmarks = json.find("benchmarks");
  if (benchmarks == nullptr || benchmarks->list() == nullptr) return false;
  const Info* const first = first_of(json, "benchmarks");
  return (first != nullptr && first->find("stats") != nullptr) || json.find("machine_info") != nullptr;
}

void copy_text(Info& to, std::string_view name, const Info* from, std::string_view field) {
  const std::string text = from != nullptr ? from->text(field) : "";
  if (!text.empty() && text != "unversioned") to.set(name, text);
}

Info facts_of_session(const Info& json) {
  Info machine(Info::Fields{}), program(Info::Fields{});
  const Info* const on = json.find("machine_info");
  copy_text(machine, "host", on, "node");
  copy_text(machine, "kernel", on, "release");
  copy_text(machine, "processor", on != nullptr ? on->find("cpu") : nullptr, "brand_raw");
  copy_text(program, "commit", json.find("commit_info"), "id");
  copy_text(program, "python", on, "python_version");
  copy_text(program, "pytest_benchmark", &json, "version");
  return Info::Fields{{"machine", machine}, {"program", program}};
}

std::vector<MeasuringProcess> read_pytest_benchmark(const fs::path& file, const Info& json) {
  ProcessRows process(file, "pytest-benchmark", file.filename().string(), {benchmark_axis});
  process.process().info = facts_of_session(json);
  std::size_t number = 0;
  for (const Info& one : objects_in(json, "benchmarks", file)) {
    ++number;
    std::string name = one.text("fullname");
    if (name.empty()) name = one.text("name");
    const Info* const stats = one.find("stats");
    const auto median = stats != nullptr ? stats->number("median") : std::nullopt;
    if (!median)
      fail(file,
           fmt::format("entry {} of 'benchmarks' ('{}') has no number 'median' in 'stats'", number, shown_text(name)));
    process.add({{benchmark_axis, name}, {"time_s", *median}});
  }
  if (process.empty()) fail(file, "'benchmarks' is empty: no benchmark was run");
  std::vector<MeasuringProcess> all;
  all.push_back(std::move(process.process()));
  return all;
}

}  // namespace

constinit const JsonReader pytest_benchmark_reader{.writer = "pytest-benchmark",
                                                   .features = "'machine_info' and 'benchmarks' with 'stats'",
                                                   .recognizes = &is_pytest_benchmark,
                                                   .read = &read_pytest_benchmark};

}  // namespace gpubench
