#include "core/data/zip.h"

#include <algorithm>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::string_view stage_name = "zip";

class ZipCursor final : public Cursor {
 public:
  explicit ZipCursor(std::vector<std::unique_ptr<Cursor>> sources)
      : sources_(std::move(sources)), parts_(sources_.size()) {}

  bool next(Element& element) override {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (!sources_[i]->next(parts_[i])) return false;
    }
    element.clear();
    for (Element& part : parts_) {
      for (HostTensor& tensor : part) element.push_back(std::move(tensor));
    }
    produced_.add(1);
    return true;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages;
    for (const auto& source : sources_) {
      const std::vector<StageStatistics> rows = source->statistics();
      stages.insert(stages.end(), rows.begin(), rows.end());
    }
    stages.push_back({.stage = stage_name, .produced = produced_.get()});
    return stages;
  }

 private:
  std::vector<std::unique_ptr<Cursor>> sources_;
  std::vector<Element> parts_;
  Tally<std::int64_t> produced_;
};

class ZipDataset final : public Dataset {
 public:
  explicit ZipDataset(std::vector<DatasetPtr> sources) : sources_(std::move(sources)) {
    for (const DatasetPtr& source : sources_) {
      const std::vector<TensorType>& types = source->element_types();
      types_.insert(types_.end(), types.begin(), types.end());
    }
  }

  std::string_view stage() const override { return stage_name; }
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
    return std::make_unique<ZipCursor>(std::move(cursors));
  }

 private:
  std::vector<DatasetPtr> sources_;
  std::vector<TensorType> types_;
};

}  // namespace

DatasetPtr zip(std::vector<DatasetPtr> sources) {
  if (sources.empty()) throw Error("zip: no datasets given; at least one is needed");
  return std::make_shared<ZipDataset>(std::move(sources));
}

}  // namespace gpubench
