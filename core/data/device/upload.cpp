#include "core/data/device/upload.h"

#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/data/device/device_slots.h"
#include "core/data/stage/prefetch.h"

namespace gpubench {
namespace {

/// Starts the copies.
class UploadCursor final : public Cursor {
 public:
  UploadCursor(std::unique_ptr<Cursor> source, std::shared_ptr<DeviceSlots> slots)
      : slots_(std::move(slots)), source_(std::move(source)) {}
  ~UploadCursor() override {
    try {
      slots_->finish();  // reads host memory that goes with the source
    } catch (const DeviceError&) {
      return;
    }
  }

  bool next(Element& element) override {
    release(element);
    Element& host = host_[turn_];
    turn_ = 1 - turn_;
    if (!source_->next(host)) return false;
    slots_->upload(host, element);
    release(host_[turn_]);  // its copy is done
    return true;
  }
  std::int64_t skip(std::int64_t count) override { return source_->skip(count); }
  std::vector<StageStatistics> statistics() const override { return source_->statistics(); }

 private:
  const std::shared_ptr<DeviceSlots> slots_;
  const std::unique_ptr<Cursor> source_;
  std::array<Element, 2> host_;  // one is copied while the source makes the next
  std::size_t turn_ = 0;
};

/// Between the consumer's work on the device and the copies.
class ArrivalCursor : public Cursor {
 public:
  ArrivalCursor(std::unique_ptr<Cursor> uploads, std::shared_ptr<DeviceSlots> slots)
      : slots_(std::move(slots)), uploads_(std::move(uploads)) {}

  bool next(Element& element) override {
    release(element);
    slots_->recycle();
    if (!uploads_->next(element)) return false;
    slots_->arrive(element);
    return true;
  }
  std::int64_t skip(std::int64_t count) override { return uploads_->skip(count); }
  std::vector<StageStatistics> statistics() const override { return uploads_->statistics(); }

 protected:
  const DeviceSlots& slots() const { return *slots_; }

 private:
  const std::shared_ptr<DeviceSlots> slots_;
  const std::unique_ptr<Cursor> uploads_;
};

/// With a row of its own in the statistics: what the thread did are the copies.
class AheadCursor final : public ArrivalCursor {
 public:
  using ArrivalCursor::ArrivalCursor;
  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = ArrivalCursor::statistics();
    stages.back().busy = slots().copy_time();
    return stages;
  }
};

/// A source whose epochs are uploads into given slots.
class Uploads final : public Transformation {
 public:
  Uploads(DatasetPtr source, std::shared_ptr<DeviceSlots> slots)
      : Transformation(std::move(source)), slots_(std::move(slots)) {}
  std::string_view stage() const override { return "upload"; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    CursorOptions asked = options.for_sources();
    asked.memory = slots_->device().host_memory();
    return std::make_unique<UploadCursor>(source().open(epoch, asked), slots_);
  }

 private:
  const std::shared_ptr<DeviceSlots> slots_;
};

}  // namespace

std::unique_ptr<Cursor> open_uploaded(const DatasetPtr& source, const DevicePlace& place, std::uint64_t epoch,
                                      const CursorOptions& options) {
  const auto slots = std::make_shared<DeviceSlots>(place.device());
  return std::make_unique<ArrivalCursor>(Uploads(source, slots).open(epoch, options), slots);
}

std::unique_ptr<Cursor> open_uploaded_ahead(const Dataset& stage, const DevicePlace& place, std::int64_t capacity,
                                            std::uint64_t epoch, const CursorOptions& options) {
  const auto slots = std::make_shared<DeviceSlots>(place.device());
  const Uploads uploads(stage.sources().front(), slots);
  return std::make_unique<AheadCursor>(open_prefetch(stage, uploads, epoch, capacity, options), slots);
}

}  // namespace gpubench
