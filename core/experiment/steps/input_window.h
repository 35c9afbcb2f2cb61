// The input of a measurement: the epochs of a dataset as one stream of elements, and which samples count. Elements
// buffered when the clock starts would make the input look faster; elements buffered at the end would make it look
// slower. If that share is significant, the window is moved to begin and end with an epoch; if no epoch fits, the
// measurement is in doubt. So it is where a cache was still being filled, and the window begins when it is full; where
// AUTOTUNE changed the workers in between; and where the first epoch's files came from the disk. The window reads no
// clock.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/data/cursor.h"
#include "core/data/stage_totals.h"
#include "core/measure/stopping_rule.h"
#include "core/results/doubt.h"

namespace gpubench {

/// The epochs of a dataset, one after the other, with their combined statistics.
class Epochs {
 public:
  using Open = std::function<std::unique_ptr<Cursor>(std::uint64_t epoch)>;

  /// `what` names the measurement in errors.
  Epochs(Open open, std::string what);

  /// Calls `take(cursor)`. If that returns false (the epoch's end), calls it again with the next epoch. Throws Error if
  /// that epoch is empty.
  template <class Take>
  void advance(Take&& take) {
    if (cursor_ != nullptr && take(*cursor_)) return;
    open_next();
    if (!take(*cursor_)) fail_empty();
  }

  /// Number of opened epochs, including the current one.
  std::int64_t opened() const { return opened_; }
  /// Restarts the totals, within an epoch.
  void begin_totals() { totals_.begin(statistics()); }
  /// Counts since begin_totals(), or since the first epoch without it, and current buffer levels.
  std::vector<StageStatistics> totals() const { return totals_.totals(statistics()); }
  /// The totals at the end of the last complete epoch; empty before that.
  const std::vector<StageStatistics>& totals_at_epoch_end() const { return totals_.ended(); }
  std::int64_t ready_elements() const { return cursor_ ? gpubench::ready_elements(*cursor_) : 0; }
  /// Whether a cache is being filled in this epoch, so that later epochs are of another speed.
  bool fills_cache() const;
  /// Takes the rest of the epoch while a cache is being filled, for `most` seconds.
  void fill_caches(Seconds most);

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

/// Elements that stages took in divided by elements that they passed on: 1 if buffers held as much at the end as at the
/// beginning, 0 if everything came from buffers. What a stage's workers could have taken in while they waited because
/// the buffer was full counts as taken in: a buffer that such a stage lends from is not what makes the input fast.
struct BufferBalance {
  double taken_over_given = 1;
  std::string_view stage{};  ///< the stage whose buffer changed most
};
/// Between two totals of the same stages, so long apart.
BufferBalance buffer_balance(const std::vector<StageStatistics>& from, const std::vector<StageStatistics>& to,
                             Seconds apart);

class InputWindow {
 public:
  /// `epochs` may be null: then nothing is fetched and every sample counts. It must outlive the window.
  InputWindow(const StoppingLimits& limits, Epochs* epochs) : limits_(limits), epochs_(epochs), rule_(limits) {}

  /// Starts measuring.
  void begin();
  /// Adds a sample of `seconds`, of which `waited` was spent waiting for the input. Returns true when measuring should
  /// end: after up to twice the budget if the window was moved.
  bool add(double seconds, Seconds waited);
  /// Ends measuring: judges what a budget cannot mend.
  void end();

  StoppingRule& rule() { return rule_; }
  const StoppingRule& rule() const { return rule_; }
  /// Share of the measured time that was spent waiting for the input.
  double wait_share() const { return waited_ / rule_.measured(); }
  /// Why the samples do not show the input's speed: "31 % of ... came from buffers".
  const Doubt& doubt() const { return doubt_; }

 private:
  bool epoch_began();
  void restart();
  bool ends();
  /// Since the window's begin.
  BufferBalance balance(const std::vector<StageStatistics>& now) const;
  bool is_off(const BufferBalance& balance) const;
  std::string text(const BufferBalance& balance) const;

  StoppingLimits limits_;
  Epochs* epochs_;
  StoppingRule rule_;
  Seconds waited_{};
  std::vector<StageStatistics> from_;   // totals at the start of the window
  std::optional<double> storage_from_;  // bytes read from it before
  std::int64_t epoch_ = 0;
  bool fills_cache_ = false;
  bool start_is_judged_ = false;
  bool wants_epoch_end_ = false;
  struct {
    std::size_t samples = 0;
    Seconds waited{};
  } whole_;  // state at the latest epoch end whose buffer levels equal those at the beginning
  Doubt doubt_;
};

}  // namespace gpubench
