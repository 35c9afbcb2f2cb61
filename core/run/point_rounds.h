// The rounds of a point, each a call of the script's `run`, and the rows that they give: the median of each figure,
// with the interval of independent values. Points that no claim compares have one round.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/column.h"
#include "core/results/doubt.h"
#include "core/results/record.h"
#include "core/run/point_call.h"

namespace gpubench {

/// What a sweep declares of the columns of its rows.
struct SweepColumns {
  std::set<std::string, std::less<>> axes;
  /// Columns of the script, whose names need not say what they are.
  std::map<std::string, Column, std::less<>> own;
  /// Figures that get an interval from their rounds though no row has one: claims and charts show it.
  std::set<std::string, std::less<>> with_interval;

  Kind kind_of(std::string_view column) const;
  /// Whether a busy machine changes figures of the column.
  bool is_disturbed(std::string_view column) const;
};

/// What a round measured of a row.
struct RowOfRound {
  Record row;
  /// Nothing disturbed its times.
  bool counts = true;
};

class PointRounds {
 public:
  /// `sweep` must outlive the rounds.
  PointRounds(std::int64_t number, const SweepColumns& sweep) : number_(number), sweep_(sweep) {}

  /// The next round. `seconds`: what the calls of the point took so far. Later calls that fail, or have other rows, say
  /// what became of the point: no call may follow one that failed.
  void add(const PointCall& call, double seconds);

  std::int64_t number() const { return number_; }
  /// The rows of the call that failed; empty if none did.
  const std::vector<Record>& failed() const { return failed_; }
  /// Calls so far.
  std::size_t size() const { return rounds_.size() + (failed_.empty() ? 0 : 1); }
  /// Rounds that nothing disturbed.
  std::int64_t calm() const;
  /// The largest share of the processor time that others took in a round whose times therefore do not count.
  double worst_lost_share() const;

  /// One row for each that a call returned, from the rounds so far of `planned` ones. `too_long`: why there are too
  /// few.
  std::vector<Record> merged(std::int64_t planned, const std::optional<std::string>& too_long = {}) const;
  /// By round, the `index`-th row (from 0) of process 0, as the mean over all processes; nothing of a point that
  /// failed.
  std::vector<RowOfRound> rounds_of(std::size_t index) const;

 private:
  struct Round {
    std::vector<Record> rows;
    Doubt disturbed;
    double lost_share = 0;
  };
  Record merged_row(std::size_t index, std::int64_t planned) const;
  /// Without the rounds that do not count, unless none does.
  Record medians(const std::vector<const Record*>& all, const std::vector<const Record*>& calm) const;
  bool has_times(const Record& row) const;

  std::int64_t number_;
  const SweepColumns& sweep_;
  std::vector<Round> rounds_;
  std::vector<Record> failed_;
  double seconds_ = 0;
};

}  // namespace gpubench
