// Reads probes during a measurement: at its beginning, periodically from its own thread, and at its end. The thread
// runs only between begin() and end(), so results need no lock and no copy.
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

/// A source of readings taken during a measurement. A reading that fails is NaN, written to results as an empty cell:
/// never 0, never -1.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual std::string_view name() const = 0;
  /// Names that end in their unit, as in results: "resident_memory_bytes".
  virtual std::span<const std::string_view> columns() const = 0;
  /// Writes one value per column. Rates and shares cover the time since the previous reading (the first: since
  /// construction).
  virtual void read(std::span<double> values) = 0;
};

struct SamplerOptions {
  /// Longer than the minimum distance of samples of NVML's hardware counters.
  Clock::duration interval = std::chrono::milliseconds(125);
  /// Maximum number of rows, at least 2. When it is reached, only the last reading is still taken.
  std::size_t capacity = 4096;
  /// The share of a core that reading may use: readings that need more processor time are further apart.
  double most_of_core = 1;
};

class Sampler {
 public:
  explicit Sampler(std::vector<std::unique_ptr<Probe>> probes, SamplerOptions options = {},
                   std::shared_ptr<Ticker> ticker = std::make_shared<Ticker>());
  /// May be destroyed between begin() and end(); the readings are lost.
  ~Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Discards earlier readings and takes the first one.
  void begin();
  /// Takes the last reading; rethrows a probe's exception.
  void end();

  /// One for each probe; only after end().
  std::span<const Readings> readings() const { return readings_; }
  /// Share of the time between begin() and end() spent on reading; NaN if there is nothing to read.
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
  std::jthread thread_;  // the last member: it ends before the members that it uses
};

}  // namespace gpubench
