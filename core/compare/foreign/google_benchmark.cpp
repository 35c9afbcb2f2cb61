// Google Benchmark's JSON: a file is one process, its repetitions are repeats. Statistics of repetitions and results of
// Complexity() are left out: they are computed from the repetitions.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/input_limits.h"
#include "core/base/shown_text.h"
#include "core/compare/foreign/figure_name.h"
#include "core/compare/foreign/reader.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

double seconds_per(const std::string& unit, const fs::path& file, const std::string& where) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  fail(file, fmt::format("{}: unknown time_unit '{}'; ns, us, ms and s are possible", where, shown_text(unit)));
}

std::string name_of_entry(const Info& entry) {
  const std::string name = entry.text("run_name");
  return name.empty() ? entry.text("name") : name;
}

/// In old versions, which have no 'run_type', nothing but their names tells statistics of repetitions: "BM_x_mean"
/// beside two of "BM_x", or beside "BM_x_stddev".
class OldStatistics {
 public:
  explicit OldStatistics(const Info::List& entries) {
    for (const Info& entry : entries)
      if (entry.text("run_type").empty()) ++counts_[entry.text("name")];
  }

  bool has(const std::string& name) const {
    for (const std::string_view ending : endings) {
      if (!name.ends_with(ending)) continue;
      const std::string stem = name.substr(0, name.size() - ending.size());
      if (count(stem) > 1 || (count(stem + "_mean") > 0 && count(stem + "_stddev") > 0)) return true;
    }
    return false;
  }

 private:
  static constexpr std::array<std::string_view, 4> endings = {"_mean", "_median", "_stddev", "_cv"};
  std::size_t count(const std::string& name) const {
    const auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
  }
  std::map<std::string, std::size_t> counts_;
};

/// Two benchmarks of one name are two rows: the second is called "BM_x (2)".
class Instances {
 public:
  std::string name_of_row(const Info& entry) {
    const std::string name = name_of_entry(entry), family = entry.text("family_index");
    const std::string id = family.empty() ? "" : family + "/" + entry.text("per_family_instance_index");
    std::size_t number = 0;
    if (!id.empty()) {
      std::vector<std::string>& known = ids_[name];
      const auto found = std::ranges::find(known, id);
      number = static_cast<std::size_t>(found - known.begin());
      if (found == known.end()) known.push_back(id);
    } else if (const std::string repetition = entry.text("repetition_index"); !repetition.empty()) {
      number = seen_[name + "\n" + repetition]++;
    }
    return number == 0 ? name : fmt::format("{} ({})", name, number + 1);
  }

 private:
  std::map<std::string, std::vector<std::string>> ids_;
  std::map<std::string, std::size_t> seen_;
};

void add_counters(Record& record, const Info& entry, const fs::path& file, const std::string& where) {
  static const std::set<std::string, std::less<>> no_counters{
      "name",       "run_name",       "run_type",  "family_index", "per_family_instance_index", "repetitions",
      "iterations", "threads",        "real_time", "cpu_time",     "repetition_index",          "time_unit",
      "label",      "error_occurred", "skipped"};
  for (const auto& [field, value] : *entry.fields()) {
    const auto number = value.cell() ? number_in(*value.cell()) : std::nullopt;
    if (!number || no_counters.contains(field)) continue;
    constexpr std::string_view per_second = "_per_second";
    const bool is_rate = field.ends_with(per_second);
    std::string column;
    try {
      column =
          column_name_of(is_rate ? field.substr(0, field.size() - per_second.size()) + "_per_s" : std::string(field));
    } catch (const Error&) {
      continue;  // a counter without a letter or digit in its name
    }
    if (record.has(column))
      fail(file, fmt::format("{}: two counters would be the column '{}'", where, shown_text(column)));
    record.set(column, *number);
  }
}

Record record_of_entry(const Info& entry, const std::string& name, const fs::path& file, const std::string& where) {
  if (entry.fields()->size() > most_columns)
    fail(file, fmt::format("{}: {} fields; at most {} are possible", where, entry.fields()->size(), most_columns));
  Record record;
  record.set(benchmark_axis, name);
  for (const auto& [flag, status, message] :
       {std::array{"error_occurred", "error", "error_message"}, std::array{"skipped", "skipped", "skip_message"}}) {
    if (entry.text(flag) != "true") continue;
    record.set("status", std::string(status));
    record.set("detail", entry.text(message));
    return record;
  }
  const double unit = seconds_per(entry.text("time_unit"), file, where);
  for (const char* figure : {"real_time", "cpu_time"})
    if (const auto value = entry.number(figure)) record.set(std::string(figure) + "_s", *value * unit);
  if (record.cells().size() == 1) fail(file, where + ": neither 'real_time' nor 'cpu_time' is a number");
  add_counters(record, entry, file, where);
  return record;
}

bool is_google_benchmark(const Info& json) {
  const Info* const first = first_of(json, "benchmarks");
  const auto has = [&](const char* name) { return first != nullptr && first->find(name) != nullptr; };
  if (json.find("benchmarks") == nullptr || has("states") || has("stats")) return false;
  const Info* const context = json.find("context");
  const bool has_context = context != nullptr && context->fields() != nullptr;
  return has_context || has("real_time") || has("run_type") || has("error_occurred") || has("time_unit");
}

Info context_of(const Info& json) {
  Info machine(Info::Fields{}), program(Info::Fields{});
  if (const Info* const context = json.find("context"); context != nullptr && context->fields() != nullptr) {
    for (const auto& [from, to] : {std::pair{"host_name", "host"}, {"num_cpus", "cpus"}})
      if (const Info* field = context->find(from)) machine.set(to, *field);
    for (const char* name : {"executable", "library_build_type", "library_version"})
      if (const Info* field = context->find(name)) program.set(name, *field);
  }
  return Info::Fields{{"machine", machine}, {"program", program}};
}

std::vector<MeasuringProcess> read_google_benchmark(const fs::path& file, const Info& json) {
  ProcessRows process(file, "Google Benchmark", file.filename().string(), {benchmark_axis});
  process.process().info = context_of(json);
  const Info::List& entries = objects_in(json, "benchmarks", file);
  if (entries.empty()) fail(file, "'benchmarks' is empty: the program ended early, or its filter fits no benchmark");
  const OldStatistics statistics(entries);
  Instances instances;
  std::size_t number = 0;
  for (const Info& entry : entries) {
    const std::string where = fmt::format("entry {} of 'benchmarks' ('{}')", ++number, shown_text(entry.text("name")));
    const std::string type = entry.text("run_type");
    if (type == "aggregate" || entry.find("big_o") != nullptr || entry.find("rms") != nullptr) continue;
    if (type.empty() && statistics.has(entry.text("name"))) continue;
    process.add(record_of_entry(entry, instances.name_of_row(entry), file, where));
  }
  if (process.empty())
    fail(file, "no single repetition is in it; run the benchmarks without --benchmark_report_aggregates_only");
  std::vector<MeasuringProcess> all;
  all.push_back(std::move(process.process()));
  return all;
}

}  // namespace

constinit const JsonReader google_benchmark_reader{.writer = "Google Benchmark",
                                                   .features = "'context' and 'benchmarks'",
                                                   .recognizes = &is_google_benchmark,
                                                   .read = &read_google_benchmark};

}  // namespace gpubench
