#include "core/data/prefetch_to_device.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/element_place.h"
#include "core/data/prefetch.h"
#include "core/data/uploaded.h"

namespace gpubench {
namespace {

constexpr std::string_view prefetch_to_device_stage = "prefetch_to_device";

class PrefetchToDeviceDataset final : public Transformation {
 public:
  PrefetchToDeviceDataset(DatasetPtr source, const DevicePlace& place, std::int64_t capacity)
      : Transformation(std::move(source)), place_(place), apart_(place.apart()), capacity_(capacity) {}
  std::string_view stage() const override { return prefetch_to_device_stage; }
  DatasetPtr with_source(DatasetPtr source) const override {
    return prefetch_to_device(std::move(source), place_, capacity_);
  }
  Effect effect() const override { return Effect::one_to_one; }
  std::string settings() const override { return fmt::format("device={} buffer={}", to_string(place_.id), capacity_); }
  const DeviceId* device() const override { return apart_ ? &place_.id : nullptr; }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    if (apart_) {
      require_taker(options, prefetch_to_device_stage, place_.id);
      return open_uploaded_ahead(*this, place_, capacity_, epoch, options);
    }
    CursorOptions asked = options;
    asked.memory = &place_.device().memory();
    return open_prefetch(*this, source(), epoch, capacity_, asked);
  }

 private:
  const DevicePlace place_;
  const bool apart_;
  const std::int64_t capacity_;
};

}  // namespace

DatasetPtr prefetch_to_device(DatasetPtr source, const DevicePlace& place, std::int64_t capacity) {
  require_host_elements(*source, prefetch_to_device_stage);
  if (capacity < 1) {
    throw Error(fmt::format("{}: a buffer of {} elements; at least 1 is needed", prefetch_to_device_stage, capacity));
  }
  return std::make_shared<PrefetchToDeviceDataset>(std::move(source), place, capacity);
}

}  // namespace gpubench
