// Rows of several sides that measured the same: matched by experiment and axes.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/side.h"

namespace gpubench {

struct RowKey {
  std::string experiment;
  /// Names and values, in the order of the baseline's axes.
  std::vector<std::pair<std::string, std::string>> axes = {};
  /// A point may have several rows: 0 for the first.
  std::size_t number = 0;

  /// "device=cpu:0 batch_size=32", with " row 2" for a second one.
  std::string text() const;
};

/// What one process has of a row.
struct RowOfProcess {
  const MeasuringProcess* process = nullptr;
  /// One, or several repeats, that were measured (status ok, or none).
  std::vector<const Record*> records;
  /// Why it has none: "out_of_memory: ..."; empty if it has.
  std::string failure;
};

struct MatchedRow {
  RowKey key;
  /// By side: the processes that have the row, measured or not.
  std::vector<std::vector<RowOfProcess>> sides;

  /// Whether a process of this side measured it.
  bool measured(std::size_t side) const;
  /// In how many processes of this side it failed, and why, where it failed in none of the first side; else empty.
  std::string new_failure(std::size_t side) const;
};

/// All rows of the first side in its order, then those that only others have. Throws Error for more than can be
/// compared.
std::vector<MatchedRow> match_rows(std::span<const Side> sides);

/// The axes, and the program of files of others, in which no other side has a value of the first: "commit is a1 and
/// b2". Empty if there is none.
std::string why_no_common_row(std::span<const MatchedRow> rows);

}  // namespace gpubench
