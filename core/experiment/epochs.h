// The epochs of a dataset, one after the other, as one stream of elements with the statistics of all of them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/data/cursor.h"
#include "core/data/stage_totals.h"

namespace gpubench {

class Epochs {
 public:
  using Open = std::function<std::unique_ptr<Cursor>(std::uint64_t epoch)>;

  /// `what` is measured; errors say so.
  Epochs(Open open, std::string what);

  /// Calls `take(cursor)`, which returns false at an epoch's end: then again with the next epoch. Throws Error when
  /// that is empty.
  template <class Take>
  void advance(Take&& take) {
    if (cursor_ != nullptr && take(*cursor_)) return;
    open_next();
    if (!take(*cursor_)) fail_empty();
  }

  /// So far, the one under way included.
  std::int64_t opened() const { return opened_; }
  /// Starts the totals; in the midst of an epoch.
  void begin_totals() { totals_.begin(statistics()); }
  /// What the stages did since, and what they hold now. Without begin_totals(): since the first epoch.
  std::vector<StageStatistics> totals() const { return totals_.totals(statistics()); }
  /// The totals at the end of the last epoch that has ended; empty before that.
  const std::vector<StageStatistics>& totals_at_epoch_end() const { return totals_.ended(); }
  std::int64_t ready_elements() const { return cursor_ ? gpubench::ready_elements(*cursor_) : 0; }

 private:
  void open_next();
  [[noreturn]] void fail_empty() const;
  std::vector<StageStatistics> statistics() const;

  Open open_;
  std::string what_;
  std::unique_ptr<Cursor> cursor_;
  StageTotals totals_;
  std::int64_t opened_ = 0;
};

}  // namespace gpubench
