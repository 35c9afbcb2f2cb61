#include "core/data/source/list_files.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

#include "core/codec/checksum.h"
#include "core/codec/file_patterns.h"
#include "core/data/element/block_pool.h"
#include "core/data/element/random_fill.h"
#include "core/data/file_dataset.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view list_files_stage = "list_files";

struct FileList {
  std::vector<std::string> paths;
  std::vector<std::int64_t> labels;  ///< empty, or one per path
};

/// The positions of the list in an epoch's order; empty: the list's own order.
std::vector<std::size_t> order_of(std::size_t count, const FileOrder& order, std::uint64_t epoch) {
  if (!order.shuffle) return {};
  std::vector<std::size_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  const CounterRandom random(order.seed, epoch);
  for (std::size_t i = count; i > 1; --i) std::swap(positions[i - 1], positions[random.below(i, i)]);
  return positions;
}

class ListCursor final : public Cursor {
 public:
  ListCursor(std::shared_ptr<const FileList> list, std::vector<std::size_t> order, const CursorOptions& options)
      : list_(std::move(list)), order_(std::move(order)), pool_(options.memory) {}

  bool next(Element& element) override {
    if (position_ == list_->paths.size()) return false;
    const std::size_t place = order_.empty() ? position_ : order_[position_];
    ++position_;
    const std::string& path = list_->paths[place];
    types_[0].shape[0] = static_cast<std::int64_t>(path.size());
    pool_.allocate(std::span(types_).first(list_->labels.empty() ? 1 : 2), element);
    std::memcpy(element[0].data(), path.data(), path.size());
    if (!list_->labels.empty()) element[1].values<std::int64_t>()[0] = list_->labels[place];
    produced_.add(element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::size_t left = list_->paths.size() - position_;
    const std::size_t skipped = static_cast<std::uint64_t>(count) < left ? static_cast<std::size_t>(count) : left;
    position_ += skipped;
    return static_cast<std::int64_t>(skipped);
  }

  std::vector<StageStatistics> statistics() const override { return {produced_.row(list_files_stage)}; }

 private:
  std::shared_ptr<const FileList> list_;
  std::vector<std::size_t> order_;
  std::vector<TensorType> types_{{{0}, Dtype::u8}, {{}, Dtype::i64}};
  BlockPool pool_;
  std::size_t position_ = 0;
  Produced produced_{types_};
};

class ListDataset final : public FileDataset {
 public:
  ListDataset(FileList list, const FileOrder& order)
      : list_(std::make_shared<const FileList>(std::move(list))), order_(order), types_{{{varying}, Dtype::u8}} {
    if (!list_->labels.empty()) types_.push_back({{}, Dtype::i64});
  }
  std::string_view stage() const override { return list_files_stage; }
  std::string settings() const override {
    const std::string files = file_settings(list_->paths);
    return order_.shuffle ? fmt::format("{} shuffle seed={}", files, order_.seed) : files;
  }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return std::ssize(list_->paths); }
  std::int64_t files() const override { return std::ssize(list_->paths); }
  bool file_is_element() const override { return true; }
  DatasetPtr every(std::int64_t count, std::int64_t index) const override {
    return std::make_shared<ListDataset>(
        FileList{gpubench::every(list_->paths, count, index), gpubench::every(list_->labels, count, index)}, order_);
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<ListCursor>(list_, order_of(list_->paths.size(), order_, epoch), options);
  }

 private:
  std::shared_ptr<const FileList> list_;
  FileOrder order_;
  std::vector<TensorType> types_;
};

}  // namespace

std::string file_settings(std::span<const std::string> paths) {
  std::string names;
  for (const std::string& path : paths) (names += path) += '\0';
  return fmt::format("files={} names={:08x}", paths.size(), crc32_of(std::as_bytes(std::span(names))));
}

DatasetPtr list_files(std::span<const std::string> patterns, const FileOrder& order) {
  std::vector<std::string> paths = expand_patterns(patterns, list_files_stage);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return std::make_shared<ListDataset>(FileList{std::move(paths), {}}, order);
}

DatasetPtr labelled_files(std::vector<std::string> paths, std::vector<std::int64_t> labels, const FileOrder& order) {
  assert(paths.size() == labels.size());
  return std::make_shared<ListDataset>(FileList{std::move(paths), std::move(labels)}, order);
}

}  // namespace gpubench
