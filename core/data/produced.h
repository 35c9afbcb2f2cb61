// Counts the elements and bytes that a stage has produced. One thread counts, any thread may read. For fixed types only
// elements are counted, and bytes are derived.
#pragma once
#include <cassert>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/data/cursor.h"
#include "core/data/dataset.h"

namespace gpubench {

class Produced {
 public:
  /// For elements of these types.
  explicit Produced(TensorTypes types) {
    if (!is_fixed(types)) return;
    bytes_each_ = 0;
    for (const TensorType& type : types) bytes_each_ += static_cast<std::int64_t>(type.bytes());
  }

  void add(const Element& element) {
    elements_.add(1);
    if (bytes_each_ != varying) return;
    for (const HostTensor& tensor : element) bytes_.add(static_cast<std::int64_t>(tensor.bytes()));
  }
  void add(std::span<const TensorView> element) {
    elements_.add(1);
    if (bytes_each_ != varying) return;
    for (const TensorView& tensor : element) bytes_.add(static_cast<std::int64_t>(tensor.type->bytes()));
  }
  /// Counts rows of tensors, which have fixed types.
  void add_rows(std::size_t count) {
    assert(bytes_each_ != varying);
    elements_.add(static_cast<std::int64_t>(count));
  }

  std::int64_t elements() const { return elements_.get(); }
  std::int64_t bytes() const { return bytes_each_ == varying ? bytes_.get() : elements_.get() * bytes_each_; }
  /// The statistics of a stage without further figures.
  StageStatistics row(std::string_view stage) const {
    return {.stage = stage, .produced = elements(), .bytes = bytes()};
  }

 private:
  std::int64_t bytes_each_ = varying;
  Tally<std::int64_t> elements_;
  Tally<std::int64_t> bytes_;
};

/// The rows of the cursors of a stage with several sources.
template <class Cursors>
std::vector<StageStatistics> statistics_of(const Cursors& sources) {
  std::vector<StageStatistics> stages;
  for (const auto& source : sources) {
    const std::vector<StageStatistics> rows = source->statistics();
    stages.insert(stages.end(), rows.begin(), rows.end());
  }
  return stages;
}

/// The cursor of a stage with one source: counts what the stage produces and appends that to the source's statistics.
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
  StageCursor(std::string_view stage, std::unique_ptr<Cursor> source, TensorTypes types)
      : source_(std::move(source)), produced_(types), stage_(stage) {}

  const std::unique_ptr<Cursor> source_;
  Produced produced_;
  Tally<double> busy_;  ///< seconds of own work, without the source's

 private:
  const std::string_view stage_;
};

}  // namespace gpubench
