#include "core/data/stage/throttle.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view throttle_stage = "throttle";
/// If a wake-up is late, the following elements wait less, by at most this time.
constexpr std::chrono::milliseconds most_credit{10};
/// Longest time that the clock's integers can represent.
constexpr std::chrono::hours longest{24 * 365};

class ThrottleCursor final : public StageCursor {
 public:
  ThrottleCursor(std::unique_ptr<Cursor> source, TensorTypes types, const ThrottleOptions& settings,
                 std::shared_ptr<Ticker> ticker, std::stop_token stop)
      : StageCursor(throttle_stage, std::move(source), types),
        settings_(settings),
        ticker_(std::move(ticker)),
        stop_(std::move(stop)) {}

  bool next(Element& element) override {
    const Clock::time_point asked = ticker_->now();
    if (!source_->next(element)) return false;
    std::size_t bytes = 0;
    for (const HostTensor& tensor : element) bytes += tensor.bytes();
    wait(asked, static_cast<double>(bytes));
    produced_.add(element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override { return source_->skip(count); }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = StageCursor::statistics();
    stages.back().busy = stages.back().waiting = Seconds(waited_.get());
    return stages;
  }

 private:
  void wait(Clock::time_point asked, double bytes) {
    const Seconds transfer(settings_.bytes_per_s ? bytes / *settings_.bytes_per_s : 0.0);
    const Seconds cost = std::min<Seconds>(settings_.latency + transfer, longest);
    const Clock::time_point due = asked - credit_ + std::chrono::duration_cast<Clock::duration>(cost);
    const Clock::time_point began = ticker_->now();
    Clock::time_point now = began;
    bool goes_on = true;
    while (goes_on && now < due) {
      check_interrupt();
      goes_on = ticker_->wait_until(std::min<Clock::time_point>(due, now + interrupt_period), stop_);
      now = ticker_->now();
    }
    // Time taken by the source itself does not count as a late wake-up.
    const Clock::duration most = began < due ? Clock::duration(most_credit) : credit_;
    credit_ = std::clamp<Clock::duration>(now - due, Clock::duration::zero(), most);
    waited_.add(Seconds(now - began).count());
  }

  const ThrottleOptions settings_;
  const std::shared_ptr<Ticker> ticker_;
  const std::stop_token stop_;
  Clock::duration credit_{};
  Tally<double> waited_;
};

class ThrottleDataset final : public Transformation {
 public:
  ThrottleDataset(DatasetPtr source, const ThrottleOptions& settings, std::shared_ptr<Ticker> ticker)
      : Transformation(std::move(source)), settings_(settings), ticker_(std::move(ticker)) {}
  std::string_view stage() const override { return throttle_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return throttle(std::move(source), settings_, ticker_); }
  Effect effect() const override { return Effect::one_to_one; }
  std::string settings() const override {
    return fmt::format("latency={}s bandwidth={}", settings_.latency.count(),
                       settings_.bytes_per_s ? fmt::format("{}B/s", *settings_.bytes_per_s) : "unlimited");
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<ThrottleCursor>(source().open(epoch, options), element_types(), settings_, ticker_,
                                            options.stop);
  }

 private:
  ThrottleOptions settings_;
  std::shared_ptr<Ticker> ticker_;
};

}  // namespace

DatasetPtr throttle(DatasetPtr source, const ThrottleOptions& options, std::shared_ptr<Ticker> ticker) {
  if (!(options.latency.count() >= 0) || !std::isfinite(options.latency.count())) {
    throw Error(fmt::format("throttle: a latency of {} s; 0 s and more are possible", options.latency.count()));
  }
  if (options.bytes_per_s && !(*options.bytes_per_s > 0)) {
    throw Error(fmt::format(
        "throttle: a bandwidth of {} bytes/s; it must be above 0, or be left out for as fast as elements come",
        *options.bytes_per_s));
  }
  return std::make_shared<ThrottleDataset>(std::move(source), options, std::move(ticker));
}

}  // namespace gpubench
