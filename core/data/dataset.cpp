#include "core/data/dataset.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/epoch_record.h"

namespace gpubench {
namespace {

bool varies(const TensorType& type) {
  return std::any_of(type.shape.begin(), type.shape.end(), [](std::int64_t extent) { return extent == varying; });
}

std::string extents(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) {
    text += text.empty() ? "" : ", ";
    text += extent == varying ? "?" : std::to_string(extent);
  }
  return text;
}

std::string describe_stage(const Dataset& dataset) {
  const std::string settings = dataset.settings();
  return settings.empty() ? std::string(dataset.stage()) : fmt::format("{}({})", dataset.stage(), settings);
}

}  // namespace

Dataset::Dataset() : record_(std::make_shared<PipelineRecord>()) {}

std::int64_t Dataset::examples_per_element() const {
  std::int64_t most = 1;
  for (const DatasetPtr& source : sources()) most = std::max(most, source->examples_per_element());
  return most;
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

bool is_fixed(std::span<const TensorType> types) {
  return std::none_of(types.begin(), types.end(), varies);
}

std::string to_text(const TensorType& type) {
  return fmt::format("{}[{}]", to_string(type.dtype), extents(type.shape));
}

std::string to_string(std::span<const TensorType> types) {
  std::string text;
  for (const TensorType& type : types) {
    text += text.empty() ? "" : ", ";
    text += to_text(type);
  }
  return "(" + text + ")";
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
