#include "core/data/zip.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/data/element_place.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view zip_stage = "zip";

class ZipCursor final : public Cursor {
 public:
  ZipCursor(std::vector<std::unique_ptr<Cursor>> sources, std::span<const TensorType> types)
      : sources_(std::move(sources)), parts_(sources_.size()), produced_(types) {}

  bool next(Element& element) override {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (!next_part(i)) return false;
    }
    element.clear();
    for (Element& part : parts_) {
      for (HostTensor& tensor : part) element.push_back(std::move(tensor));
    }
    produced_.add(element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    for (const auto& source : sources_) count = std::min(count, source->skip(count));
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages;
    for (const auto& source : sources_) {
      const std::vector<StageStatistics> rows = source->statistics();
      stages.insert(stages.end(), rows.begin(), rows.end());
    }
    stages.push_back(produced_.row(zip_stage));
    return stages;
  }

 private:
  /// What one source cannot give is passed over in all: those behind it stay beside the same elements.
  bool next_part(std::size_t i) {
    try {
      return sources_[i]->next(parts_[i]);
    } catch (const Error&) {
      for (std::size_t other = i + 1; other < sources_.size(); ++other) sources_[other]->skip(1);
      throw;
    }
  }

  std::vector<std::unique_ptr<Cursor>> sources_;
  std::vector<Element> parts_;
  Produced produced_;
};

class ZipDataset final : public Dataset {
 public:
  explicit ZipDataset(std::vector<DatasetPtr> sources) : sources_(std::move(sources)) {
    for (const DatasetPtr& source : sources_) {
      const std::vector<TensorType>& types = source->element_types();
      types_.insert(types_.end(), types.begin(), types.end());
    }
  }

  std::string_view stage() const override { return zip_stage; }
  std::span<const DatasetPtr> sources() const override { return sources_; }
  const std::vector<TensorType>& element_types() const override { return types_; }

  std::optional<std::int64_t> size() const override {
    std::int64_t least = endless;
    for (const DatasetPtr& source : sources_) {
      const std::optional<std::int64_t> elements = source->size();
      if (!elements) return std::nullopt;
      least = std::min(least, *elements);
    }
    return least;
  }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (const DatasetPtr& source : sources_) cursors.push_back(source->open(epoch, options));
    return std::make_unique<ZipCursor>(std::move(cursors), types_);
  }

 private:
  std::vector<DatasetPtr> sources_;
  std::vector<TensorType> types_;
};

}  // namespace

DatasetPtr zip(std::vector<DatasetPtr> sources) {
  for (const DatasetPtr& source : sources) require_host_elements(*source, "zip");
  if (sources.empty()) throw Error("zip: no datasets given; at least one is needed");
  return std::make_shared<ZipDataset>(std::move(sources));
}

}  // namespace gpubench
