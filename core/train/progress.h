// Tells how fit gets on: on a terminal one line that is rewritten, elsewhere a line per epoch or nothing.
#pragma once
#include <cstdint>
#include <cstdio>

#include "core/base/clock.h"
#include "core/train/callback.h"

namespace gpubench {

enum class Verbosity : std::uint8_t { silent, line, epochs };

/// One line: "loss: 0.1234 - accuracy: 0.9876".
void print_figures(const Logs& logs, std::FILE* stream);

class Progress final : public Callback {
 public:
  /// `line` needs a terminal; on any other stream it says nothing.
  Progress(Verbosity verbosity, std::FILE* stream);

  void on_train_begin(Training& training) override;
  void on_epoch_begin(Training& training, std::int64_t epoch) override;
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;
  void on_step(std::int64_t step) override;
  bool wants_steps() const override { return verbosity_ == Verbosity::line; }

 private:
  Verbosity verbosity_;
  std::FILE* stream_;
  Training* training_ = nullptr;
  std::int64_t epoch_ = 0;
  Stopwatch epoch_time_, since_drawn_;
};

}  // namespace gpubench
