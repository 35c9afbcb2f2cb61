#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/cache/cache.h"
#include "core/data/cache/stored_elements.h"
#include "core/data/dataset.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view file_cache_stage = "cache";

/// Writes every element that passes. skip() is not overridden, because skipped elements must be written too.
class WritingCursor final : public StageCursor {
 public:
  WritingCursor(std::unique_ptr<Cursor> source, TensorTypes types, const std::filesystem::path& path,
                const std::string& identity)
      : StageCursor(file_cache_stage, std::move(source), types), writer_(std::in_place, path, identity) {}

  bool next(Element& element) override {
    if (!writer_) return false;
    if (!source_->next(element)) {
      writer_->finish();
      writer_.reset();
      return false;
    }
    const Stopwatch watch;
    writer_->write(element);
    produced_.add(element);
    busy_.add(watch.elapsed().count());
    return true;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = StageCursor::statistics();
    stages.back().is_filling = true;
    return stages;
  }

 private:
  std::optional<CacheWriter> writer_;
};

class ReadingCursor final : public Cursor {
 public:
  ReadingCursor(CacheReader reader, TensorTypes types) : reader_(std::move(reader)), produced_(types) {}

  bool next(Element& element) override {
    if (position_ == reader_.elements()) return false;
    reader_.read(position_++, element);
    produced_.add(element);
    return true;
  }
  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, reader_.elements() - position_);
    position_ += skipped;
    return skipped;
  }
  std::vector<StageStatistics> statistics() const override { return {produced_.row(file_cache_stage)}; }

 private:
  CacheReader reader_;
  std::int64_t position_ = 0;
  Produced produced_;
};

class FileCacheDataset final : public Transformation {
 public:
  FileCacheDataset(DatasetPtr source, std::filesystem::path path)
      : Transformation(std::move(source)), path_(std::move(path)) {}
  std::string_view stage() const override { return file_cache_stage; }
  bool keeps_file() const override { return true; }
  DatasetPtr with_source(DatasetPtr source) const override { return cache(std::move(source), path_); }
  std::string settings() const override { return fmt::format("file={}", path_.string()); }

  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& options) const override {
    const std::string identity = cache_identity(source());
    if (std::filesystem::exists(path_)) {
      return std::make_unique<ReadingCursor>(CacheReader(path_, identity, element_types()), element_types());
    }
    return std::make_unique<WritingCursor>(source().open(0, options), element_types(), path_, identity);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

DatasetPtr cache(DatasetPtr source, std::filesystem::path file) {
  require_host_elements(*source, "cache");
  if (source->size() == endless) throw Error("cache: the dataset never ends; use take");
  return std::make_shared<FileCacheDataset>(std::move(source), std::move(file));
}

}  // namespace gpubench
