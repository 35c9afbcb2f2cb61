#include "core/data/map.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/block_pool.h"
#include "core/data/counter_random.h"
#include "core/data/rows.h"

namespace gpubench {
namespace {

constexpr std::string_view stage_name = "map";

/// The function planned for the types of the elements that come, with a plan per set of types.
class PlannedFunction {
 public:
  explicit PlannedFunction(std::shared_ptr<const ElementFunction> function) : function_(std::move(function)) {}

  struct Plan {
    std::vector<TensorType> inputs;
    std::vector<TensorType> outputs;
    std::unique_ptr<ElementRunner> runner;
  };

  Plan& plan_for(std::span<const TensorView> inputs) {
    for (const std::unique_ptr<Plan>& plan : plans_) {
      if (fits(*plan, inputs)) return *plan;
    }
    auto plan = std::make_unique<Plan>();
    for (const TensorView& input : inputs) plan->inputs.push_back(*input.type);
    plan->outputs = function_->output_types(plan->inputs);
    plan->runner = function_->plan(plan->inputs);
    return *plans_.emplace_back(std::move(plan));
  }

 private:
  static bool fits(const Plan& plan, std::span<const TensorView> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (plan.inputs[i] != *inputs[i].type) return false;
    }
    return true;
  }

  std::shared_ptr<const ElementFunction> function_;
  std::vector<std::unique_ptr<Plan>> plans_;
};

/// The source's elements as views: rows of tensors where they lie, other elements kept until the next one.
class Inputs {
 public:
  explicit Inputs(Cursor& source) : source_(source) {
    if (!source.tables().empty()) {
      rows_.emplace(source.tables());
      views_.resize(rows_->tables().size());
    }
  }

  bool next() { return rows_ ? next_row() : next_element(); }
  std::span<const TensorView> views() const { return views_; }

 private:
  static constexpr std::size_t block = 64;

  bool next_row() {
    if (position_ == count_) {
      if (ended_) return false;
      position_ = 0;
      count_ = source_.next_rows(numbers_);
      ended_ = count_ < numbers_.size();
      if (count_ == 0) return false;
    }
    rows_->view(numbers_[position_++], views_);
    return true;
  }

  bool next_element() {
    if (!source_.next(element_)) return false;
    views_.clear();
    for (const HostTensor& tensor : element_) views_.push_back(tensor.view());
    return true;
  }

  Cursor& source_;
  std::optional<Rows> rows_;
  std::array<std::int64_t, block> numbers_{};
  std::size_t position_ = 0;
  std::size_t count_ = 0;
  bool ended_ = false;
  Element element_;
  std::vector<TensorView> views_;
};

class MapCursor final : public Cursor {
 public:
  MapCursor(std::unique_ptr<Cursor> source, std::shared_ptr<const ElementFunction> function, CounterRandom numbers,
            const CursorOptions& options)
      : source_(std::move(source)),
        inputs_(*source_),
        function_(std::move(function)),
        numbers_(numbers),
        pool_(options.memory) {}

  bool next(Element& element) override {
    if (!inputs_.next()) return false;
    PlannedFunction::Plan& plan = function_.plan_for(inputs_.views());
    pool_.allocate(plan.outputs, element);
    outputs_.clear();
    for (const HostTensor& tensor : element) outputs_.push_back(tensor.view());
    run(plan, outputs_);
    return true;
  }

  bool next_into(std::span<const TensorView> slots) override {
    if (!inputs_.next()) return false;
    PlannedFunction::Plan& plan = function_.plan_for(inputs_.views());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (plan.outputs[i] != *slots[i].type) {
        throw Error(
            fmt::format("batch: a map gives {} where it gave {} before; elements that are stacked need equal "
                        "shapes",
                        to_string(plan.outputs[i]), to_string(*slots[i].type)));
      }
    }
    run(plan, slots);
    return true;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back({.stage = stage_name, .produced = produced_.get(), .busy = Seconds(busy_.get())});
    return stages;
  }

 private:
  void run(PlannedFunction::Plan& plan, std::span<const TensorView> outputs) {
    const Stopwatch watch;
    const auto number = static_cast<std::int64_t>(numbers_.bits(static_cast<std::uint64_t>(produced_.get())) >> 1);
    plan.runner->run(number, inputs_.views(), outputs);
    busy_.add(watch.elapsed().count());
    produced_.add(1);
  }

  std::unique_ptr<Cursor> source_;
  Inputs inputs_;
  PlannedFunction function_;
  CounterRandom numbers_;  // of the elements: far apart for all epochs, whatever they are called
  BlockPool pool_;
  std::vector<TensorView> outputs_;
  Tally<std::int64_t> produced_;
  Tally<double> busy_;
};

std::vector<TensorType> with_extent(std::span<const TensorType> types, std::int64_t extent) {
  std::vector<TensorType> given(types.begin(), types.end());
  for (TensorType& type : given) std::replace(type.shape.begin(), type.shape.end(), varying, extent);
  return given;
}

/// Functions know given extents only. Where an input's extent varies, so do the output extents that follow it, which
/// two guesses tell from the others.
std::vector<TensorType> infer(const ElementFunction& function, std::span<const TensorType> inputs) {
  if (is_fixed(inputs)) return function.output_types(inputs);
  constexpr std::int64_t guess = 2;
  std::vector<TensorType> types = function.output_types(with_extent(inputs, guess));
  const std::vector<TensorType> others = function.output_types(with_extent(inputs, guess + 1));
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (std::size_t axis = 0; axis < types[i].shape.size(); ++axis) {
      if (types[i].shape[axis] != others[i].shape[axis]) types[i].shape[axis] = varying;
    }
  }
  return types;
}

class MapDataset final : public Transformation {
 public:
  MapDataset(DatasetPtr source, std::shared_ptr<const ElementFunction> function)
      : Transformation(std::move(source)),
        function_(std::move(function)),
        types_(infer(*function_, this->source().element_types())) {}

  std::string_view stage() const override { return stage_name; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<MapCursor>(source().open(epoch), function_, CounterRandom(0, epoch), options);
  }

 private:
  std::shared_ptr<const ElementFunction> function_;
  std::vector<TensorType> types_;
};

}  // namespace

DatasetPtr map(DatasetPtr source, std::shared_ptr<const ElementFunction> function) {
  return std::make_shared<MapDataset>(std::move(source), std::move(function));
}

}  // namespace gpubench
