// The Profiler callback of fit: traces some steps of the training, and writes their trace and profile into a folder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/exec/step_tracer.h"
#include "core/train/fit/callbacks.h"

namespace gpubench {

struct ProfilerOptions {
  /// Steps of the training that are traced, counted from 1 over all its epochs.
  std::int64_t first = 10, last = 15;
  /// For trace.json, profile.json and profile.txt; made if it is missing.
  std::string path;
  /// Maps the path to the folder to write into; may throw Error to refuse it.
  std::function<std::string(const std::string& path)> place = [](const std::string& path) { return path; };
  /// Told why nothing was traced, if the training ended before; its history is worth more than an error.
  std::function<void(const std::string& reason)> warn = [](const std::string&) {};
};

class Profiler final : public Callback {
 public:
  /// Throws Error for steps that are not 1 or more, or out of order.
  explicit Profiler(ProfilerOptions options);
  ~Profiler() override;
  void leave() noexcept override;

  /// Throws Error if the folder cannot be written, or the training is known to be shorter.
  void on_train_begin(Training& training) override;
  void on_step(std::int64_t step) override;
  /// If the training ended among the steps to trace, those that were taken are written; if it ended before, profile.txt
  /// says so.
  void on_train_end(Training& training) override;
  bool wants_steps() const override { return true; }

 private:
  struct Trace;
  std::filesystem::path folder() const;
  void start();
  void finish();

  ProfilerOptions options_;
  Training* training_ = nullptr;
  std::int64_t taken_ = 0;        // steps of the training so far
  std::unique_ptr<Trace> trace_;  // while steps are traced
  bool written_ = false;
};

}  // namespace gpubench
