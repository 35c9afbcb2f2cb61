#include "core/experiment/epochs.h"

#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {

Epochs::Epochs(Open open, std::string what) : open_(std::move(open)), what_(std::move(what)) {}

void Epochs::open_next() {
  if (cursor_ != nullptr) totals_.end_epoch(cursor_->statistics());
  cursor_ = nullptr;  // its threads end before others begin
  cursor_ = open_(static_cast<std::uint64_t>(opened_));
  ++opened_;
}

void Epochs::fail_empty() const {
  throw Error(fmt::format("{}: the dataset is empty", what_));
}

std::vector<StageStatistics> Epochs::statistics() const {
  return cursor_ != nullptr ? cursor_->statistics() : std::vector<StageStatistics>();
}

}  // namespace gpubench
