#include "core/data/stage/padded_batch.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/element/padding.h"
#include "core/data/stage/batch.h"

namespace gpubench {
namespace {

constexpr std::string_view padded_batch_stage = "padded_batch";

class PaddedBatchCursor final : public BatchCursor {
 public:
  PaddedBatchCursor(std::unique_ptr<Cursor> source, TensorTypes types, TensorTypes rows, std::int64_t size,
                    bool drop_remainder, std::span<const Padding> padding, const CursorOptions& options)
      : BatchCursor(padded_batch_stage, std::move(source), types, size, drop_remainder, options),
        stack_(padded_batch_stage, rows, padding) {}

  bool next(Element& element) override {
    const std::int64_t count = gather();
    const bool is_batch = complete(count);
    if (is_batch) {
      const Stopwatch watch;
      stack_.stack(std::span(elements_).first(static_cast<std::size_t>(count)), pool_, element);
      produced_.add(element);
      busy_.add(watch.elapsed().count());
    }
    for (Element& row : elements_) release(row);
    return is_batch;
  }

 private:
  std::int64_t gather() {
    std::int64_t count = 0;
    for (; count < size_; ++count) {
      if (static_cast<std::size_t>(count) == elements_.size()) elements_.emplace_back();
      if (!source_->next(elements_[static_cast<std::size_t>(count)])) break;
    }
    return count;
  }

  PaddedStack stack_;
  std::vector<Element> elements_;
};

class PaddedBatchDataset final : public Batching {
 public:
  PaddedBatchDataset(DatasetPtr source, std::vector<TensorType> rows, std::vector<Padding> padding,
                     const PaddedBatchOptions& options)
      : Batching(std::move(source), options.size, options.drop_remainder),
        row_types_(std::move(rows)),
        padding_(std::move(padding)),
        types_(stacked(row_types_, this->rows())) {}

  std::string_view stage() const override { return padded_batch_stage; }
  DatasetPtr resized(DatasetPtr source, std::int64_t size) const override {
    const PaddedBatchOptions options{.size = size, .drop_remainder = drop_remainder()};
    return std::make_shared<PaddedBatchDataset>(std::move(source), row_types_, padding_, options);
  }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<PaddedBatchCursor>(source().open(epoch, options.for_sources()), types_, row_types_,
                                               batch_size(), drop_remainder(), padding_, options);
  }

 private:
  std::vector<TensorType> row_types_;
  std::vector<Padding> padding_;
  std::vector<TensorType> types_;
};

/// The source's types with the requested extents.
std::vector<TensorType> padded_types(TensorTypes types, std::span<const Shape> shapes) {
  std::vector<TensorType> padded(types.begin(), types.end());
  if (shapes.empty()) return padded;
  if (shapes.size() != types.size()) {
    throw Error(fmt::format("padded_batch: {} padded shapes for the {} tensors of {}", shapes.size(), types.size(),
                            to_string(types)));
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    padded[i].shape = shapes[i];
    const bool fits = std::equal(shapes[i].begin(), shapes[i].end(), types[i].shape.begin(), types[i].shape.end(),
                                 [](std::int64_t to, std::int64_t from) { return to == varying || to >= from; });
    if (fits) continue;
    throw Error(fmt::format("padded_batch: {} cannot be padded to {}", to_text(types[i]), to_text(padded[i])));
  }
  return padded;
}

}  // namespace

DatasetPtr padded_batch(DatasetPtr source, PaddedBatchOptions options) {
  require_host_elements(*source, "padded_batch");
  require_batch_size("padded_batch", options.size);
  const std::vector<TensorType>& types = source->element_types();
  const std::optional<std::int64_t> elements = source->size();
  if (options.drop_remainder && elements && *elements < options.size) {
    throw Error(fmt::format("padded_batch: a size of {} with drop_remainder leaves nothing of a dataset of {} elements",
                            options.size, *elements));
  }
  std::vector<TensorType> rows = padded_types(types, options.shapes);
  std::vector<Padding> padding = paddings(padded_batch_stage, options.values, types);
  return std::make_shared<PaddedBatchDataset>(std::move(source), std::move(rows), std::move(padding), options);
}

}  // namespace gpubench
