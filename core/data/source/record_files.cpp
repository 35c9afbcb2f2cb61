#include "core/data/source/record_files.h"

#include "core/data/element/block_pool.h"
#include "core/data/file_dataset.h"
#include "core/data/produced.h"
#include "core/data/source/list_files.h"

namespace gpubench {
namespace {

struct Source {
  std::vector<std::string> paths;
  RecordFormat format;
};

class RecordsCursor final : public Cursor {
 public:
  RecordsCursor(std::shared_ptr<const Source> source, const CursorOptions& options)
      : source_(std::move(source)), pool_(options.memory), produced_(source_->format.types) {}

  bool next(Element& element) override {
    const Stopwatch watch;
    if (!advance()) return false;
    PooledElement place(pool_, element);
    file_->put(place);
    produced_.add(element);
    busy_.add(watch.elapsed().count());
    return true;
  }

  bool next_into(std::span<const TensorView> slots) override {
    const Stopwatch watch;
    if (!advance()) return false;
    ElementSlots place(slots);
    file_->put(place);
    produced_.add(slots);
    busy_.add(watch.elapsed().count());
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    std::int64_t skipped = 0;
    while (skipped < count && advance()) ++skipped;
    return skipped;
  }

  std::vector<StageStatistics> statistics() const override {
    StageStatistics row = produced_.row(source_->format.stage);
    row.busy = Seconds(busy_.get());
    return {row};
  }

 private:
  bool advance() {
    for (;;) {
      if (file_ && file_->next()) return true;
      file_.reset();
      if (opened_ == source_->paths.size()) return false;
      file_ = source_->format.open(source_->paths[opened_++]);
    }
  }

  std::shared_ptr<const Source> source_;
  BlockPool pool_;
  std::size_t opened_ = 0;
  std::unique_ptr<RecordFile> file_;
  Produced produced_;
  Tally<double> busy_;
};

class RecordsDataset final : public FileDataset {
 public:
  explicit RecordsDataset(Source source) : source_(std::make_shared<const Source>(std::move(source))) {}
  std::string_view stage() const override { return source_->format.stage; }
  std::string settings() const override { return file_settings(source_->paths); }
  const std::vector<TensorType>& element_types() const override { return source_->format.types; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::int64_t files() const override { return std::ssize(source_->paths); }
  DatasetPtr every(std::int64_t count, std::int64_t index) const override {
    return record_files(gpubench::every(source_->paths, count, index), source_->format);
  }
  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& options) const override {
    return std::make_unique<RecordsCursor>(source_, options);
  }

 private:
  std::shared_ptr<const Source> source_;
};

}  // namespace

DatasetPtr record_files(std::vector<std::string> paths, RecordFormat format) {
  return std::make_shared<RecordsDataset>(Source{std::move(paths), std::move(format)});
}

}  // namespace gpubench
