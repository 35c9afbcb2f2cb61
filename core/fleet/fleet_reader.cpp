#include "core/fleet/fleet_reader.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <tuple>

#include "core/fleet/common_nights.h"
#include "core/results/info.h"

namespace gpubench {
namespace {

/// Of runs without a night's id: seconds between two of one night, and between the first and the last.
constexpr std::int64_t longest_pause_of_night = 4 * 3600, longest_night = 12 * 3600;

/// How far the interval reaches on the worse side, as a share of the value.
float width_of(const Column& column, double value, const std::optional<double>& low,
               const std::optional<double>& high) {
  const std::optional<double>& end = column.better == Better::lower ? high : low;
  if (!end || value == 0) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(std::abs(*end - value) / std::abs(value));
}

/// "NVIDIA H100 80GB HBM3"; of a part of a card with its size, because parts differ.
std::string model_of_device(const Info& facts, const std::string& device) {
  const std::string key = "devices." + device;
  const std::string description = facts.text(key + ".description"), name = facts.text(key + ".details.name");
  return name.empty() || description.find("multiprocessors") != std::string::npos ? description : name;
}

/// Of "gpu:0+gpu:1" "2 x NVIDIA H100".
std::string model_of_slot(const Info& facts, const std::string& slot) {
  std::map<std::string, std::size_t> models;
  for (std::size_t begin = 0; begin < slot.size();) {
    const std::size_t end = std::min(slot.find('+', begin), slot.size());
    ++models[model_of_device(facts, slot.substr(begin, end - begin))];
    begin = end + 1;
  }
  if (models.empty()) return facts.text("machine.cpu_model");
  std::string text;
  for (const auto& [model, count] : models) {
    if (model.empty()) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : " + ", count > 1 ? fmt::format("{} x ", count) : "", model);
  }
  return text;
}

}  // namespace

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    text += part;
    text += '\0';
  }
  return text;
}

std::uint32_t FleetReader::device_of(const SeriesKey& key, const std::string& machine_id) {
  const auto [place, is_new] = device_ids_.emplace(joined({key.host, machine_id, key.suite, key.slot, key.card}),
                                                   static_cast<std::uint32_t>(devices_.size()));
  if (is_new) devices_.push_back({key.host, machine_id, key.suite, key.slot, key.card});
  return place->second;
}

std::uint32_t FleetReader::figure_of(const HistorySeries& series) {
  const SeriesKey& key = series.key;
  const auto [place, is_new] =
      figure_ids_.emplace(joined({key.experiment, key.axes, key.metric}), static_cast<std::uint32_t>(figures_.size()));
  if (is_new) figures_.push_back({key.experiment, key.axes, key.metric, series.column});
  return place->second;
}

std::uint32_t FleetReader::night_of(const HistoryRun& run, const std::string& night, std::int64_t started) {
  const auto [place, is_new] =
      night_ids_.emplace(joined({run.host, run.machine, run.suite, night}), static_cast<std::uint32_t>(nights_.size()));
  if (is_new) nights_.push_back({run.host, run.machine, run.suite, started});
  Night& one = nights_[place->second];
  one.started = std::min(one.started, started);
  return place->second;
}

std::unordered_map<std::int64_t, HistorySeries> FleetReader::watched_series(const RunHistory& history) {
  std::unordered_map<std::int64_t, HistorySeries> watched;
  for (HistorySeries& series : history.series()) {
    if (series.watched) {
      watched.emplace(series.id, std::move(series));
    } else {
      ++unwatched_;
    }
  }
  return watched;
}

/// Of the history's ids, those here. A run of no night counts to its day, or to the day before if it goes on with what
/// began there before midnight.
std::unordered_map<std::int64_t, std::uint32_t> FleetReader::add_runs(const Runs& runs) {
  struct Dated {
    const HistoryRun* run;
    std::int64_t started;
  };
  std::vector<Dated> dated;
  for (const auto& [id, run] : runs) {
    if (const std::optional<std::int64_t> started = seconds_of(run.started)) {
      dated.push_back({&run, *started});
    } else {
      ++undated_;
    }
  }
  const auto owner = [](const HistoryRun& run) { return std::tie(run.host, run.machine, run.suite); };
  std::ranges::sort(dated, [&](const Dated& a, const Dated& b) {
    return std::tuple_cat(owner(*a.run), std::tuple(a.started)) < std::tuple_cat(owner(*b.run), std::tuple(b.started));
  });
  std::unordered_map<std::int64_t, std::uint32_t> own;
  const Dated* before = nullptr;
  std::int64_t began = 0;
  for (const Dated& one : dated) {
    const bool goes_on = before && owner(*before->run) == owner(*one.run) &&
                         one.started - before->started < longest_pause_of_night && one.started - began < longest_night;
    if (!goes_on && (!before || owner(*before->run) != owner(*one.run) || date_text(began) != date_text(one.started)))
      began = one.started;
    before = &one;
    const std::string night = one.run->night.empty() ? date_text(began) : one.run->night;
    own.emplace(one.run->id, static_cast<std::uint32_t>(runs_.size()));
    runs_.push_back({night_of(*one.run, night, one.started), one.started});
  }
  return own;
}

void FleetReader::add(const RunHistory& history) {
  Runs runs;
  for (HistoryRun& run : history.runs()) runs.emplace(run.id, std::move(run));
  const auto watched = watched_series(history);
  const auto own_runs = add_runs(runs);
  std::unordered_map<std::uint32_t, std::int64_t> environments;
  const HistorySeries* series = nullptr;
  const HistoryRun* last_run = nullptr;  // with a value of this series
  std::int64_t last_series = 0;
  std::uint32_t figure = 0, device = 0;
  // In the order of the table, in which the values of a series stand together.
  Statement row = history.database().prepare("SELECT series, run, value, low, high, reliable FROM points");
  while (row.step()) {
    if (const std::int64_t id = row.integer(0); id != last_series) {
      last_series = id;
      last_run = nullptr;
      const auto found = watched.find(id);
      series = found == watched.end() ? nullptr : &found->second;
      if (series) figure = figure_of(*series);
    }
    const auto own_run = own_runs.find(row.integer(1));
    if (!series || own_run == own_runs.end()) continue;
    const HistoryRun& run = runs.at(own_run->first);
    if (!last_run || last_run->machine != run.machine) device = device_of(series->key, run.machine);
    last_run = &run;
    if (const std::int64_t started = runs_[own_run->second].started; started >= devices_[device].latest) {
      devices_[device].latest = started;
      environments[device] = run.environment;
    }
    const double value = row.real(2);
    values_.push_back({device, figure, own_run->second,
                       width_of(series->column, value, row.measured(3), row.measured(4)), value, row.integer(5) != 0});
  }
  read_models(history, environments);
}

void FleetReader::read_models(const RunHistory& history,
                              const std::unordered_map<std::uint32_t, std::int64_t>& environments) {
  std::unordered_map<std::int64_t, Info> known;
  for (const auto& [place, id] : environments) {
    auto facts = known.find(id);
    if (facts == known.end())
      facts = known.emplace(id, parse_json(history.environment(id), "fleet: environment of a run")).first;
    Device& device = devices_[place];
    device.model = model_of_slot(facts->second, device.slot);
    // Of a processor, the card is its description.
    if (device.model.empty())
      device.model = device.card.empty() || is_card_id(device.card) ? "unknown model" : device.card;
  }
}

}  // namespace gpubench
