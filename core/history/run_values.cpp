#include "core/history/run_values.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/compare/fingerprint.h"
#include "core/results/append_file.h"
#include "core/results/mean_over_processes.h"

namespace gpubench {
namespace {

constexpr std::string_view suite_prefix = "suite=", night_prefix = "night=", again_prefix = "again=";

std::string field_text(const Info& info, std::string_view outer, std::string_view inner) {
  const Info* const found = info.find(outer);
  return found ? found->text(inner) : std::string();
}

std::string host_of(const Run& run) {
  if (const std::string host = field_text(run.info, "machine", "host"); !host.empty()) return host;
  const std::string name = run.directory.filename().string();
  const std::size_t dash = name.find('-');
  return dash == std::string::npos ? "unknown" : name.substr(dash + 1);
}

/// What stands behind the prefix in the first tag that has it.
std::string tagged(const Info& info, std::string_view prefix) {
  for (const std::string& tag : info.texts("tags")) {
    if (tag.starts_with(prefix)) return tag.substr(prefix.size());
  }
  return {};
}

const Info* device_named(const Info& info, std::string_view name) {
  const Info* const devices = info.find("devices");
  if (!devices || !devices->list()) return nullptr;
  for (const Info& device : *devices->list()) {
    if (device.text("name") == name) return &device;
  }
  return nullptr;
}

/// Of "gpu:0+gpu:1" both cards. Logical devices that a point made have none of their own.
std::string card_of(const Info& info, const std::string& slot) {
  std::set<std::string> cards;
  for (std::size_t begin = 0; begin < slot.size();) {
    const std::size_t end = std::min(slot.find('+', begin), slot.size());
    if (const Info* const device = device_named(info, std::string_view(slot).substr(begin, end - begin))) {
      const std::string uuid = field_text(*device, "details", "uuid");
      cards.insert(uuid.empty() ? device->text("description") : uuid);
    }
    begin = end + 1;
  }
  return fmt::format("{}", fmt::join(cards, "+"));
}

std::string environment_of(const Run& run) {
  const std::filesystem::path script = run.directory / "script.lua";
  Info::Fields facts;
  for (const auto& [key, value] : fingerprint_of(run.info, std::filesystem::exists(script) ? read_file(script) : ""))
    facts.emplace_back(key, value);
  return to_json_line(Info(std::move(facts)));
}

/// The columns that tell a run's rows apart: its axes, and settings that a measurement adds to them, such as the size
/// of a message. Numbers that the program gives to every row say nothing about what was measured.
std::vector<std::string> key_columns(const Run& run, std::string_view device_column) {
  std::vector<std::string> names = run.info.texts("axis_names");
  for (const Column& column : run.columns) {
    const bool added = column.kind == Kind::setting && column.filled_by != "every row";
    if (added && std::ranges::find(names, column.name) == names.end()) names.push_back(column.name);
  }
  std::erase(names, device_column);
  return names;
}

std::string axes_text(const Record& record, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!record.has(name)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_text(record.get(name)));
  }
  return text;
}

/// " base=3" for each parameter that is not the script's default. Runs of older programs do not say which those are.
std::string params_text(const Info& info) {
  std::string text;
  const Info* const values = info.find("params");
  for (const std::string& name : info.texts("changed_params")) {
    if (values) text += fmt::format(" {}={}", name, values->text(name));
  }
  return text;
}

bool is_figure(const Column& column) {
  using enum Kind;
  return column.kind != text && column.kind != setting && column.kind != extent;
}

/// " processes=8" of a run of several processes, unless a column says it.
std::string processes_text(const Run& run, const std::vector<std::string>& names) {
  if (std::ranges::find(names, "processes") != names.end()) return {};
  std::set<std::string> processes;
  for (const Record& record : run.records)
    if (record.has("process")) processes.insert(to_text(record.get("process")));
  return processes.size() > 1 ? fmt::format(" processes={}", processes.size()) : std::string();
}

/// The figures of a run: not its axes, and not the ends of intervals, which stand beside their figures.
std::vector<Column> figures_of(const Run& run) {
  const std::vector<std::string> axes = run.info.texts("axis_names");
  std::set<std::string> others(axes.begin(), axes.end());
  for (const Column& column : run.columns) {
    for (const char* const end : {"low", "high"}) others.insert(interval_end(column, end));
  }
  std::vector<Column> figures;
  for (const Column& column : run.columns) {
    if (is_figure(column) && !others.contains(column.name)) figures.push_back(column);
  }
  return figures;
}

bool is_reliable(const Record& record, const Column& column) {
  const std::string_view quality = quality_column(column.kind);
  if (quality.empty()) return true;
  const std::string text = to_text(record.get(quality));
  return text.empty() || text == "ok";
}

}  // namespace

std::string night_of(const Info& info) {
  return tagged(info, night_prefix);
}

bool is_second_look(const Info& info) {
  return !tagged(info, again_prefix).empty();
}

bool is_card_id(std::string_view card) {
  if (card.empty()) return false;
  for (std::size_t begin = 0; begin < card.size();) {
    const std::size_t end = std::min(card.find('+', begin), card.size());
    const std::string_view one = card.substr(begin, end - begin);
    if (!one.starts_with("GPU-") && !one.starts_with("MIG-")) return false;
    begin = end + 1;
  }
  return true;
}

RunValues values_of(const Run& run) {
  constexpr std::string_view device_column = "device";
  RunValues all{.host = host_of(run),
                .experiment = run.info.text("experiment"),
                .name = run.directory.filename().string(),
                .suite = tagged(run.info, suite_prefix),
                .started = run.info.text("started"),
                .environment = environment_of(run),
                .night = is_second_look(run.info) ? tagged(run.info, again_prefix) : night_of(run.info),
                .machine = field_text(run.info, "machine", "id"),
                .changed_params = run.info.texts("changed_params")};
  if (all.experiment.empty()) all.experiment = run.directory.parent_path().filename().string();
  const std::vector<Column> figures = figures_of(run);
  const std::vector<std::string> names = key_columns(run, device_column);
  const std::vector<std::string> shown = run.info.texts("figures");
  const std::string params = params_text(run.info);
  const std::string processes = processes_text(run, names);
  const std::string usual_slot = field_text(run.info, "options", "device");
  std::map<std::string, int> rows_with;  // rows that nothing else tells apart count in their order
  for (const Record& record : mean_over_processes(run.records)) {
    if (to_text(record.get("status")) != "ok") continue;
    const std::string slot = record.has(device_column) ? to_text(record.get(device_column)) : usual_slot;
    const std::string alone = axes_text(record, names) + processes;
    const int number = ++rows_with[slot + " " + alone];
    const auto numbered = [&](std::string axes) {
      if (axes.starts_with(' ')) axes.erase(0, 1);
      if (number > 1) axes += fmt::format("{}#{}", axes.empty() ? "" : " ", number);
      return axes;
    };
    const std::string axes = numbered(alone + params);
    const std::string card = card_of(run.info, slot);
    for (const Column& column : figures) {
      const std::optional<double> value = number_in(record.get(column.name));
      if (!value || !std::isfinite(*value)) continue;
      const bool watched =
          column.better != Better::neither && (shown.empty() || std::ranges::find(shown, column.name) != shown.end());
      all.values.push_back({.key = {all.host, card, slot, all.suite, all.experiment, axes, column.name},
                            .axes_alone = numbered(alone),
                            .column = column,
                            .watched = watched,
                            .value = *value,
                            .low = number_in(record.get(interval_end(column, "low"))),
                            .high = number_in(record.get(interval_end(column, "high"))),
                            .reliable = is_reliable(record, column)});
    }
  }
  return all;
}

}  // namespace gpubench
