#include "core/data/tune/pipeline.h"

#include <algorithm>

#include "core/data/tune/pipeline_options.h"
#include "core/data/tune/tuner.h"

namespace gpubench {
namespace {

TuningLimits limits_of(const PipelineOptions& options) {
  constexpr std::int64_t free_part = 2;
  constexpr std::int64_t most_threads = 1 << 20;
  return {.cores = options.cpu_budget.value_or(schedulable_cores()),
          .ram_bytes = options.ram_budget ? *options.ram_budget : free_memory() / free_part,
          .threads = static_cast<int>(std::min(options.threads.value_or(0), most_threads))};
}

class PipelineCursor final : public Cursor {
 public:
  PipelineCursor(const Dataset& dataset, std::uint64_t epoch, const CursorOptions& options)
      : record_(dataset.record()), cursor_(dataset.open(epoch, options)) {
    record_->running(*this);
  }
  ~PipelineCursor() override { record_->ended(*this); }

  bool next(Element& element) override { return cursor_->next(element); }
  bool next_into(std::span<const TensorView> slots) override { return cursor_->next_into(slots); }
  std::int64_t skip(std::int64_t count) override { return cursor_->skip(count); }
  std::span<const HostTensor> tables() const override { return cursor_->tables(); }
  std::size_t next_rows(std::span<std::int64_t> rows) override { return cursor_->next_rows(rows); }
  std::vector<StageStatistics> statistics() const override { return cursor_->statistics(); }

 private:
  const std::shared_ptr<PipelineRecord> record_;
  const std::unique_ptr<Cursor> cursor_;
};

}  // namespace

std::unique_ptr<Cursor> open_pipeline(const Dataset& dataset, std::uint64_t epoch, CursorOptions options) {
  options.tuner = std::make_shared<Tuner>(dataset, limits_of(options_of(dataset)));
  return std::make_unique<PipelineCursor>(dataset, epoch, options);
}

}  // namespace gpubench
