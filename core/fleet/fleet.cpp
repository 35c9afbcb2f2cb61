#include "core/fleet/fleet.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/base/known_names.h"
#include "core/fleet/common_nights.h"

namespace gpubench {
namespace {

/// Older nights say nothing of tonight.
constexpr std::size_t most_nights = 366;
/// Models reach different shares of their peaks: a difference below this is theirs.
constexpr double least_share_of_models = 0.10;
/// Of a machine's id, so many characters tell two of one name apart.
constexpr std::size_t shown_of_id = 8;
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// What machines are called: by host and id.
using HostNames = std::map<std::string, std::map<std::string, std::string>>;

/// Keeps the last nights only.
void cut(CommonNights& nights) {
  if (nights.started.size() <= most_nights) return;
  const std::size_t gone = nights.started.size() - most_nights;
  nights.started.erase(nights.started.begin(), nights.started.begin() + static_cast<std::ptrdiff_t>(gone));
  for (std::optional<std::size_t>& night : nights.night)
    night = night && *night >= gone ? std::optional(*night - gone) : std::nullopt;
}

/// Machines of one host name whose nights overlap are two; else it was installed anew.
HostNames host_names(const FleetReader& read, Fleet& fleet) {
  struct Times {
    std::int64_t first, last;
  };
  std::map<std::string, std::map<std::string, Times>> hosts;
  for (const FleetReader::Night& night : read.nights()) {
    Times& times = hosts[night.host].emplace(night.machine_id, Times{night.started, night.started}).first->second;
    times.first = std::min(times.first, night.started);
    times.last = std::max(times.last, night.started);
  }
  HostNames names;
  std::set<std::string> all;
  for (const auto& [host, machines] : hosts) {
    std::set<std::string> apart;
    for (const auto& [id, times] : machines) {
      for (const auto& [other, of_other] : machines)
        if (id != other && !id.empty() && !other.empty() && times.first <= of_other.last &&
            of_other.first <= times.last)
          apart.insert(id);
    }
    for (const auto& [id, times] : machines) {
      std::string name = apart.contains(id) ? fmt::format("{} (machine {})", host, id.substr(0, shown_of_id)) : host;
      all.insert(name);
      names[host].emplace(id, std::move(name));
    }
    if (!apart.empty())
      fleet.notes.push_back(fmt::format("{} machines have the name {}: their ids tell them apart", apart.size(), host));
  }
  fleet.hosts.assign(all.begin(), all.end());
  return names;
}

/// A value of a night of the fleet: the latest reliable one, else the latest.
struct NightValue {
  double value = no_value;
  float width = 0;
  bool reliable = false;
  std::int64_t started = 0;
};

struct PlacedValue {
  std::uint32_t figure, device, night;
  NightValue value;
};

/// The machines of one suite, in the nights that they have in common.
class SuiteFleet {
 public:
  SuiteFleet(const FleetReader& read, const HostNames& names, const std::string& suite, Fleet& fleet)
      : read_(read), names_(names), suite_(suite), fleet_(fleet) {}

  void add() {
    place_nights();
    list_devices();
    place_values();
    // A run by hand is missed by nobody.
    if (!suite_.empty()) {
      add_missing_hosts();
      add_missing_devices();
    }
    add_groups();
  }

 private:
  struct SuiteDevice {
    FleetMachine machine;
    std::int64_t latest = 0;
    std::optional<std::size_t> last_night = {};
  };

  const std::string& name_of(const std::string& host, const std::string& id) const { return names_.at(host).at(id); }
  bool is_tonight(std::optional<std::size_t> night) const { return night && *night + 1 == nights_.started.size(); }

  void place_nights() {
    std::vector<HostNight> all;
    night_of_.assign(read_.nights().size(), std::nullopt);
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < read_.nights().size(); ++i) {
      const FleetReader::Night& night = read_.nights()[i];
      if (night.suite != suite_) continue;
      const std::string& name = name_of(night.host, night.machine_id);
      const auto [id, is_new] = host_ids_.emplace(name, hosts_.size());
      if (is_new) hosts_.push_back(name);
      place.push_back(i);
      all.push_back({id->second, night.started});
    }
    nights_ = common_nights(all);
    for (const std::size_t host : nights_.ahead)
      fleet_.notes.push_back(
          fmt::format("{}: its clock is ahead of all others; its latest nights do not count", hosts_[host]));
    cut(nights_);
    last_of_host_.resize(hosts_.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      night_of_[place[i]] = nights_.night[i];
      last_of_host_[all[i].host] = std::max(last_of_host_[all[i].host], nights_.night[i]);
    }
  }

  /// Those of a machine that was installed anew are the same.
  void list_devices() {
    std::map<std::string, std::size_t> ids;
    device_of_.assign(read_.devices().size(), std::nullopt);
    for (std::size_t i = 0; i < read_.devices().size(); ++i) {
      const FleetReader::Device& one = read_.devices()[i];
      if (one.suite != suite_) continue;
      const std::string& host = name_of(one.host, one.machine_id);
      const auto [id, is_new] = ids.emplace(joined({host, one.slot, one.card}), devices_.size());
      if (is_new) devices_.push_back({.machine = {host, one.slot, one.card, one.model}});
      SuiteDevice& device = devices_[id->second];
      if (one.latest >= device.latest) {
        device.latest = one.latest;
        device.machine.model = one.model;
      }
      device_of_[i] = id->second;
    }
  }

  void place_values() {
    std::vector<std::unordered_map<std::uint64_t, NightValue>> by_figure(read_.figures().size());
    for (const FleetReader::Value& one : read_.values()) {
      const FleetReader::ReadRun& run = read_.runs()[one.run];
      const std::optional<std::size_t> night = night_of_[run.night], device = device_of_[one.device];
      if (!night || !device) continue;
      const NightValue value{one.value, one.width, one.reliable, run.started};
      NightValue& kept = by_figure[one.figure].emplace(*device * most_nights + *night, value).first->second;
      if (std::pair(value.reliable, value.started) > std::pair(kept.reliable, kept.started)) kept = value;
    }
    std::vector<std::uint32_t> order(by_figure.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t i) {
      const FleetFigure& figure = read_.figures()[i];
      return std::tie(figure.experiment, figure.axes, figure.metric);
    });
    for (const std::uint32_t figure : order) {
      for (const auto& [key, value] : by_figure[figure]) {
        const auto device = static_cast<std::uint32_t>(key / most_nights);
        const auto night = static_cast<std::uint32_t>(key % most_nights);
        values_.push_back({figure, device, night, value});
        devices_[device].last_night = std::max(devices_[device].last_night, std::optional<std::size_t>(night));
      }
      by_figure[figure].clear();
    }
  }

  void add_missing(const std::string& host, const std::string& slot, std::size_t last) {
    fleet_.not_reported.push_back(
        {host, slot, suite_, date_text(nights_.started[last]), nights_.started.size() - 1 - last});
  }

  void add_missing_hosts() {
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      if (last_of_host_[i] && !is_tonight(last_of_host_[i])) add_missing(hosts_[i], "", *last_of_host_[i]);
  }

  /// Devices without figures whose host reported; not those in whose slot another card is now.
  void add_missing_devices() {
    const auto slot_of = [](const SuiteDevice& one) { return joined({one.machine.host, one.machine.slot}); };
    std::map<std::string, std::int64_t> latest;
    for (const SuiteDevice& one : devices_) {
      std::int64_t& own = latest[slot_of(one)];
      own = std::max(own, one.latest);
    }
    for (const SuiteDevice& one : devices_) {
      const bool is_replaced = latest.at(slot_of(one)) != one.latest;
      if (is_replaced || !one.last_night || is_tonight(one.last_night)) continue;
      if (!is_tonight(last_of_host_[host_ids_.at(one.machine.host)])) continue;
      add_missing(one.machine.host, one.machine.slot.empty() ? "no device" : one.machine.slot, *one.last_night);
    }
  }

  void add_groups() {
    std::map<std::string, std::set<std::string>> models;
    for (const SuiteDevice& one : devices_)
      models[one.machine.model].insert(joined({one.machine.host, one.machine.slot}));
    for (const auto& [model, slots] : models) {
      FleetGroup group = group_of([&name = model](const FleetMachine& machine) { return machine.model == name; },
                                  [](const FleetFigure&) { return true; });
      group.model = model;
      fleet_.groups.push_back(std::move(group));
    }
    const bool has_few =
        std::ranges::any_of(models, [](const auto& one) { return one.second.size() <= fewest_siblings; });
    if (models.size() < 2 || !has_few) return;
    FleetGroup shares = group_of([](const FleetMachine&) { return true; },
                                 [](const FleetFigure& figure) { return figure.metric == share_of_peak; });
    if (shares.figures.empty()) return;
    shares.model = "all models";
    shares.of_shares = true;
    shares.siblings.least_share = least_share_of_models;
    fleet_.groups.push_back(std::move(shares));
  }

  FleetGroup group_of(const std::function<bool(const FleetMachine&)>& takes_machine,
                      const std::function<bool(const FleetFigure&)>& takes_figure) const {
    FleetGroup group;
    group.suite = suite_;
    for (const std::int64_t started : nights_.started) group.dates.push_back(date_text(started));
    std::vector<std::optional<std::size_t>> machine_of(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (!takes_machine(devices_[i].machine)) continue;
      machine_of[i] = group.machines.size();
      group.machines.push_back(devices_[i].machine);
    }
    group.siblings.machines = group.machines.size();
    group.siblings.nights = nights_.started.size();
    std::map<std::string, std::size_t> rows;
    const FleetFigure* last = nullptr;
    for (const PlacedValue& one : values_) {
      const FleetFigure& figure = read_.figures()[one.figure];
      const std::optional<std::size_t> machine = machine_of[one.device];
      if (!machine || !takes_figure(figure)) continue;
      if (last != &figure) {
        last = &figure;
        add_figure(group, figure, rows);
      }
      put(group, *machine, one);
    }
    return group;
  }

  static void add_figure(FleetGroup& group, const FleetFigure& figure, std::map<std::string, std::size_t>& rows) {
    const std::size_t row = rows.emplace(joined({figure.experiment, figure.axes}), rows.size()).first->second;
    group.figures.push_back(figure);
    group.siblings.figures.push_back(
        {.lower_is_better = figure.column.better == Better::lower,
         .row = row,
         .values = std::vector<double>(group.siblings.machines * group.siblings.nights, no_value)});
    group.tonight.emplace_back(group.siblings.machines, TonightValue{no_value, false});
  }

  /// Into the last figure of the group.
  static void put(FleetGroup& group, std::size_t machine, const PlacedValue& one) {
    if (one.night + 1 == group.siblings.nights) group.tonight.back()[machine] = {one.value.value, one.value.reliable};
    if (!one.value.reliable) return;
    SiblingFigure& figure = group.siblings.figures.back();
    const std::size_t at = group.siblings.at(one.night, machine);
    figure.values[at] = one.value.value;
    if (std::isnan(one.value.width)) return;
    if (figure.widths.empty()) figure.widths.assign(figure.values.size(), std::numeric_limits<float>::quiet_NaN());
    figure.widths[at] = one.value.width;
  }

  const FleetReader& read_;
  const HostNames& names_;
  const std::string& suite_;
  Fleet& fleet_;
  CommonNights nights_;
  std::vector<std::optional<std::size_t>> night_of_;  ///< by night of the reader
  std::map<std::string, std::size_t> host_ids_;
  std::vector<std::string> hosts_;
  std::vector<std::optional<std::size_t>> last_of_host_;
  std::vector<SuiteDevice> devices_;
  std::vector<std::optional<std::size_t>> device_of_;  ///< by device of the reader
  std::vector<PlacedValue> values_;                    ///< by figure
};

}  // namespace

Fleet fleet_of(const FleetReader& read, const std::string& suite) {
  Fleet fleet;
  const HostNames names = host_names(read, fleet);
  std::set<std::string> suites;
  for (const FleetReader::Night& night : read.nights()) suites.insert(night.suite);
  if (!suite.empty() && !suites.contains(suite)) {
    suites.erase("");
    throw_unknown_name("fleet: no suite", suite, names_of(std::vector<std::string>(suites.begin(), suites.end())));
  }
  if (!suite.empty()) suites = {suite};
  if (suites.size() > 1) suites.erase("");
  for (const std::string& one : suites) SuiteFleet(read, names, one, fleet).add();
  if (read.undated_runs() > 0)
    fleet.notes.push_back(fmt::format("{} runs have no date: they count to no night", read.undated_runs()));
  if (read.unwatched_series() > 0)
    fleet.notes.push_back(
        fmt::format("{} series are not judged: they have no direction, or no claim or chart is about them",
                    read.unwatched_series()));
  return fleet;
}

}  // namespace gpubench
