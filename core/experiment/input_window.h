// The samples of a measurement that fetches elements from epochs: which of them count. What buffers hold when measuring
// begins comes for nothing, and what they hold when it ends was made for nobody; where that is more than a trace, the
// window is moved to begin and end with an epoch, and where no epoch fits, the measurement is in doubt. It reads no
// clock.
#pragma once
#include <string>
#include <vector>

#include "core/experiment/epochs.h"
#include "core/measure/stopping_rule.h"

namespace gpubench {

/// What the stages took in over what they handed on: 1 where buffers held as much at the end as at the beginning,
/// 0 where all came from buffers.
struct BufferBalance {
  double taken_over_given = 1;
  std::string_view stage{};  ///< whose buffer changed most
};
/// Between two totals of the same stages, of which `held` is as it was then.
BufferBalance buffer_balance(const std::vector<StageStatistics>& from, const std::vector<StageStatistics>& to);

class InputWindow {
 public:
  /// `epochs` may be null: then nothing is fetched, and every sample counts. It outlives the window.
  InputWindow(const StoppingLimits& limits, Epochs* epochs) : limits_(limits), epochs_(epochs), rule_(limits) {}

  /// Measuring begins.
  void begin();
  /// Takes the time of what was done with the next elements, of which the input took `waited`; true when measuring
  /// should end. Up to twice the budget where the window had to be moved.
  bool add(double seconds, Seconds waited);

  StoppingRule& rule() { return rule_; }
  const StoppingRule& rule() const { return rule_; }
  /// Share of the time that counts.
  double wait_share() const { return waited_ / rule_.measured(); }
  /// Why the samples do not tell how fast the input is: "31 % of ... came from buffers"; empty when they do.
  const std::string& doubt() const { return doubt_; }

 private:
  bool epoch_began();
  bool ends();
  bool is_off(const BufferBalance& balance) const;
  std::string text(const BufferBalance& balance) const;

  StoppingLimits limits_;
  Epochs* epochs_;
  StoppingRule rule_;
  Seconds waited_{};
  std::vector<StageStatistics> from_;  // the totals where the window begins
  std::int64_t epoch_ = 0;
  bool start_is_judged_ = false;
  bool wants_epoch_end_ = false;
  struct {
    std::size_t samples = 0;
    Seconds waited{};
  } whole_;  // at the latest end of an epoch that is as good as a beginning
  std::string doubt_;
};

}  // namespace gpubench
