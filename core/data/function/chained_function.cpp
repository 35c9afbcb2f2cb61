#include "core/data/function/chained_function.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/data/dataset.h"
#include "core/data/function/element_plans.h"
#include "core/data/function/graph_function.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {
namespace {

/// Intermediate results stay in the second-level cache.
constexpr std::size_t most_bytes_between = std::size_t{256} << 10;

std::vector<TensorType> with_extent(TensorTypes types, std::int64_t extent) {
  std::vector<TensorType> given(types.begin(), types.end());
  for (TensorType& type : given) std::replace(type.shape.begin(), type.shape.end(), varying, extent);
  return given;
}

/// Outputs of the first function and inputs of the second.
class Between final : public ElementOutputs {
 public:
  explicit Between(std::size_t tensors) : types_(tensors), memory_(tensors) {
    for (const TensorType& type : types_) views_.push_back({&type, nullptr});
  }

  void begin(std::int64_t count) { count_ = count; }
  std::byte* place(std::size_t index, const TensorType& type) override {
    const std::size_t bytes = std::max<std::size_t>(type.bytes() * static_cast<std::size_t>(count_), 1);
    HostTensor& memory = memory_[index];
    if (memory.empty() || memory.bytes() < bytes) {
      memory = HostTensor(TensorType{{static_cast<std::int64_t>(bytes)}, Dtype::u8});
    }
    types_[index] = type;
    views_[index].data = memory.data();
    return memory.data();
  }
  /// Views of the first element's tensors.
  std::span<const TensorView> views() const { return views_; }

 private:
  std::int64_t count_ = 1;
  std::vector<TensorType> types_;
  std::vector<HostTensor> memory_;
  std::vector<TensorView> views_;
};

/// Places for all elements, filled part by part by a function that takes fewer at a time.
class PartOfOutputs final : public ElementOutputs {
 public:
  explicit PartOfOutputs(std::size_t tensors) : places_(tensors) {}

  void begin(ElementOutputs& all) {
    all_ = &all;
    first_ = 0;
  }
  void pass_over(std::int64_t count) { first_ += count; }
  std::byte* place(std::size_t index, const TensorType& type) override {
    if (first_ == 0) places_[index] = all_->place(index, type);
    return places_[index] + static_cast<std::size_t>(first_) * type.bytes();
  }

 private:
  ElementOutputs* all_ = nullptr;
  std::int64_t first_ = 0;
  std::vector<std::byte*> places_;
};

/// Passes a runner as many elements at a time as it takes. Output types are the same for all elements.
class InBlocks {
 public:
  explicit InBlocks(std::size_t outputs) : part_(outputs) {}

  void operator()(ElementRunner& runner, const ElementBlock& elements, ElementOutputs& outputs) {
    const std::int64_t most = runner.block();
    if (elements.count <= most) return runner.run(elements, outputs);
    views_.assign(elements.inputs.begin(), elements.inputs.end());
    part_.begin(outputs);
    for (std::int64_t first = 0; first < elements.count; first += most) {
      const std::int64_t count = std::min(most, elements.count - first);
      runner.run(part(elements, first, count), part_);
      part_.pass_over(count);
    }
  }

 private:
  ElementBlock part(const ElementBlock& elements, std::int64_t first, std::int64_t count) {
    ElementBlock part{.number = elements.number + first * elements.stride,
                      .stride = elements.stride,
                      .count = count,
                      .inputs = views_};
    const std::size_t tensors = views_.size();
    const auto at = static_cast<std::size_t>(first);
    if (elements.scattered.empty()) {
      for (std::size_t i = 0; i < tensors; ++i) {
        views_[i].data = elements.inputs[i].data + at * elements.inputs[i].type->bytes();
      }
    } else {
      part.inputs = elements.scattered.subspan(at * tensors, tensors);
      if (count > 1)
        part.scattered = elements.scattered.subspan(at * tensors, static_cast<std::size_t>(count) * tensors);
    }
    return part;
  }

  PartOfOutputs part_;
  std::vector<TensorView> views_;
};

class ChainedRunner final : public ElementRunner {
 public:
  /// `between`: the output types of the first function. `any_extents`: whether it takes inputs of all extents.
  ChainedRunner(std::unique_ptr<ElementRunner> first, const std::shared_ptr<const ElementFunction>& second,
                TensorTypes between, bool any_extents)
      : first_(std::move(first)),
        second_(second),
        between_(between.size()),
        run_first_(between.size()),
        scattered_(any_extents && (first_->block() == 1 || first_->takes_scattered())) {
    const std::vector<TensorType> outputs = infer_outputs(*second, between);
    run_second_ = InBlocks(outputs.size());
    if (is_fixed(between)) block_ = block_for(between, is_fixed(outputs));
  }

  std::int64_t block() const override { return block_; }
  bool takes_scattered() const override { return scattered_; }

  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    between_.begin(elements.count);
    run_first_(*first_, elements, between_);
    const std::span<const TensorView> views = between_.views();
    run_second_(second_.for_inputs(views),
                {.number = elements.number, .stride = elements.stride, .count = elements.count, .inputs = views},
                outputs);
  }

 private:
  std::int64_t block_for(TensorTypes between, bool fixed_outputs) {
    std::size_t bytes = 1;
    std::vector<TensorView> views;
    for (const TensorType& type : between) {
      bytes += type.bytes();
      views.push_back({&type, nullptr});
    }
    const std::int64_t second = second_.for_inputs(views).block();
    const std::int64_t wanted = fixed_outputs ? std::max(first_->block(), second) : second;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(most_bytes_between / bytes), 1, wanted);
  }

  std::unique_ptr<ElementRunner> first_;
  ElementPlans second_;
  Between between_;
  InBlocks run_first_, run_second_{0};
  bool scattered_;
  std::int64_t block_ = 1;
};

class ChainedFunction final : public ElementFunction {
 public:
  ChainedFunction(std::shared_ptr<const ElementFunction> first, std::shared_ptr<const ElementFunction> second,
                  std::vector<TensorType> between)
      : first_(std::move(first)), second_(std::move(second)), between_(std::move(between)) {}

  std::vector<TensorType> output_types(TensorTypes inputs) const override {
    return infer_outputs(*second_, infer_outputs(*first_, inputs));
  }
  bool takes_any_extents() const override { return first_->takes_any_extents(); }
  std::unique_ptr<ElementRunner> plan(TensorTypes inputs) const override {
    // The first function's output types for these inputs hold for all elements only if all have equal types.
    const std::vector<TensorType> between = takes_any_extents() ? between_ : infer_outputs(*first_, inputs);
    return std::make_unique<ChainedRunner>(first_->plan(inputs), second_, between, takes_any_extents());
  }

  /// Merges `next` into the second function if both are graphs; else nullptr.
  std::shared_ptr<const ElementFunction> with_graph(const ElementFunction& next) const {
    auto both = compose(*second_, next);
    if (both == nullptr) return nullptr;
    return std::make_shared<ChainedFunction>(first_, std::move(both), between_);
  }

 private:
  std::shared_ptr<const ElementFunction> first_, second_;
  std::vector<TensorType> between_;
};

}  // namespace

std::vector<TensorType> infer_outputs(const ElementFunction& function, TensorTypes inputs) {
  if (is_fixed(inputs)) return function.output_types(inputs);
  std::vector<TensorType> types = function.output_types(with_extent(inputs, extent_guesses[0]));
  const std::vector<TensorType> others = function.output_types(with_extent(inputs, extent_guesses[1]));
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (std::size_t axis = 0; axis < types[i].shape.size(); ++axis) {
      if (types[i].shape[axis] != others[i].shape[axis]) types[i].shape[axis] = varying;
    }
  }
  return types;
}

std::shared_ptr<const ElementFunction> chain(std::shared_ptr<const ElementFunction> first,
                                             std::shared_ptr<const ElementFunction> second, TensorTypes inputs) {
  if (auto graph = compose(*first, *second)) return graph;
  if (const auto* before = dynamic_cast<const ChainedFunction*>(first.get())) {
    if (auto longer = before->with_graph(*second)) return longer;
  }
  std::vector<TensorType> between = infer_outputs(*first, inputs);
  return std::make_shared<ChainedFunction>(std::move(first), std::move(second), std::move(between));
}

}  // namespace gpubench
