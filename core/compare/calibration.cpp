#include "core/compare/calibration.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include "core/base/error.h"
#include "core/base/split_mix.h"
#include "core/codec/output_file.h"
#include "core/compare/row_changes.h"
#include "core/measure/stats/mann_whitney.h"
#include "core/measure/stats/quantile.h"
#include "core/results/append_file.h"
#include "core/results/folder_lock.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

constexpr std::size_t sizes_of_sides[] = {7, 10, 20};
constexpr double wanted_power = 0.95;
constexpr std::size_t least_recorded = 2 * least_processes;
/// For other programs that store a calibration.
constexpr std::chrono::seconds longest_wait{20};

/// The recorded figures of one row, by process.
using RecordedRow = std::vector<double>;

/// Draws sides from recorded rows; the n-th draw depends on n only.
class Simulation {
 public:
  Simulation(Column column, std::vector<RecordedRow> rows, std::size_t processes)
      : column_(std::move(column)),
        rows_(std::move(rows)),
        limits_{.false_positive_rate = 0.0, .visible = 0.0},
        processes_(processes) {}

  /// Share of `trials` in which a side that is worse by `share` is called so; for share 0, called different at all.
  double called(double share, std::size_t trials) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < trials; ++i) {
      const RecordedRow& row = rows_[below(rows_.size())];
      const double factor = column_.better == Better::higher ? 1 / (1 + share) : 1 + share;
      const std::vector<ProcessFigures> before = drawn(row, 1), after = drawn(row, factor);
      Change change = measure_change(column_, before, after, limits_);
      judge_change(change);
      const bool is_different = change.verdict != ChangeVerdict::same && change.verdict != ChangeVerdict::ambiguous;
      count += share > 0 && column_.better != Better::neither ? change.verdict == ChangeVerdict::worse : is_different;
    }
    return static_cast<double>(count) / static_cast<double>(trials);
  }

 private:
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(((split_mix(++counter_ * split_mix_step) >> 32) * count) >> 32);
  }
  /// Drawn with replacement, and told apart by less than any clock can, so that the test need not treat ties.
  std::vector<ProcessFigures> drawn(const RecordedRow& row, double factor) {
    std::vector<ProcessFigures> side;
    for (std::size_t i = 0; i < processes_; ++i) {
      const double apart = 1 + 1e-9 * static_cast<double>(below(1000));
      side.push_back({row[below(row.size())] * factor * apart});
    }
    return side;
  }

  Column column_;
  std::vector<RecordedRow> rows_;
  ChangeLimits limits_;
  std::size_t processes_;
  std::uint64_t counter_ = 0;
};

/// The smallest change that is found in 95 %, within a twentieth.
std::optional<double> smallest_found(Simulation& simulation, std::size_t trials) {
  constexpr double largest = 0.5, growth = 1.05;
  const std::size_t few = std::max<std::size_t>(trials / 5, 100);
  double low = ChangeLimits{}.threshold, high = largest;
  if (simulation.called(high, few) < wanted_power) return std::nullopt;
  while (high > low * growth) {
    const double middle = std::sqrt(low * high);
    (simulation.called(middle, few) >= wanted_power ? high : low) = middle;
  }
  return high;
}

CalibratedSize calibrated_size(const Column& column, const std::vector<RecordedRow>& rows, std::size_t processes,
                               std::size_t trials) {
  CalibratedSize size{.processes = processes};
  Simulation simulation(column, rows, processes);
  const double rate = simulation.called(0, trials);
  size.false_positive_rate = rate > 0 ? rate
                                      : std::min(3 / static_cast<double>(trials),  // the 95 % bound after none
                                                 attained_level(processes, processes, called_p));
  size.found_1 = simulation.called(0.01, trials / 2);
  size.found_2 = simulation.called(0.02, trials / 2);
  size.found_5 = simulation.called(0.05, trials / 2);
  size.visible = smallest_found(simulation, trials);
  return size;
}

double noise_of(const RecordedRow& row) {
  return (quantile(row, 0.75) - quantile(row, 0.25)) / median(row);
}

struct RecordedFigure {
  Column column;
  std::vector<RecordedRow> rows;
};

/// By experiment and figure; rows that all processes measured, with figures above 0.
std::map<std::pair<std::string, std::string>, RecordedFigure> recorded_figures(const Side& side,
                                                                               const ComparisonOptions& options) {
  std::map<std::pair<std::string, std::string>, RecordedFigure> figures;
  for (const MatchedRow& row : match_rows(std::span(&side, 1))) {
    for (const Column& column : chosen_figures(row, options)) {
      if (column.kind == Kind::counted) continue;
      const std::vector<double> values = medians_of(figures_in(row.sides.front(), column.name));
      const bool positive = std::ranges::all_of(values, [](double value) { return value > 0; });
      if (values.size() < least_recorded || !positive) continue;
      RecordedFigure& figure = figures[{row.key.experiment, column.name}];
      figure.column = column;
      figure.rows.push_back(values);
    }
  }
  return figures;
}

// ---- Files

std::filesystem::path file_of(const std::string& machine, const std::filesystem::path& out) {
  const std::size_t checksum = std::hash<std::string>()(machine) & 0xffffffffU;
  return out / "calibration" / fmt::format("{:08x}.json", checksum);
}

Info info_of(const CalibratedSize& size) {
  Info info(Info::Fields{{"processes", static_cast<std::int64_t>(size.processes)},
                         {"false_positive_rate", size.false_positive_rate},
                         {"found_1_percent", size.found_1},
                         {"found_2_percent", size.found_2},
                         {"found_5_percent", size.found_5}});
  if (size.visible) info.set("visible_change", *size.visible);
  return info;
}

Info info_of(const CalibratedFigure& figure) {
  Info::List sizes;
  for (const CalibratedSize& size : figure.sizes) sizes.push_back(info_of(size));
  return Info::Fields{{"experiment", figure.experiment},
                      {"figure", figure.figure},
                      {"noise", figure.noise},
                      {"rows", static_cast<std::int64_t>(figure.rows)},
                      {"processes", static_cast<std::int64_t>(figure.processes)},
                      {"sizes", std::move(sizes)}};
}

double number_at(const Info& info, std::string_view name, const std::filesystem::path& file) {
  const Info* const field = info.find(name);
  const std::optional<double> number = field && field->cell() ? number_in(*field->cell()) : std::nullopt;
  if (!number)
    throw Error(
        fmt::format("compare: {}: '{}' is no number; remove the file and calibrate again", file.string(), name));
  return *number;
}

const Info::List& list_at(const Info& info, std::string_view name, const std::filesystem::path& file) {
  const Info* const field = info.find(name);
  if (!field || !field->list())
    throw Error(fmt::format("compare: {}: '{}' is no list; remove the file and calibrate again", file.string(), name));
  return *field->list();
}

CalibratedSize size_in(const Info& info, const std::filesystem::path& file) {
  CalibratedSize size{.processes = static_cast<std::size_t>(std::max(number_at(info, "processes", file), 0.0)),
                      .false_positive_rate = number_at(info, "false_positive_rate", file),
                      .found_1 = number_at(info, "found_1_percent", file),
                      .found_2 = number_at(info, "found_2_percent", file),
                      .found_5 = number_at(info, "found_5_percent", file)};
  if (info.find("visible_change")) size.visible = number_at(info, "visible_change", file);
  return size;
}

Calibration stored_for(const std::string& machine, const std::filesystem::path& out) {
  Calibration calibration{.machine = machine, .figures = {}};
  const std::filesystem::path file = file_of(machine, out);
  if (machine.empty() || !std::filesystem::exists(file)) return calibration;
  const Info info = parse_json(read_file(file), file.string());
  for (const Info& one : list_at(info, "figures", file)) {
    CalibratedFigure figure{.experiment = one.text("experiment"),
                            .figure = one.text("figure"),
                            .noise = number_at(one, "noise", file),
                            .rows = static_cast<std::size_t>(std::max(number_at(one, "rows", file), 0.0)),
                            .processes = static_cast<std::size_t>(std::max(number_at(one, "processes", file), 0.0)),
                            .sizes = {}};
    for (const Info& size : list_at(one, "sizes", file)) figure.sizes.push_back(size_in(size, file));
    calibration.figures.push_back(std::move(figure));
  }
  return calibration;
}

/// Of all processes; empty if they are of several types.
std::string machine_of(std::span<const Side> sides) {
  std::string machine;
  for (const Side& side : sides) {
    for (const MeasuringProcess& process : side.processes) {
      const std::string own = machine_type(process.info);
      if (own.empty() || (!machine.empty() && own != machine)) return {};
      machine = own;
    }
  }
  return machine;
}

}  // namespace

std::string machine_type(const Info& info) {
  const Info* const devices = info.find("devices");
  if (!devices || !devices->list()) return {};
  std::string text;
  for (const Info& device : *devices->list())
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", device.text("name"), device.text("description"));
  return text;
}

Calibration calibrate(const Side& side, const ComparisonOptions& options, std::size_t trials) {
  const std::string machine = machine_of(std::span(&side, 1));
  if (machine.empty())
    throw Error(fmt::format("calibrate: the processes of '{}' are not all of one known type of machine", side.name));
  Calibration calibration{.machine = machine, .figures = {}};
  for (const auto& [key, recorded] : recorded_figures(side, options)) {
    std::vector<double> noises;
    for (const RecordedRow& row : recorded.rows) noises.push_back(noise_of(row));
    CalibratedFigure figure{.experiment = key.first,
                            .figure = key.second,
                            .noise = median(noises),
                            .rows = recorded.rows.size(),
                            .processes = recorded.rows.front().size(),
                            .sizes = {}};
    for (const std::size_t processes : sizes_of_sides)
      figure.sizes.push_back(calibrated_size(recorded.column, recorded.rows, processes, trials));
    calibration.figures.push_back(std::move(figure));
  }
  if (calibration.figures.empty())
    throw Error(fmt::format("calibrate: '{}' has no row that {} processes have measured; measure it with --repeat {}",
                            side.name, least_recorded, least_recorded));
  return calibration;
}

std::filesystem::path store_calibration(const Calibration& calibration, const std::filesystem::path& out) {
  const std::filesystem::path file = file_of(calibration.machine, out);
  refuse_links(out, "calibration", "calibrate");
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error)
    throw Error(fmt::format("calibrate: '{}' cannot be made: {}", file.parent_path().string(), error.message()));
  const FolderLock lock(file.parent_path(), longest_wait);
  if (!lock.is_own())
    throw Error(fmt::format("calibrate: another program keeps writing in '{}'; try again when it has ended",
                            file.parent_path().string()));
  Calibration all = stored_for(calibration.machine, out);
  for (const CalibratedFigure& figure : calibration.figures) {
    std::erase_if(all.figures, [&](const CalibratedFigure& old) {
      return old.experiment == figure.experiment && old.figure == figure.figure;
    });
    all.figures.push_back(figure);
  }
  Info::List figures;
  for (const CalibratedFigure& figure : all.figures) figures.push_back(info_of(figure));
  replace_file(file, to_json(Info(Info::Fields{{"machine", calibration.machine}, {"figures", std::move(figures)}})));
  return file;
}

StoredCalibration::StoredCalibration(std::span<const Side> sides, const std::filesystem::path& out)
    : calibration_(stored_for(machine_of(sides), out)) {}

ChangeLimits StoredCalibration::limits_of(const RowKey& row, const Column& column, std::size_t processes) const {
  const auto figure = std::ranges::find_if(calibration_.figures, [&](const CalibratedFigure& one) {
    return one.experiment == row.experiment && one.figure == column.name;
  });
  if (figure == calibration_.figures.end()) return {};
  const CalibratedSize* nearest = nullptr;  // of no more processes than there are
  for (const CalibratedSize& size : figure->sizes)
    if (size.processes <= processes && (!nearest || size.processes > nearest->processes)) nearest = &size;
  if (!nearest) return {};
  return {.false_positive_rate = nearest->false_positive_rate, .visible = nearest->visible};
}

}  // namespace gpubench
