#include "core/data/tune/pipeline.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/data/tune/tuner.h"

namespace gpubench {
namespace {

template <class T>
void prefer(std::optional<T>& setting, const std::optional<T>& other) {
  if (!setting) setting = other;
}

class OptionsDataset final : public Transformation {
 public:
  OptionsDataset(DatasetPtr source, const PipelineOptions& options)
      : Transformation(std::move(source)), options_(options) {}
  std::string_view stage() const override { return "options"; }
  DatasetPtr with_source(DatasetPtr source) const override { return gpubench::options(std::move(source), options_); }
  Effect effect() const override { return Effect::one_to_one; }
  std::string settings() const override {
    std::string text;
    const auto add = [&](std::string_view name, const std::string& value) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    };
    if (options_.threads) add("threads", std::to_string(*options_.threads));
    if (options_.ram_budget) add("ram_budget", format_bytes(static_cast<double>(*options_.ram_budget)));
    if (options_.cpu_budget) add("cpu_budget", fmt::format("{}", *options_.cpu_budget));
    if (options_.deterministic) add("deterministic", fmt::format("{}", *options_.deterministic));
    return text;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    CursorOptions passed = options;
    prefer(passed.deterministic, options_.deterministic);
    return source().open(epoch, passed);
  }
  bool in_order(std::optional<bool> deterministic) const override {
    prefer(deterministic, options_.deterministic);
    return source().in_order(deterministic);
  }
  const PipelineOptions& options() const { return options_; }

 private:
  PipelineOptions options_;
};

void check_positive(std::string_view name, double value) {
  if (!(value > 0.0)) throw Error(fmt::format("options: {} = {}; it must be above 0", name, value));
}

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
  const std::shared_ptr<EpochRecord> record_;
  const std::unique_ptr<Cursor> cursor_;
};

}  // namespace

DatasetPtr options(DatasetPtr source, const PipelineOptions& options) {
  if (options.threads) check_positive("threads", static_cast<double>(*options.threads));
  if (options.ram_budget) check_positive("ram_budget", static_cast<double>(*options.ram_budget));
  if (options.cpu_budget) check_positive("cpu_budget", *options.cpu_budget);
  return std::make_shared<OptionsDataset>(std::move(source), options);
}

PipelineOptions options_of(const Dataset& dataset) {
  PipelineOptions found;
  if (const auto* stage = dynamic_cast<const OptionsDataset*>(&dataset)) found = stage->options();
  for (const DatasetPtr& source : dataset.sources()) {
    const PipelineOptions before = options_of(*source);
    prefer(found.threads, before.threads);
    prefer(found.ram_budget, before.ram_budget);
    prefer(found.cpu_budget, before.cpu_budget);
    prefer(found.deterministic, before.deterministic);
  }
  return found;
}

std::unique_ptr<Cursor> open_pipeline(const Dataset& dataset, std::uint64_t epoch, CursorOptions options) {
  options.tuner = std::make_shared<Tuner>(dataset, limits_of(options_of(dataset)));
  return std::make_unique<PipelineCursor>(dataset, epoch, options);
}

}  // namespace gpubench
