// What is known of one point: the columns of its row, and facts of the run about devices and machine. Everything comes
// from the run's files, so a row is diagnosed in the same way while it is written and years later.
#pragma once
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_names.h"
#include "core/diagnose/remedy.h"
#include "core/doctor/check.h"
#include "core/measure/estimate.h"
#include "core/results/doubt.h"
#include "core/results/info.h"
#include "core/results/input_cause.h"
#include "core/results/record.h"
#include "core/results/steps_of.h"

namespace gpubench {

/// A share of the step, 0 to 1.
struct Share {
  double value = 0;
  /// 95 %; none if only the value is known.
  std::optional<Interval> interval{};
};

/// Highest rates of a device by its data sheet, per second; none if unknown.
struct DevicePeaks {
  std::optional<double> float32, tf32, half;  ///< FLOP/s; half: the better of float16 and bfloat16
};

struct DeviceFacts {
  std::string name;  ///< "gpu:0"
  DevicePeaks peaks{};
  std::optional<double> memory_bytes{};  ///< its own memory, or the limit that was set
  bool allows_tf32 = false;              ///< whether products of float32 may be rounded to TF32
  /// Whether its tensors lie in the host's memory; none in runs of older programs.
  std::optional<bool> shares_host_memory{};
};

struct RunFacts {
  std::vector<DeviceFacts> devices;
  std::vector<CheckResult> machine;  ///< what `gpubench doctor` found
};

/// From run.json: `devices`, and `machine_checks` of gpubench doctor. Fields that are missing or malformed are left
/// out.
RunFacts facts_of(const Info& run);

class Evidence {
 public:
  /// `row` and `facts` must outlive the evidence. `words`: those of findings.
  Evidence(const Record& row, const RunFacts& facts, Words words = Words::lua)
      : row_(row), facts_(facts), words_(words) {}

  /// Nothing for text, NaN and infinities.
  std::optional<double> number(std::string_view column) const;
  /// Empty if the cell is.
  std::string text(std::string_view column) const;
  /// With the interval, if the row has its ends.
  std::optional<Share> share(std::string_view column) const;
  bool has(std::string_view column) const { return row_.has(column); }

  bool ok() const { return text("status").empty() || text("status") == "ok"; }
  /// Why the row's times cannot be relied on.
  Doubt doubt() const { return doubt_in(row_); }
  /// The value that the column's word names; none for an empty cell, and for a word of another version.
  template <class Enum, std::size_t count>
  std::optional<Enum> kind(std::string_view column, const EnumNames<Enum, count>& names) const {
    const auto found = std::ranges::find(names.names, text(column));
    if (found == names.names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.names.begin());
  }
  /// What the slowest thread of the row's pipeline does.
  InputCauseKind input_cause() const;
  /// Mean seconds of a step (a query), of the traced ones where no others were timed; shares are shares of it.
  std::optional<double> step_s() const;
  /// False for a row that does not say what its steps are of.
  bool is_of(StepsOf steps) const { return text("steps_of") == steps_of_names[steps]; }
  /// Of a script's function that gb.compile has not planned as a whole.
  bool is_loop() const { return is_of(StepsOf::loop) && !is_planned(); }
  bool is_inference() const { return is_of(StepsOf::inference) || has("queries"); }
  bool is_eager() const { return text("execution") == "eager"; }
  bool is_planned() const { return text("execution") == "graph"; }
  /// Nothing where the row does not say how many there are.
  std::optional<double> replicas() const { return number("replicas"); }
  /// Whether the model's memory is another than the host's.
  bool has_own_memory() const;
  /// Whether the row's point used the device.
  bool uses(std::string_view device) const;
  /// Of the first of the row's devices that the run describes; null if there is none.
  const DeviceFacts* device() const;
  const RunFacts& facts() const { return facts_; }
  Words words() const { return words_; }

 private:
  const Record& row_;
  const RunFacts& facts_;
  Words words_;
};

/// Whether the row is about steps, or about one that ran out of memory. Rows of older runs have a device and no
/// `steps_of`.
bool has_steps(const Record& row);

}  // namespace gpubench
