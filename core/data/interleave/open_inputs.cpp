#include "core/data/interleave/open_inputs.h"

#include "core/data/stage_totals.h"

namespace gpubench {
namespace {

void add(std::vector<StageStatistics>& totals, const std::vector<StageStatistics>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == totals.size()) {
      totals.push_back(rows[i]);
      continue;
    }
    if (totals[i].stage != rows[i].stage) return;
    add_counts(totals[i], rows[i]);
    totals[i].workers += rows[i].workers;
    totals[i].buffered += rows[i].buffered;
    totals[i].capacity += rows[i].capacity;
    totals[i].held += rows[i].held;
  }
}

}  // namespace

std::unique_ptr<Cursor> OpenInputs::open(std::size_t input) {
  std::unique_ptr<Cursor> cursor = (*inputs_)[input]->open(epoch_, options_);
  const std::lock_guard lock(mutex_);
  cursors_.emplace(input, cursor.get());
  return cursor;
}

void OpenInputs::close(std::size_t input, std::unique_ptr<Cursor> cursor) {
  const std::lock_guard lock(mutex_);  // released before the cursor is destroyed, which may join threads
  add(closed_, cursor->statistics());
  cursors_.erase(input);
}

std::vector<StageStatistics> OpenInputs::statistics() const {
  const std::lock_guard lock(mutex_);
  std::vector<StageStatistics> totals = closed_;
  // Closed inputs have no threads and no buffers.
  for (StageStatistics& row : totals) row.workers = 0, row.buffered = 0, row.capacity = 0, row.held = 0;
  for (const auto& [input, cursor] : cursors_) add(totals, cursor->statistics());
  return totals;
}

}  // namespace gpubench
