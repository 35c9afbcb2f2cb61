#include "core/data/map/map.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/function/chained_function.h"
#include "core/data/function/graph_function.h"
#include "core/data/map/on_device.h"
#include "core/data/map/run.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

/// Takes parcels apart: elements are rows of their segments.
class MapCursor final : public Cursor {
 public:
  MapCursor(const MapWork& work, std::uint64_t epoch, const CursorOptions& options)
      : produced_(work.map.element_types()), run_(work, std::nullopt, epoch, options) {}

  bool next(Element& element) override {
    if (!find_next()) return false;
    const Segment& segment = parcel_.segments[segment_];
    const auto row = static_cast<std::size_t>(segment.first_row + row_++);
    element.resize(segment.tensors.size());
    for (std::size_t i = 0; i < element.size(); ++i) {
      const TensorType& type = segment.row_types[i];
      std::byte* const start = segment.tensors[i].data() + row * type.bytes();
      element[i].assign(type, std::shared_ptr<std::byte>(segment.tensors[i].memory(), start));
    }
    produced_.add(element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    std::int64_t skipped = skip_in_parcel(count);
    if (skipped == count) return count;
    const MapRun::Skipped beyond = run_.skip(count - skipped);
    const std::int64_t in_parcels = std::min(beyond.in_flight, count - skipped);
    for (std::int64_t left = in_parcels; left > 0;) {
      if (!next_parcel()) break;
      const std::int64_t dropped = skip_in_parcel(left);
      left -= dropped;
      skipped += dropped;
    }
    return skipped + beyond.passed;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = run_.statistics();
    // Elements of the current parcel that have not been consumed.
    const std::int64_t in_hand = parcel_elements_.get() - (produced_.elements() - produced_before_.get());
    stages.back().held += std::max<std::int64_t>(in_hand, 0);
    stages.back().produced = produced_.elements();
    stages.back().bytes = produced_.bytes();
    return stages;
  }

 private:
  /// Sets segment_ and row_ to the next element; throws an error that replaces it.
  bool find_next() {
    for (;;) {
      for (; segment_ < parcel_.used; advance_segment()) {
        Segment& segment = parcel_.segments[segment_];
        if (segment.error) {
          const std::exception_ptr error = segment.error;
          advance_segment();
          std::rethrow_exception(error);
        }
        if (row_ < segment.count) return true;
      }
      if (!next_parcel()) return false;
    }
  }

  void advance_segment() {
    release(parcel_.segments[segment_].tensors);
    ++segment_;
    row_ = 0;
  }

  /// Errors that replace an element are skipped with it; errors of the source belong to no element.
  void throw_source_error() {
    const Segment& segment = parcel_.segments[segment_];
    if (!segment.error || segment.count > 0) return;
    const std::exception_ptr error = segment.error;
    advance_segment();
    std::rethrow_exception(error);
  }

  bool next_parcel() {
    segment_ = 0;
    row_ = 0;
    const bool more = run_.next(parcel_);
    std::int64_t elements = 0;
    for (std::size_t i = 0; i < parcel_.used; ++i) {
      if (!parcel_.segments[i].error) elements += parcel_.segments[i].count;
    }
    produced_before_.set(produced_.elements());
    parcel_elements_.set(elements);
    return more;
  }

  std::int64_t skip_in_parcel(std::int64_t count) {
    std::int64_t skipped = 0;
    for (; segment_ < parcel_.used; advance_segment()) {
      throw_source_error();
      const std::int64_t step = std::min(count - skipped, parcel_.segments[segment_].count - row_);
      skipped += step;
      row_ += step;
      if (!parcel_.segments[segment_].error) parcel_elements_.add(-step);
      if (skipped == count) break;
    }
    return skipped;
  }

  Parcel parcel_;
  std::size_t segment_ = 0;
  std::int64_t row_ = 0;
  Produced produced_;
  Tally<std::int64_t> parcel_elements_;  // elements of the current parcel, and elements produced before it
  Tally<std::int64_t> produced_before_;
  MapRun run_;
};

/// A batch after a map: each parcel is a batch, which its worker writes directly.
class MappedBatchCursor final : public Cursor {
 public:
  MappedBatchCursor(const MapWork& work, const BatchShape& batch, std::uint64_t epoch, const CursorOptions& options)
      : batch_(batch), run_(work, batch, epoch, options) {}

  bool next(Element& element) override {
    release(element);
    if (!run_.next(parcel_)) return false;
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
    const MapRun::Skipped beyond = run_.skip(inputs);
    std::int64_t skipped = 0;
    for (std::int64_t left = beyond.in_flight; left > 0 && skipped < count; ++skipped) {
      if (!run_.next(parcel_)) break;
      left -= parcel_.inputs.count;
    }
    const std::int64_t rest = beyond.passed % batch_.size;
    return skipped + beyond.passed / batch_.size + (rest > 0 && !batch_.drop_remainder ? 1 : 0);
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = run_.statistics();
    stages.push_back({.stage = "batch", .produced = produced_.get(), .bytes = bytes_.get()});
    stages.back().why = "made by the map's workers";
    return stages;
  }

 private:
  const BatchShape batch_;
  Parcel parcel_;
  MapRun run_;
  Tally<std::int64_t> produced_;
  Tally<std::int64_t> bytes_;
};

class MapDataset final : public Transformation {
 public:
  MapDataset(DatasetPtr source, std::shared_ptr<const ElementFunction> function, const MapOptions& options)
      : Transformation(std::move(source)),
        function_(std::move(function)),
        types_(infer_outputs(*function_, this->source().element_types())),
        options_(options),
        apart_(options.place && options.place->apart()) {}

  std::string_view stage() const override { return "map"; }
  Effect effect() const override { return Effect::one_to_one; }
  DatasetPtr with_source(DatasetPtr source) const override {
    return std::make_shared<MapDataset>(std::move(source), function_, options_);
  }
  std::string settings() const override {
    if (options_.place) return fmt::format("device={}", to_string(options_.place->id));
    if (options_.workers == 0) return "";
    const std::string workers = options_.workers == autotune ? "autotune" : std::to_string(options_.workers);
    const std::string order = options_.deterministic ? fmt::format(" deterministic={}", *options_.deterministic) : "";
    return fmt::format("workers={}{}", workers, order);
  }
  const std::vector<TensorType>& element_types() const override { return types_; }
  const DeviceId* device() const override { return apart_ ? &options_.place->id : nullptr; }
  bool in_order(std::optional<bool> deterministic) const override {
    const bool keeps = options_.workers == 0 || options_.deterministic.value_or(deterministic.value_or(true));
    return keeps && source().in_order(deterministic);
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    if (apart_) return open_device_map(*this, function_, *options_.place, epoch, options);
    return std::make_unique<MapCursor>(work(), epoch, options);
  }
  std::unique_ptr<Cursor> open_batches(const BatchShape& batch, std::uint64_t epoch,
                                       const CursorOptions& options) const override {
    return std::make_unique<MappedBatchCursor>(work(), batch, epoch, options);
  }

  const std::shared_ptr<const ElementFunction>& function() const { return function_; }
  const MapOptions& options() const { return options_; }

 private:
  MapWork work() const { return {*this, function_, options_.workers, options_.deterministic}; }

  std::shared_ptr<const ElementFunction> function_;
  std::vector<TensorType> types_;
  MapOptions options_;
  bool apart_;  // on a device with its own memory
};

/// A map on a device accepts elements in host memory or on that device.
void require_reachable(const Dataset& source, const MapOptions& options) {
  const DeviceId* const there = source.device();
  if (there == nullptr) return;
  if (!options.place) return require_host_elements(source, "map");
  if (*there == options.place->id) return;
  throw Error(fmt::format("map: it runs on {}, and its source's elements are on {}", to_string(options.place->id),
                          to_string(*there)));
}

}  // namespace

DatasetPtr map(DatasetPtr source, std::shared_ptr<const ElementFunction> function, const MapOptions& options) {
  if (options.place && (options.workers != 0 || options.deterministic)) {
    throw Error("map: a map on a device has no parallel calls: it runs in the consumer's thread, in order");
  }
  if (options.workers != autotune && (options.workers < 0 || options.workers > ParcelWorkers::most_workers)) {
    throw Error(fmt::format("map: {} parallel calls; 0 to {} are possible, or AUTOTUNE", options.workers,
                            ParcelWorkers::most_workers));
  }
  if (options.place) function = placed(*function, *options.place);
  require_reachable(*source, options);
  const auto* const before = dynamic_cast<const MapDataset*>(source.get());
  if (before != nullptr && before->options() == options) {
    auto both = chain(before->function(), std::move(function), before->sources().front()->element_types());
    return map(before->sources().front(), std::move(both), options);
  }
  return std::make_shared<MapDataset>(std::move(source), std::move(function), options);
}

}  // namespace gpubench
