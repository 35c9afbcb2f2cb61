#include "core/data/stage/choose.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view choose_stage = "choose_from_datasets";
constexpr std::string_view sample_stage = "sample_from_datasets";

class ChooseCursor final : public Cursor {
 public:
  /// The last of the sources has the choices.
  ChooseCursor(std::string_view stage, std::vector<std::unique_ptr<Cursor>> sources, TensorTypes types,
               OnEmpty on_empty)
      : stage_(stage),
        sources_(std::move(sources)),
        is_empty_(sources_.size() - 1),
        left_(std::ssize(is_empty_)),
        on_empty_(on_empty),
        produced_(types) {}

  bool next(Element& element) override {
    while (left_ > 0 && sources_.back()->next(choice_)) {
      check_interrupt();
      const std::size_t chosen = index_of(choice_.front().values<std::int64_t>()[0]);
      if (is_empty_[chosen]) continue;
      if (sources_[chosen]->next(element)) {
        produced_.add(element);
        return true;
      }
      is_empty_[chosen] = true;
      left_ = on_empty_ == OnEmpty::ends_epoch ? 0 : left_ - 1;
    }
    return false;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = statistics_of(sources_);
    stages.push_back(produced_.row(stage_));
    return stages;
  }

 private:
  std::size_t index_of(std::int64_t choice) const {
    if (choice >= 0 && choice < std::ssize(is_empty_)) return static_cast<std::size_t>(choice);
    throw Error(
        fmt::format("{}: a choice of {}; the {} datasets are counted from 0", stage_, choice, is_empty_.size()));
  }

  const std::string_view stage_;
  const std::vector<std::unique_ptr<Cursor>> sources_;
  std::vector<bool> is_empty_;
  std::int64_t left_;  // datasets that are not empty; 0 at the end of the epoch
  const OnEmpty on_empty_;
  Element choice_;
  Produced produced_;
};

class ChooseDataset final : public Dataset {
 public:
  ChooseDataset(std::string_view stage, std::vector<DatasetPtr> sources, std::vector<TensorType> types,
                OnEmpty on_empty)
      : Dataset(sources), stage_(stage), sources_(std::move(sources)), types_(std::move(types)), on_empty_(on_empty) {}
  std::string_view stage() const override { return stage_; }
  std::string settings() const override { return on_empty_ == OnEmpty::ends_epoch ? "stop_on_empty_dataset" : ""; }
  std::span<const DatasetPtr> sources() const override { return sources_; }
  const std::vector<TensorType>& element_types() const override { return types_; }

  std::optional<std::int64_t> size() const override {
    const auto never_ends = [](const DatasetPtr& source) { return source->size() == endless; };
    const DatasetPtr& choice = sources_.back();
    const auto datasets = std::span(sources_).first(sources_.size() - 1);
    if (std::ranges::all_of(datasets, never_ends)) return choice->size();
    const bool goes_on = on_empty_ == OnEmpty::passes_over && std::ranges::any_of(datasets, never_ends);
    return goes_on && never_ends(choice) ? std::optional(endless) : std::nullopt;
  }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (const DatasetPtr& source : sources_) {
      const bool has_choices = &source == &sources_.back();
      cursors.push_back(source->open(epoch, has_choices ? options.for_sources() : options));
    }
    return std::make_unique<ChooseCursor>(stage_, std::move(cursors), types_, on_empty_);
  }

 private:
  const std::string_view stage_;
  std::vector<DatasetPtr> sources_;
  std::vector<TensorType> types_;
  OnEmpty on_empty_;
};

void require_datasets(std::string_view stage, const std::vector<DatasetPtr>& datasets) {
  if (datasets.empty()) throw Error(fmt::format("{}: no datasets given; at least one is needed", stage));
}

DatasetPtr chosen_by(std::string_view stage, std::vector<DatasetPtr> datasets, DatasetPtr choice, OnEmpty on_empty) {
  for (const DatasetPtr& source : datasets) require_host_elements(*source, stage);
  std::vector<TensorType> types = datasets.front()->element_types();
  for (const DatasetPtr& source : datasets) {
    std::optional<std::vector<TensorType>> common = common_types(types, source->element_types());
    if (!common) {
      throw Error(fmt::format("{}: elements {} and {} differ in more than their extents", stage, to_string(types),
                              to_string(source->element_types())));
    }
    types = std::move(*common);
  }
  datasets.push_back(std::move(choice));
  return std::make_shared<ChooseDataset>(stage, std::move(datasets), std::move(types), on_empty);
}

}  // namespace

DatasetPtr choose_from_datasets(std::vector<DatasetPtr> datasets, DatasetPtr choice, OnEmpty on_empty) {
  require_datasets(choose_stage, datasets);
  require_host_elements(*choice, choose_stage);
  if (choice->element_types() != std::vector{TensorType{{}, Dtype::i64}}) {
    throw Error(fmt::format("{}: the choices are {}; one int64[] is needed, the index of a dataset", choose_stage,
                            to_string(choice->element_types())));
  }
  return chosen_by(choose_stage, std::move(datasets), std::move(choice), on_empty);
}

DatasetPtr sample_from_datasets(std::vector<DatasetPtr> datasets, std::vector<double> weights,
                                const RandomOptions& options, OnEmpty on_empty) {
  require_datasets(sample_stage, datasets);
  if (weights.empty()) weights.resize(datasets.size(), 1);
  if (weights.size() != datasets.size()) {
    throw Error(fmt::format("{}: {} weights for {} datasets", sample_stage, weights.size(), datasets.size()));
  }
  for (const double weight : weights) {
    if (!(weight >= 0 && weight <= std::numeric_limits<float>::max()))
      throw Error(fmt::format("{}: a weight of {}; weights are not negative, and finite", sample_stage, weight));
  }
  for (std::size_t i = weights.size(); i-- > 0;) {
    if (weights[i] > 0) continue;
    weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(i));
    datasets.erase(datasets.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (weights.empty()) throw Error(fmt::format("{}: no dataset has a weight above 0", sample_stage));
  if (datasets.size() == 1) return datasets.front();
  return chosen_by(sample_stage, std::move(datasets), random_choices(weights, options), on_empty);
}

}  // namespace gpubench
