// Follows one figure over the epochs and says when it is better than ever; shared by EarlyStopping and ModelCheckpoint.
#pragma once
#include <optional>
#include <string>

#include "core/train/metric_states.h"

namespace gpubench {

class Monitor {
 public:
  /// `mode`: "min", "max" or "auto", which takes max for figures named after accuracy. Throws Error otherwise.
  Monitor(std::string owner, std::string figure, const std::string& mode, double min_delta = 0);

  void reset() { best_.reset(); }
  /// Whether this epoch's figure beats the best so far by more than min_delta. Throws Error, listing the figures that
  /// are there, when it is not among `logs`.
  bool improves(const Logs& logs);
  double best() const { return best_.value_or(0); }

 private:
  std::string owner_, figure_;
  bool larger_is_better_;
  double min_delta_;
  std::optional<double> best_;
};

}  // namespace gpubench
