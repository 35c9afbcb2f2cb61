#include "core/data/stage/combine.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/produced.h"
#include "core/data/source/range.h"

namespace gpubench {
namespace {

constexpr std::string_view concatenate_stage = "concatenate";

class ConcatenateCursor final : public Cursor {
 public:
  ConcatenateCursor(std::array<std::unique_ptr<Cursor>, 2> parts, TensorTypes types)
      : parts_(std::move(parts)), produced_(types) {}

  bool next(Element& element) override {
    return advance(element, [&](Cursor& part) { return part.next(element); });
  }
  bool next_into(std::span<const TensorView> slots) override {
    return advance(slots, [&](Cursor& part) { return part.next_into(slots); });
  }

  std::int64_t skip(std::int64_t count) override {
    std::int64_t skipped = parts_[part_]->skip(count);
    if (skipped < count && part_ == 0) {
      part_ = 1;
      skipped += parts_[part_]->skip(count - skipped);
    }
    return skipped;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = statistics_of(parts_);
    stages.push_back(produced_.row(concatenate_stage));
    return stages;
  }

 private:
  template <class Given, class Take>
  bool advance(const Given& element, Take&& take) {
    bool found = take(*parts_[part_]);
    if (!found && part_ == 0) {
      part_ = 1;
      found = take(*parts_[part_]);
    }
    if (found) produced_.add(element);
    return found;
  }

  std::array<std::unique_ptr<Cursor>, 2> parts_;
  std::size_t part_ = 0;
  Produced produced_;
};

class ConcatenateDataset final : public Dataset {
 public:
  ConcatenateDataset(std::array<DatasetPtr, 2> sources, std::vector<TensorType> types)
      : Dataset(sources), sources_(std::move(sources)), types_(std::move(types)) {}
  std::string_view stage() const override { return concatenate_stage; }
  std::span<const DatasetPtr> sources() const override { return sources_; }
  const std::vector<TensorType>& element_types() const override { return types_; }

  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> first = sources_[0]->size(), second = sources_[1]->size();
    if (!first || !second) return second == endless ? second : std::nullopt;
    return *second > endless - *first ? endless : *first + *second;
  }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<ConcatenateCursor>(
        std::array{sources_[0]->open(epoch, options), sources_[1]->open(epoch, options)}, types_);
  }

 private:
  std::array<DatasetPtr, 2> sources_;
  std::vector<TensorType> types_;
};

constexpr std::string_view zip_stage = "zip";

class ZipCursor final : public Cursor {
 public:
  ZipCursor(std::vector<std::unique_ptr<Cursor>> sources, TensorTypes types)
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
    std::vector<StageStatistics> stages = statistics_of(sources_);
    stages.push_back(produced_.row(zip_stage));
    return stages;
  }

 private:
  /// If one source fails for an element, the others skip theirs, so that later elements stay paired.
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
  explicit ZipDataset(std::vector<DatasetPtr> sources) : Dataset(sources), sources_(std::move(sources)) {
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

DatasetPtr concatenate(DatasetPtr first, DatasetPtr second) {
  require_host_elements(*first, "concatenate");
  require_host_elements(*second, "concatenate");
  std::optional<std::vector<TensorType>> types = common_types(first->element_types(), second->element_types());
  if (!types) {
    throw Error(fmt::format("concatenate: elements {} and {} differ in more than their extents",
                            to_string(first->element_types()), to_string(second->element_types())));
  }
  if (first->size() == endless) throw Error("concatenate: the first dataset never ends; use take");
  return std::make_shared<ConcatenateDataset>(std::array{std::move(first), std::move(second)}, std::move(*types));
}

DatasetPtr zip(std::vector<DatasetPtr> sources) {
  for (const DatasetPtr& source : sources) require_host_elements(*source, "zip");
  if (sources.empty()) throw Error("zip: no datasets given; at least one is needed");
  return std::make_shared<ZipDataset>(std::move(sources));
}

DatasetPtr enumerate(DatasetPtr source, std::int64_t start) {
  return zip({range(start, endless), std::move(source)});
}

}  // namespace gpubench
