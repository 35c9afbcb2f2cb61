// What this machine's noise allows: from processes that measured the same, the rates at which equal sides are called
// different and slowed ones are found. Stored by type of machine; later verdicts there use it.
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/compare/comparison.h"

namespace gpubench {

/// For sides of so many processes.
struct CalibratedSize {
  std::size_t processes = 0;
  /// Equal sides that were called different; where none was, the bound that the number of trials and the test allow.
  double false_positive_rate = 0;
  /// Shares of sides that are 1, 2 and 5 % worse and were found.
  double found_1 = 0, found_2 = 0, found_5 = 0;
  /// The smallest change that is found in 95 %; empty if it is above 50 %.
  std::optional<double> visible = std::nullopt;
};

struct CalibratedFigure {
  std::string experiment;
  std::string figure;
  /// Interquartile range over the median, of the processes of a row; median over the rows.
  double noise = 0;
  std::size_t rows = 0;
  std::size_t processes = 0;
  std::vector<CalibratedSize> sizes;
};

struct Calibration {
  std::string machine;
  std::vector<CalibratedFigure> figures;
};

/// The devices of a run, such as "AMD EPYC, 2 threads"; empty where a run does not say.
std::string machine_type(const Info& info);

/// Draws sides of 7, 10 and 20 processes from the side's, row by row, as they are and made 1, 2 and 5 % worse. The side
/// needs at least 14 processes of one type of machine. Throws Error otherwise.
Calibration calibrate(const Side& side, const ComparisonOptions& options, std::size_t trials = 1000);

/// Adds it to what is stored for its machine below `out`; a figure's older entry is replaced. Returns the file.
std::filesystem::path store_calibration(const Calibration& calibration, const std::filesystem::path& out);

/// Limits from what is stored for the sides' type of machine; the usual ones where nothing is, or sides are of several
/// types. Throws Error for a file that cannot be read.
class StoredCalibration final : public LimitsSource {
 public:
  StoredCalibration(std::span<const Side> sides, const std::filesystem::path& out);
  ChangeLimits limits_of(const RowKey& row, const Column& column, std::size_t processes) const override;

 private:
  Calibration calibration_;
};

}  // namespace gpubench
