#include "core/data/concatenate.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/element_place.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view concatenate_stage = "concatenate";

class ConcatenateCursor final : public Cursor {
 public:
  ConcatenateCursor(std::array<std::unique_ptr<Cursor>, 2> parts, std::span<const TensorType> types)
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
    std::vector<StageStatistics> stages;
    for (const auto& part : parts_) {
      const std::vector<StageStatistics> rows = part->statistics();
      stages.insert(stages.end(), rows.begin(), rows.end());
    }
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
  ConcatenateDataset(DatasetPtr first, DatasetPtr second, std::vector<TensorType> types)
      : sources_{std::move(first), std::move(second)}, types_(std::move(types)) {}
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

}  // namespace

std::optional<std::vector<TensorType>> common_types(std::span<const TensorType> a, std::span<const TensorType> b) {
  if (a.size() != b.size()) return std::nullopt;
  std::vector<TensorType> common(a.begin(), a.end());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype != b[i].dtype || a[i].rank() != b[i].rank()) return std::nullopt;
    for (std::size_t axis = 0; axis < a[i].shape.size(); ++axis) {
      if (a[i].shape[axis] != b[i].shape[axis]) common[i].shape[axis] = varying;
    }
  }
  return common;
}

DatasetPtr concatenate(DatasetPtr first, DatasetPtr second) {
  require_host_elements(*first, "concatenate");
  require_host_elements(*second, "concatenate");
  std::optional<std::vector<TensorType>> types = common_types(first->element_types(), second->element_types());
  if (!types) {
    throw Error(fmt::format("concatenate: elements {} and {} differ in more than their extents",
                            to_string(first->element_types()), to_string(second->element_types())));
  }
  if (first->size() == endless) throw Error("concatenate: the first dataset never ends; use take");
  return std::make_shared<ConcatenateDataset>(std::move(first), std::move(second), std::move(*types));
}

}  // namespace gpubench
