// nvbench's JSON, of all versions.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/shown_text.h"
#include "core/compare/foreign/nvbench_figures.h"
#include "core/compare/foreign/reader.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// nvbench writes numbers as texts, since version 1 of its files.
std::optional<double> number_of(const Info* value) {
  if (value == nullptr || value->cell() == nullptr) return std::nullopt;
  const auto* const text = std::get_if<std::string>(value->cell());
  return number_in(text != nullptr ? parse_cell(*text, false) : *value->cell());
}

const Info* named_value(const Info::List& values, std::string_view name) {
  for (const Info& one : values)
    if (one.text("name") == name) return one.find("value");
  return nullptr;
}

std::string text_of(const Info* value) {
  return value != nullptr && value->cell() != nullptr ? to_text(*value->cell()) : "";
}

std::vector<NvbenchSummary> summaries_of(const Info& state) {
  std::vector<NvbenchSummary> summaries;
  const Info* const all = state.find("summaries");
  if (all == nullptr) return summaries;
  if (all->list() != nullptr) {
    for (const Info& one : *all->list())
      summaries.push_back({.name = one.text("name").empty() ? one.text("tag") : one.text("name"),
                           .hint = one.text("hint"),
                           .tag = one.text("tag"),
                           .is_hidden = one.find("hide") != nullptr,
                           .value = number_of(named_value(one.items("data"), "value"))});
  } else if (all->fields() != nullptr) {  // before version 1
    for (const auto& [name, one] : *all->fields()) {
      const Info::List& values = one.items("values");
      const std::string short_name = text_of(named_value(values, "short_name"));
      summaries.push_back({.name = short_name.empty() ? name : short_name,
                           .hint = text_of(named_value(values, "hint")),
                           .tag = {},
                           .is_hidden = named_value(values, "hide") != nullptr,
                           .value = number_of(named_value(values, "value"))});
    }
  }
  return summaries;
}

bool is_nvbench(const Info& json) {
  const Info* const benchmarks = json.find("benchmarks");
  const Info* const first = first_of(json, "benchmarks");
  return benchmarks != nullptr && ((first != nullptr && first->find("states") != nullptr) || json.find("devices"));
}

Info facts_of_devices(const Info& json) {
  std::vector<std::string> devices;
  for (const Info& one : json.items("devices")) devices.push_back(one.text("name"));
  Info machine(Info::Fields{}), program(Info::Fields{});
  if (!devices.empty()) machine.set("devices", fmt::format("{}", fmt::join(devices, ", ")));
  const Info* const meta = json.find("meta");
  const Info* const versions = meta != nullptr ? meta->find("version") : nullptr;
  const Info* const own = versions != nullptr ? versions->find("nvbench") : nullptr;
  if (own != nullptr) program.set("nvbench", own->text("string"));
  return Info::Fields{{"machine", machine}, {"program", program}};
}

/// Rows of one benchmark; its axes are added to `axes`.
void add_benchmark(ProcessRows& process, const Info& benchmark, const fs::path& file, std::vector<std::string>& axes) {
  const std::string name = benchmark.text("name");
  for (const Info& state : benchmark.items("states")) {
    const std::string state_name = state.text(state.find("name") != nullptr ? "name" : "description");
    const std::string where = fmt::format("'{}' [{}]", shown_text(name), shown_text(state_name));
    Record record{{"benchmark", name}};
    if (const std::string device = state.text("device"); !device.empty()) record.set("device", device);
    for (const Info& value : state.items("axis_values"))
      add_nvbench_axis(record, value.text("name"), text_of(value.find("value")), file);
    for (const auto& [axis, value] : record.cells())
      if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
    if (state.text("is_skipped") == "true") {
      record.set("status", std::string("skipped"));
      record.set("detail", state.text("skip_reason"));
    } else {
      for (const NvbenchSummary& summary : summaries_of(state)) add_nvbench_figure(record, summary, file, where);
    }
    process.add(std::move(record));
  }
}

std::vector<MeasuringProcess> read_nvbench(const fs::path& file, const Info& json) {
  ProcessRows process(file, "nvbench", file.filename().string());
  process.process().info = facts_of_devices(json);
  std::vector<std::string> axes;
  for (const Info& benchmark : objects_in(json, "benchmarks", file)) add_benchmark(process, benchmark, file, axes);
  if (process.empty()) fail(file, "no benchmark has states: nothing was measured");
  process.process().axes = std::move(axes);
  std::vector<MeasuringProcess> all;
  all.push_back(std::move(process.process()));
  return all;
}

}  // namespace

constinit const JsonReader nvbench_reader{.writer = "nvbench",
                                          .features = "'devices' and 'benchmarks' with 'states'",
                                          .recognizes = &is_nvbench,
                                          .read = &read_nvbench};

}  // namespace gpubench
