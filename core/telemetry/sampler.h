// Reads probes beside the work that is measured: at its beginning, every so often from a thread of its own, and at its
// end. The thread lives from begin() to end(), so nothing is locked and readings need no copy.
#pragma once
#include <exception>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/waiting.h"
#include "core/telemetry/readings.h"

namespace gpubench {

/// A source of readings that are taken beside the samples of a measurement. A reading that cannot be taken is NaN,
/// which results write as an empty cell: never 0, never -1.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual std::string_view name() const = 0;
  /// Names with their unit at the end, as in results: "resident_memory_bytes".
  virtual std::span<const std::string_view> columns() const = 0;
  /// Fills one value per column. Rates and shares cover the time since the previous reading (the first: since
  /// construction).
  virtual void read(std::span<double> values) = 0;
};

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
