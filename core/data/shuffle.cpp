#include "core/data/shuffle.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/element_place.h"
#include "core/data/produced.h"
#include "core/data/rows.h"
#include "core/data/shuffle_window.h"

namespace gpubench {
namespace {

constexpr std::string_view shuffle_stage = "shuffle";
constexpr std::size_t row_block = 256;

std::vector<StageStatistics> with_shuffle(std::vector<StageStatistics> sources, const Produced& produced,
                                          std::int64_t buffered, std::int64_t capacity) {
  sources.push_back(produced.row(shuffle_stage));
  sources.back().buffered = buffered;
  sources.back().capacity = capacity;
  return sources;
}

/// Over rows of tensors: the window holds row numbers.
class RowShuffleCursor final : public Cursor {
 public:
  RowShuffleCursor(std::unique_ptr<Cursor> source, std::size_t buffer, CounterRandom random)
      : source_(std::move(source)),
        rows_(source_->tables()),
        buffer_(buffer),
        window_(buffer, row_block, random),
        produced_(rows_.row_types()) {}

  bool next(Element& element) override {
    std::int64_t row = 0;
    if (next_rows({&row, 1}) == 0) return false;
    rows_.view(row, element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    std::array<std::int64_t, row_block> skipped;
    std::int64_t left = count;
    while (left > 0) {
      const auto wanted = std::min<std::int64_t>(std::ssize(skipped), left);
      const auto found =
          static_cast<std::int64_t>(next_rows(std::span(skipped).first(static_cast<std::size_t>(wanted))));
      left -= found;
      if (found < wanted) break;
    }
    return count - left;
  }

  std::span<const HostTensor> tables() const override { return rows_.tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const auto pull = [this](std::span<std::int64_t> incoming) { return source_->next_rows(incoming); };
    std::size_t count = 0;
    while (count < rows.size() && window_.next(rows[count], pull)) ++count;
    produced_.add_rows(count);
    buffered_.set(static_cast<std::int64_t>(window_.size()));
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    // Row numbers cost nothing, unless a filter chose them.
    const bool chosen =
        std::ranges::any_of(stages, [](const StageStatistics& stage) { return stage.busy.count() > 0; });
    stages = with_shuffle(std::move(stages), produced_, buffered_.get(), static_cast<std::int64_t>(buffer_));
    stages.back().held = chosen ? buffered_.get() : 0;
    return stages;
  }

 private:
  std::unique_ptr<Cursor> source_;
  const Rows rows_;
  std::size_t buffer_;
  ShuffleWindow<std::int64_t> window_;
  Produced produced_;
  Tally<std::int64_t> buffered_;
};

/// Over anything else: the window holds the elements, which keep their memory.
class ElementShuffleCursor final : public Cursor {
 public:
  ElementShuffleCursor(std::unique_ptr<Cursor> source, std::span<const TensorType> types, std::size_t buffer,
                       CounterRandom random)
      : source_(std::move(source)), buffer_(buffer), window_(buffer, 1, random), produced_(types) {}

  bool next(Element& element) override {
    release(element);
    const auto pull = [this](std::span<Element> incoming) {
      return std::size_t{source_->next(incoming.front()) ? 1U : 0U};
    };
    if (!window_.next(element, pull)) return false;
    produced_.add(element);
    buffered_.set(static_cast<std::int64_t>(window_.size()));
    return true;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages =
        with_shuffle(source_->statistics(), produced_, buffered_.get(), static_cast<std::int64_t>(buffer_));
    stages.back().held = buffered_.get();
    return stages;
  }

 private:
  std::unique_ptr<Cursor> source_;
  std::size_t buffer_;
  ShuffleWindow<Element> window_;
  Produced produced_;
  Tally<std::int64_t> buffered_;
};

class ShuffleDataset final : public Transformation {
 public:
  ShuffleDataset(DatasetPtr source, const ShuffleOptions& options)
      : Transformation(std::move(source)), options_(options) {}

  std::string_view stage() const override { return shuffle_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return shuffle(std::move(source), options_); }
  Effect effect() const override { return Effect::by_position; }
  std::string settings() const override {
    return fmt::format("buffer={} seed={}{}", options_.buffer, options_.seed,
                       options_.reshuffle_each_iteration ? "" : " same order every epoch");
  }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    // Its buffer is of ordinary memory.
    std::unique_ptr<Cursor> cursor = source().open(epoch, options.for_sources());
    const CounterRandom random(options_.seed, options_.reshuffle_each_iteration ? epoch : 0);
    const auto buffer = static_cast<std::size_t>(options_.buffer);
    if (!cursor->tables().empty()) return std::make_unique<RowShuffleCursor>(std::move(cursor), buffer, random);
    return std::make_unique<ElementShuffleCursor>(std::move(cursor), element_types(), buffer, random);
  }

 private:
  ShuffleOptions options_;
};

}  // namespace

DatasetPtr shuffle(DatasetPtr source, const ShuffleOptions& options) {
  require_host_elements(*source, "shuffle");
  if (options.buffer < 1) {
    throw Error(fmt::format("shuffle: a buffer of {} elements; at least 1 is needed", options.buffer));
  }
  return std::make_shared<ShuffleDataset>(std::move(source), options);
}

}  // namespace gpubench
