// One running map: pulls blocks of inputs, computes them and hands them over as parcels, by workers or in the
// consumer's thread. Whoever opens it decides what a parcel is: some elements, or a batch.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/data/function/block_function.h"
#include "core/data/linked_stop.h"
#include "core/data/map/block_sizer.h"
#include "core/data/map/map_dataset.h"
#include "core/data/map/outputs.h"
#include "core/data/map/workers.h"
#include "core/data/tune/stage_progress.h"

namespace gpubench {

struct BatchShape {
  std::int64_t size = 0;
  bool drop_remainder = false;
};

class MapStage final : private ParcelWork, private Tunable {
 public:
  /// A parcel is a batch; without it, as many as are worth it.
  MapStage(const MapDataset& dataset, std::optional<BatchShape> batch, std::uint64_t epoch,
           const CursorOptions& options);
  ~MapStage() override;

  /// The next parcel; false at the end.
  bool next(Parcel& parcel);

  /// `in_flight` of the inputs that follow have been pulled and come as parcels; of those behind them, as many as
  /// needed to make up `count` were passed over, which were `passed`.
  struct Skipped {
    std::int64_t in_flight = 0;
    std::int64_t passed = 0;
  };
  Skipped skip(std::int64_t count);

  /// The source's stages and this one.
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
  Tally<std::int64_t> passed_over_;  // of those taken; the source did not give them
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
