// One epoch of a map: pulls blocks of inputs, computes them and hands over parcels, in workers or in the consumer's
// thread. A parcel is a number of elements, or one batch.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/data/function/block_function.h"
#include "core/data/linked_stop.h"
#include "core/data/map/parcel.h"
#include "core/data/map/workers.h"
#include "core/data/tune/stage_progress.h"

namespace gpubench {

/// The settings of a map that its epochs need.
struct MapWork {
  const Dataset& map;  ///< its source provides the inputs
  const std::shared_ptr<const ElementFunction>& function;
  std::int64_t workers = 0;  ///< as in MapOptions
  std::optional<bool> deterministic{};
};

/// Chooses how many elements a worker takes at a time: enough that locking is cheap in comparison, few enough that all
/// workers get some and the consumer soon gets the first.
class BlockSizer {
 public:
  explicit BlockSizer(std::int64_t most) : most_(most) {}

  /// Starts at one element.
  std::int64_t size() const { return size_.load(std::memory_order_relaxed); }
  /// Reports that a block of `count` elements took `time` to read and compute. Thread-safe.
  void measured(std::int64_t count, Seconds time) {
    const auto fitting = static_cast<std::int64_t>(target / std::max(time, shortest) * static_cast<double>(count));
    // A block whose thread was preempted seems costly, so one measurement at most halves the size.
    const std::int64_t wanted = std::clamp(fitting, count / 2, count * growth);
    size_.store(std::clamp<std::int64_t>(wanted, 1, most_), std::memory_order_relaxed);
  }

 private:
  static constexpr Seconds target{200e-6};  // about twenty times the cost of waking a thread
  static constexpr Seconds shortest{1e-7};
  static constexpr std::int64_t growth = 4;

  std::int64_t most_;
  std::atomic<std::int64_t> size_{1};
};

class MapRun final : private ParcelWork, private Tunable {
 public:
  /// With `batch`, a parcel is one batch; otherwise BlockSizer chooses its size.
  MapRun(const MapWork& work, std::optional<BatchShape> batch, std::uint64_t epoch, const CursorOptions& options);
  ~MapRun() override;

  /// The next parcel; false at the end.
  bool next(Parcel& parcel);

  /// Of `count` skipped inputs, `in_flight` had been pulled already and still arrive as parcels; the source skipped
  /// `passed` others.
  struct Skipped {
    std::int64_t in_flight = 0;
    std::int64_t passed = 0;
  };
  Skipped skip(std::int64_t count);

  /// Statistics of the source's stages and of this one.
  std::vector<StageStatistics> statistics() const;

 private:
  struct Worker {
    BlockFunction function;
    std::unique_ptr<ParcelOutputs> outputs;
  };

  Pull pull(Parcel& parcel) override;
  void compute(Parcel& parcel, int worker) override;
  Worker& worker(int index);
  bool next_in_this_thread(Parcel& parcel);
  int buffer_for(int workers) const;

  StageProgress progress() const override;
  int setting() const override;
  void set(int workers) override;

  const std::shared_ptr<const ElementFunction> function_;
  const std::vector<TensorType> types_;
  const Dataset* const key_;
  const std::shared_ptr<Tuner> tuner_;
  LinkedStop stop_;
  const std::unique_ptr<Cursor> source_;
  InputReader reader_;
  const std::optional<BatchShape> batch_;
  const ElementNumbers numbers_;
  BlockPool pool_;
  BlockSizer sizer_;
  std::int64_t pulled_ = 0;  // inputs
  Tally<std::int64_t> taken_;
  Tally<std::int64_t> passed_over_;  // of the elements taken: skipped by the source
  Tally<std::int64_t> bytes_;
  Tally<double> pulling_;
  std::atomic<std::int64_t> computed_{0};
  std::atomic<double> busy_{0.0};
  std::atomic<std::int64_t> parcel_bytes_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<ParcelWorkers> crew_;
  std::optional<TunedStage> tuned_;
};

}  // namespace gpubench
