#include "core/data/dataset.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/epoch_record.h"

namespace gpubench {
namespace {

constexpr std::int64_t most_depth = 1000;
constexpr std::int64_t most_stages = 1'000'000;

/// The stage that moves elements to a device.
const Dataset& mover(const Dataset& dataset) {
  const Dataset& source = *dataset.sources().front();
  return source.device() == nullptr ? dataset : mover(source);
}

std::string describe_stage(const Dataset& dataset) {
  const std::string settings = dataset.settings();
  return settings.empty() ? std::string(dataset.stage()) : fmt::format("{}({})", dataset.stage(), settings);
}

}  // namespace

Dataset::Dataset(std::span<const DatasetPtr> sources) : record_(std::make_shared<EpochRecord>()) {
  for (const DatasetPtr& source : sources) {
    depth_ = std::max(depth_, source->depth_ + 1);
    stages_ += source->stages_;
    if (depth_ > most_depth)
      throw Error(fmt::format("{}: a dataset of {} stages in a row; at most {} are possible", source->stage(), depth_,
                              most_depth));
    if (stages_ > most_stages)
      throw Error(fmt::format("{}: a dataset of {} stages and sources; at most {} are possible", source->stage(),
                              stages_, most_stages));
  }
}

std::int64_t Dataset::examples_per_element() const {
  std::int64_t most = 1;
  for (const DatasetPtr& source : sources()) most = std::max(most, source->examples_per_element());
  return most;
}

bool Dataset::is_sharded() const {
  return std::ranges::any_of(sources(), [](const DatasetPtr& source) { return source->is_sharded(); });
}

bool Dataset::is_distributed() const {
  return distributed_.load(std::memory_order_relaxed) ||
         std::ranges::any_of(sources(), [](const DatasetPtr& source) { return source->is_distributed(); });
}

bool Dataset::in_order(std::optional<bool> deterministic) const {
  return std::ranges::all_of(sources(), [=](const DatasetPtr& source) { return source->in_order(deterministic); });
}

void Dataset::go_on_behind(std::uint64_t epoch) const {
  std::uint64_t next = next_epoch_.load(std::memory_order_relaxed);
  while (next <= epoch && !next_epoch_.compare_exchange_weak(next, epoch + 1, std::memory_order_relaxed)) continue;
}

void require_order(const Dataset& dataset, std::string_view operation) {
  if (dataset.in_order()) return;
  throw Error(
      fmt::format("{}: elements come as threads have them ready, so that a position does not tell which were taken; "
                  "deterministic = true keeps their order: {}",
                  operation, describe(dataset)));
}

void require_host_elements(const Dataset& source, std::string_view stage) {
  if (source.device() == nullptr) return;
  throw Error(fmt::format("{}: its source's elements are on {}; put the {} behind the {}", stage,
                          to_string(*source.device()), mover(source).stage(), stage));
}

void require_taker(const CursorOptions& options, std::string_view stage, const DeviceId& device) {
  if (options.on_devices) return;
  throw Error(fmt::format("{}: its elements are on {}, and what reads the dataset works in host memory", stage,
                          to_string(device)));
}

std::string describe(const Dataset& dataset) {
  const std::span<const DatasetPtr> sources = dataset.sources();
  if (sources.empty()) return describe_stage(dataset);
  if (sources.size() == 1) return describe(*sources[0]) + " > " + describe_stage(dataset);
  std::string text;
  for (const DatasetPtr& source : sources) {
    text += text.empty() ? "" : ", ";
    text += describe(*source);
  }
  return "(" + text + ") > " + describe_stage(dataset);
}

}  // namespace gpubench
