// Reads histories into one list of values, each with the device, the figure and the night that it is of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/history/history.h"

namespace gpubench {

struct FleetFigure {
  std::string experiment, axes, metric;
  Column column;
};

class FleetReader {
 public:
  /// A card in a slot of a machine, as a suite has measured it.
  struct Device {
    std::string host, machine_id, suite, slot, card;
    std::int64_t latest = 0;  ///< start of its latest run
    std::string model = {};
  };
  struct Night {
    std::string host, machine_id, suite;
    std::int64_t started = 0;  ///< of its first run
  };
  struct Value {
    std::uint32_t device, figure, run;
    /// How far the run's interval reaches on the worse side, as a share of the value; NaN: it has none.
    float width;
    double value;
    bool reliable;
  };
  struct ReadRun {
    std::uint32_t night;
    std::int64_t started;
  };

  /// Reads it in one pass.
  void add(const RunHistory& history);

  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<FleetFigure>& figures() const { return figures_; }
  const std::vector<Night>& nights() const { return nights_; }
  const std::vector<ReadRun>& runs() const { return runs_; }
  const std::vector<Value>& values() const { return values_; }
  /// Runs without a date, and series that have no direction or that no claim or chart is about: neither are read.
  std::size_t undated_runs() const { return undated_; }
  std::size_t unwatched_series() const { return unwatched_; }

 private:
  using Runs = std::unordered_map<std::int64_t, HistoryRun>;

  std::uint32_t device_of(const SeriesKey& key, const std::string& machine_id);
  std::uint32_t figure_of(const HistorySeries& series);
  std::uint32_t night_of(const HistoryRun& run, const std::string& night, std::int64_t started);
  std::unordered_map<std::int64_t, HistorySeries> watched_series(const RunHistory& history);
  std::unordered_map<std::int64_t, std::uint32_t> add_runs(const Runs& runs);
  /// `environments`: of devices whose latest run is in this history.
  void read_models(const RunHistory& history, const std::unordered_map<std::uint32_t, std::int64_t>& environments);

  std::map<std::string, std::uint32_t> device_ids_, figure_ids_, night_ids_;
  std::vector<Device> devices_;
  std::vector<FleetFigure> figures_;
  std::vector<Night> nights_;
  std::vector<ReadRun> runs_;
  std::vector<Value> values_;
  std::size_t undated_ = 0, unwatched_ = 0;
};

/// Texts as one key.
std::string joined(std::initializer_list<std::string_view> parts);

}  // namespace gpubench
