#include "core/data/stage/group_by_window.h"

#include <fmt/format.h>
#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/function/chained_function.h"
#include "core/data/function/single_function.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view group_stage = "group_by_window";
constexpr std::string_view window_of_group = "group";

std::vector<TensorType> key_types() {
  return {{{}, Dtype::i64}};
}

using HeldWindow = std::shared_ptr<const std::vector<Element>>;

/// The elements of a window. Its size counts as unknown, so that what is made of it has the same types for all windows.
class WindowDatasetOfGroup final : public Dataset {
 public:
  WindowDatasetOfGroup(HeldWindow elements, std::vector<TensorType> types, std::int64_t examples)
      : elements_(std::move(elements)), types_(std::move(types)), examples_(examples) {}
  std::string_view stage() const override { return window_of_group; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::int64_t examples_per_element() const override { return examples_; }

  std::unique_ptr<Cursor> open(std::uint64_t, const CursorOptions&) const override {
    class HeldCursor final : public Cursor {
     public:
      HeldCursor(HeldWindow elements, TensorTypes types) : elements_(std::move(elements)), produced_(types) {}
      bool next(Element& element) override {
        if (position_ == elements_->size()) return false;
        element = (*elements_)[position_++];
        produced_.add(element);
        return true;
      }
      std::vector<StageStatistics> statistics() const override { return {produced_.row(window_of_group)}; }

     private:
      HeldWindow elements_;
      std::size_t position_ = 0;
      Produced produced_;
    };
    return std::make_unique<HeldCursor>(elements_, types_);
  }

 private:
  HeldWindow elements_;
  std::vector<TensorType> types_;
  std::int64_t examples_;
};

/// The stages that become of a window, over a first one that stands for it.
struct WindowStages {
  DatasetPtr first;
  DatasetPtr last;

  DatasetPtr over(const DatasetPtr& window) const { return over(*last, window); }

 private:
  DatasetPtr over(const Dataset& stage, const DatasetPtr& window) const {
    if (&stage == first.get()) return window;
    const auto* const one = dynamic_cast<const Transformation*>(&stage);
    DatasetPtr made = one == nullptr ? nullptr : one->with_source(over(*one->sources().front(), window));
    if (made != nullptr) return made;
    throw Error(
        fmt::format("{}: the window goes through {}, which cannot be made anew for each window; stages with one source "
                    "can, such as batch, padded_batch and map: {}",
                    group_stage, stage.stage(), describe(*last)));
  }
};

class GroupByWindowCursor final : public StageCursor {
 public:
  GroupByWindowCursor(const Dataset& source, const WindowGroups& groups, const WindowStages& stages,
                      std::uint64_t epoch, const CursorOptions& options)
      : StageCursor(group_stage, source.open(epoch, options.for_sources()), stages.last->element_types()),
        element_types_(source.element_types()),
        examples_(source.examples_per_element()),
        size_(groups.size),
        stages_(stages),
        epoch_(epoch),
        options_(options),
        numbers_(element_numbers(epoch, source)),
        key_of_(groups.key),
        size_of_(groups.size_of) {
    options_.tuner = nullptr;  // stages of a window end before they could be tuned
  }

  bool next(Element& element) override {
    release(element);
    while (window_ != nullptr || open_window()) {
      const Stopwatch watch;
      const bool found = window_->next(element);
      busy_.add(watch.elapsed().count());
      if (found) {
        produced_.add(element);
        return true;
      }
      window_ = nullptr;
    }
    return false;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> rows = StageCursor::statistics();
    rows.back().held = held_.get();
    return rows;
  }

 private:
  using Groups = std::map<std::int64_t, std::vector<Element>>;

  /// Reads until a window is full; false if there is none at the end either.
  bool open_window() {
    while (!ended_) {
      check_interrupt();
      Element element;
      ended_ = !source_->next(element);
      if (ended_) break;
      key_of_.run({&element}, position_++, numbers_, key_);
      const std::int64_t key = key_.front().values<std::int64_t>()[0], size = size_for(key);
      const auto group = groups_.try_emplace(key).first;
      group->second.push_back(std::move(element));
      held_.add(1);
      if (std::ssize(group->second) >= size) return open_group(group);
    }
    return !groups_.empty() && open_group(groups_.begin());
  }

  std::int64_t size_for(std::int64_t key) {
    if (size_ > 0) return size_;
    if (const auto known = sizes_.find(key); known != sizes_.end()) return known->second;
    Element given;
    size_of_.run({&key_}, position_ - 1, numbers_, given);
    const std::int64_t size = given.front().values<std::int64_t>()[0];
    if (size > 0) return sizes_[key] = size;
    throw Error(
        fmt::format("{}: window_size_func gave {} for the key {}; at least 1 is needed", group_stage, size, key));
  }

  bool open_group(Groups::iterator group) {
    held_.add(-std::ssize(group->second));
    auto elements = std::make_shared<const std::vector<Element>>(std::move(group->second));
    groups_.erase(group);
    // The stages of a window are kept as long as its cursor.
    dataset_ = stages_.over(std::make_shared<WindowDatasetOfGroup>(std::move(elements), element_types_, examples_));
    constexpr int bits_for_windows = 32;
    window_ = dataset_->open((epoch_ << bits_for_windows) + windows_++, options_);
    return true;
  }

  const std::vector<TensorType> element_types_;
  const std::int64_t examples_;
  const std::int64_t size_;
  const WindowStages stages_;
  const std::uint64_t epoch_;
  CursorOptions options_;
  const ElementNumbers numbers_;
  SingleFunction key_of_;
  SingleFunction size_of_;
  Element key_;
  std::map<std::int64_t, std::int64_t> sizes_;
  Groups groups_;
  std::int64_t position_ = 0;
  std::uint64_t windows_ = 0;
  bool ended_ = false;
  DatasetPtr dataset_;
  std::unique_ptr<Cursor> window_;
  Tally<std::int64_t> held_;
};

class GroupByWindowDataset final : public Transformation {
 public:
  GroupByWindowDataset(DatasetPtr source, WindowGroups groups, WindowStages stages)
      : Transformation(std::move(source)), groups_(std::move(groups)), stages_(std::move(stages)) {}
  std::string_view stage() const override { return group_stage; }
  std::string settings() const override {
    return fmt::format("{}{}", groups_.size > 0 ? fmt::format("size={} ", groups_.size) : "", describe(*stages_.last));
  }
  DatasetPtr with_source(DatasetPtr source) const override {
    return std::make_shared<GroupByWindowDataset>(std::move(source), groups_, stages_);
  }
  bool counts_elements() const override { return true; }
  const std::vector<TensorType>& element_types() const override { return stages_.last->element_types(); }
  std::int64_t examples_per_element() const override { return stages_.last->examples_per_element(); }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<GroupByWindowCursor>(source(), groups_, stages_, epoch, options);
  }

 private:
  WindowGroups groups_;
  WindowStages stages_;
};

/// Throws Error unless the function gives one int64.
void require_int64(const char* name, const ElementFunction& function, TensorTypes inputs) {
  const std::vector<TensorType> outputs = infer_outputs(function, inputs);
  if (outputs == key_types()) return;
  throw Error(fmt::format("{}: {} gives {}; one int64[] is needed", group_stage, name, to_string(outputs)));
}

}  // namespace

DatasetPtr group_by_window(DatasetPtr source, const WindowGroups& groups, const WindowFunction& reduce) {
  require_host_elements(*source, group_stage);
  require_int64("key_func", *groups.key, source->element_types());
  if (groups.size_of != nullptr) {
    require_int64("window_size_func", *groups.size_of, key_types());
  } else if (groups.size < 1) {
    throw Error(fmt::format("{}: a window_size of {}; at least 1 is needed", group_stage, groups.size));
  }
  auto empty = std::make_shared<const std::vector<Element>>();
  WindowStages stages;
  stages.first =
      std::make_shared<WindowDatasetOfGroup>(std::move(empty), source->element_types(), source->examples_per_element());
  stages.last = reduce(stages.first);
  require_host_elements(*stages.last, group_stage);
  static_cast<void>(stages.over(stages.first));  // throws for stages that cannot be made anew
  return std::make_shared<GroupByWindowDataset>(std::move(source), groups, std::move(stages));
}

}  // namespace gpubench
