#include "core/data/stage/bucket.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/element/padding.h"
#include "core/data/produced.h"
#include "core/data/stage/batch.h"

namespace gpubench {
namespace {

constexpr std::string_view bucket_stage = "bucket_by_sequence_length";

class BucketCursor final : public StageCursor {
 public:
  BucketCursor(std::unique_ptr<Cursor> source, TensorTypes types, TensorTypes rows, std::span<const Padding> padding,
               const BucketOptions& options, const CursorOptions& cursor)
      : StageCursor(bucket_stage, std::move(source), types),
        options_(options),
        stack_(bucket_stage, rows, padding),
        pool_(cursor.memory),
        buckets_(options.batch_sizes.size()) {}

  bool next(Element& element) override {
    release(element);
    const std::size_t full = find_full();
    if (full == buckets_.size()) return false;
    const Stopwatch watch;
    std::vector<Element> rows;
    rows.swap(buckets_[full]);
    stack_.stack(rows, pool_, element, options_.pad_to_boundary ? options_.boundaries[full] - 1 : 0);
    produced_.add(element);
    busy_.add(watch.elapsed().count());
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    std::int64_t skipped = 0;
    for (; skipped < count; ++skipped) {
      const std::size_t full = find_full();
      if (full == buckets_.size()) break;
      buckets_[full].clear();
    }
    return skipped;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = StageCursor::statistics();
    stages.back().held = held_.get();
    return stages;
  }

 private:
  /// Reads elements until a bucket becomes a batch; the number of buckets if none does.
  std::size_t find_full() {
    while (!ended_) {
      check_interrupt();
      Element element;
      if (!source_->next(element)) {
        ended_ = true;
        break;
      }
      const std::size_t bucket = bucket_of(element[0].shape()[0]);
      buckets_[bucket].push_back(std::move(element));
      held_.add(1);
      if (std::ssize(buckets_[bucket]) == options_.batch_sizes[bucket]) return taken(bucket);
    }
    if (options_.drop_remainder) return buckets_.size();
    const auto left = std::ranges::find_if(buckets_, [](const std::vector<Element>& rows) { return !rows.empty(); });
    return left == buckets_.end() ? buckets_.size() : taken(static_cast<std::size_t>(left - buckets_.begin()));
  }

  std::size_t taken(std::size_t bucket) {
    held_.add(-std::ssize(buckets_[bucket]));
    return bucket;
  }

  std::size_t bucket_of(std::int64_t length) const {
    const auto above = std::ranges::upper_bound(options_.boundaries, length);
    if (options_.pad_to_boundary && above == options_.boundaries.end()) {
      throw Error(
          fmt::format("{}: an element has a length of {}; with pad_to_bucket_boundary, lengths are below the last "
                      "boundary, {}",
                      bucket_stage, length, options_.boundaries.back()));
    }
    return static_cast<std::size_t>(above - options_.boundaries.begin());
  }

  const BucketOptions options_;
  PaddedStack stack_;
  BlockPool pool_;
  std::vector<std::vector<Element>> buckets_;
  bool ended_ = false;
  Tally<std::int64_t> held_;
};

class BucketDataset final : public Transformation {
 public:
  BucketDataset(DatasetPtr source, std::vector<Padding> padding, BucketOptions options)
      : Transformation(std::move(source)),
        options_(std::move(options)),
        padding_(std::move(padding)),
        types_(stacked(this->source().element_types(), varying)) {}

  std::string_view stage() const override { return bucket_stage; }
  std::string settings() const override {
    return fmt::format("boundaries={} sizes={}{}{}", fmt::join(options_.boundaries, ","),
                       fmt::join(options_.batch_sizes, ","), options_.pad_to_boundary ? " pad_to_bucket_boundary" : "",
                       options_.drop_remainder ? " drop_remainder" : "");
  }
  DatasetPtr with_source(DatasetPtr source) const override {
    return bucket_by_sequence_length(std::move(source), options_);
  }
  bool counts_elements() const override { return true; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override {
    return source().size() == endless ? source().size() : std::nullopt;
  }
  std::int64_t examples_per_element() const override {
    const std::int64_t each = source().examples_per_element(), most = std::ranges::max(options_.batch_sizes);
    return most > endless / each ? endless : most * each;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<BucketCursor>(source().open(epoch, options.for_sources()), types_, source().element_types(),
                                          padding_, options_, options);
  }

 private:
  BucketOptions options_;
  std::vector<Padding> padding_;
  std::vector<TensorType> types_;
};

void check(const BucketOptions& options) {
  const std::vector<std::int64_t>& boundaries = options.boundaries;
  if (boundaries.empty()) throw Error(fmt::format("{}: no bucket_boundaries; at least one is needed", bucket_stage));
  if (boundaries.front() < 1 || std::ranges::adjacent_find(boundaries, std::greater_equal<>()) != boundaries.end()) {
    throw Error(fmt::format("{}: bucket_boundaries of {}; they start at 1 or more and ascend", bucket_stage,
                            fmt::join(boundaries, ", ")));
  }
  if (options.batch_sizes.size() != boundaries.size() + 1) {
    throw Error(
        fmt::format("{}: {} bucket_batch_sizes for {} bucket_boundaries; {} are needed, one more for the longest",
                    bucket_stage, options.batch_sizes.size(), boundaries.size(), boundaries.size() + 1));
  }
  for (const std::int64_t size : options.batch_sizes) require_batch_size(bucket_stage, size);
}

}  // namespace

DatasetPtr bucket_by_sequence_length(DatasetPtr source, BucketOptions options) {
  require_host_elements(*source, bucket_stage);
  check(options);
  const std::vector<TensorType>& types = source->element_types();
  if (types.front().rank() == 0) {
    throw Error(fmt::format("{}: {} is a scalar and has no length; the first tensor of an element is the sequence",
                            bucket_stage, to_text(types.front())));
  }
  std::vector<Padding> padding = paddings(bucket_stage, options.values, types);
  return std::make_shared<BucketDataset>(std::move(source), std::move(padding), std::move(options));
}

}  // namespace gpubench
