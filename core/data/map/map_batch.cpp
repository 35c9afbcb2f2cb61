// A batch after a map: each parcel is a batch, which its worker writes once.
#include "core/data/map/map_dataset.h"
#include "core/data/map/run.h"

namespace gpubench {
namespace {

class MappedBatchCursor final : public Cursor {
 public:
  MappedBatchCursor(const MapDataset& dataset, const BatchShape& batch, std::uint64_t epoch,
                    const CursorOptions& options)
      : batch_(batch), stage_(dataset, batch, epoch, options) {}

  bool next(Element& element) override {
    release(element);
    if (!stage_.next(parcel_)) return false;
    for (std::size_t i = 0; i < parcel_.used; ++i) {
      if (parcel_.segments[i].error) std::rethrow_exception(parcel_.segments[i].error);
    }
    element.swap(parcel_.segments.front().tensors);
    produced_.add(1);
    bytes_.add(parcel_.bytes);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t inputs = count > endless / batch_.size ? endless : count * batch_.size;
    const MapStage::Skipped beyond = stage_.skip(inputs);
    std::int64_t skipped = 0;
    for (std::int64_t left = beyond.in_flight; left > 0 && skipped < count; ++skipped) {
      if (!stage_.next(parcel_)) break;
      left -= parcel_.inputs.count;
    }
    const std::int64_t rest = beyond.passed % batch_.size;
    return skipped + beyond.passed / batch_.size + (rest > 0 && !batch_.drop_remainder ? 1 : 0);
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = stage_.statistics();
    stages.push_back({.stage = "batch", .produced = produced_.get(), .bytes = bytes_.get()});
    stages.back().why = "made by the map's workers";
    return stages;
  }

 private:
  const BatchShape batch_;
  Parcel parcel_;
  MapStage stage_;
  Tally<std::int64_t> produced_;
  Tally<std::int64_t> bytes_;
};

}  // namespace

std::unique_ptr<Cursor> open_mapped_batches(const MapDataset& map, std::int64_t size, bool drop_remainder,
                                            std::uint64_t epoch, const CursorOptions& options) {
  return std::make_unique<MappedBatchCursor>(map, BatchShape{size, drop_remainder}, epoch, options);
}

}  // namespace gpubench
