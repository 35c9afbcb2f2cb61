// Reads probes beside the work that is measured: at its beginning, every so often from a thread of its own, and at its
// end. The thread lives from begin() to end(), so nothing is locked and readings need no copy.
#pragma once
#include <exception>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/base/ticker.h"
#include "core/telemetry/probe.h"
#include "core/telemetry/readings.h"

namespace gpubench {

struct SamplerOptions {
  /// Longer than what NVML's hardware counters need between two samples.
  Clock::duration interval = std::chrono::milliseconds(125);
  /// Rows that are kept; at least 2. When they are used up, nothing more is read until the end.
  std::size_t capacity = 4096;
};

class Sampler {
 public:
  explicit Sampler(std::vector<std::unique_ptr<Probe>> probes, SamplerOptions options = {},
                   std::shared_ptr<Ticker> ticker = std::make_shared<Ticker>());
  /// May be called between begin() and end(): the readings are lost.
  ~Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Forgets earlier readings and takes the first.
  void begin();
  /// Takes the last reading; what a probe threw on the way is thrown here.
  void end();

  /// One for each probe. Only after end().
  std::span<const Readings> readings() const { return readings_; }
  /// Share of the time between begin() and end() that reading took; NaN where there is nothing to read.
  double cost_share() const;

 private:
  void read();
  void run(const std::stop_token& stop) noexcept;

  std::vector<std::unique_ptr<Probe>> probes_;
  SamplerOptions options_;
  std::shared_ptr<Ticker> ticker_;
  std::vector<Readings> readings_;
  Clock::duration reading_time_{};
  std::exception_ptr failure_;
  std::jthread thread_;  // the last member: it ends before what it uses
};

}  // namespace gpubench
