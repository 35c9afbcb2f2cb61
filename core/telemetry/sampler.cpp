#include "core/telemetry/sampler.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace gpubench {

Sampler::Sampler(std::vector<std::unique_ptr<Probe>> probes, SamplerOptions options, std::shared_ptr<Ticker> ticker)
    : probes_(std::move(probes)), options_(options), ticker_(std::move(ticker)) {
  assert(options_.capacity >= 2 && options_.interval > Clock::duration::zero());
  assert(options_.most_of_core > 0 && options_.most_of_core <= 1);
  for (const auto& probe : probes_) readings_.emplace_back(probe->columns(), options_.capacity);
}

void Sampler::begin() {
  thread_ = {};
  for (Readings& readings : readings_) readings.clear();
  reading_time_ = {};
  failure_ = nullptr;
  if (probes_.empty()) return;
  read();
  reading_time_ = {};  // the first reading is taken before the work begins
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Sampler::end() {
  thread_ = {};  // stops and joins
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  const Clock::duration beside_work = reading_time_;
  read();
  reading_time_ = beside_work;
}

void Sampler::read() {
  const Clock::time_point begin = ticker_->now();
  for (std::size_t i = 0; i < probes_.size(); ++i) probes_[i]->read(readings_[i].add(begin));
  reading_time_ += ticker_->now() - begin;
}

void Sampler::run(const std::stop_token& stop) noexcept {
  try {
    Clock::time_point next = ticker_->now() + options_.interval;
    while (readings_.front().size() + 1 < options_.capacity && ticker_->wait_until(next, stop)) {
      const Clock::time_point begin = ticker_->now();
      const Seconds before = ticker_->thread_time();
      read();
      const Seconds pause = (ticker_->thread_time() - before) / options_.most_of_core;
      // Readings that take longer than the interval are not caught up with.
      next = std::max(
          {next + options_.interval, ticker_->now(), begin + std::chrono::duration_cast<Clock::duration>(pause)});
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

double Sampler::cost_share() const {
  if (readings_.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double duration = readings_.front().duration().count();
  return duration > 0 ? Seconds(reading_time_).count() / duration : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace gpubench
