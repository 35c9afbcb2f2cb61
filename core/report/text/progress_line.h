// The line below the rows on a terminal that says where a sweep stands. A thread draws it anew a few times a second,
// and only while a processor is idle, so that it takes no time from what is measured.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/measure/activity.h"

namespace gpubench {

struct SweepProgress {
  /// Seconds that are left of everything, of which the call that runs now takes call_s.
  double left_s = 0, call_s = 0;
  /// "3/24, round 2/9"; empty: nothing is measured, and the line has no activity.
  std::string count = {};
  /// What is measured: "batch_size=64 device=cpu:0".
  std::string text = {};
};

/// "12 s left  3/24, round 2/9  54.2 µs ± 1.4 %  batch_size=64", at most `width` columns wide. A narrow line loses the
/// middle of its last part first, then whole parts from the end.
std::string progress_text(const SweepProgress& progress, const Activity::Reading& activity, double elapsed_s,
                          std::size_t width);

/// Draws nothing where `descriptor` is no terminal, or one without escape sequences.
class ProgressLine {
 public:
  ProgressLine(const Activity& activity, int descriptor);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Draws the line at once, and from then on until hide().
  void show(SweepProgress progress);
  /// Removes the line; other output may follow.
  void hide();

 private:
  void redraw_until_stopped();
  void draw();
  /// What removes the line that is drawn, whose window may have another width by now.
  std::string erasure(std::size_t width) const;
  void write(const std::string& text) const;

  const Activity& activity_;
  const int descriptor_;
  const bool reflows_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stops_ = false, is_shown_ = false;
  SweepProgress progress_;
  Clock::time_point since_{};
  /// Columns of the line on the terminal; 0: there is none.
  std::size_t drawn_ = 0;
  std::thread thread_;  // from the first show() on
};

}  // namespace gpubench
