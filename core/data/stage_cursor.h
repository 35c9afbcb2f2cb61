// The cursor of a stage with one source: counts what the stage produces and appends that to the source's statistics.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/data/produced.h"

namespace gpubench {

class StageCursor : public Cursor {
 public:
  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back(produced_.row(stage_));
    stages.back().busy = Seconds(busy_.get());
    return stages;
  }

 protected:
  /// `stage` must outlive the cursor; `types` are those of the produced elements.
  StageCursor(std::string_view stage, std::unique_ptr<Cursor> source, std::span<const TensorType> types)
      : source_(std::move(source)), produced_(types), stage_(stage) {}

  const std::unique_ptr<Cursor> source_;
  Produced produced_;
  Tally<double> busy_;  ///< seconds of own work, without the source's

 private:
  const std::string_view stage_;
};

}  // namespace gpubench
