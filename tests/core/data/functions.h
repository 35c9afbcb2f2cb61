// Functions of elements that tests give to stages, and ways to see what they did.
#pragma once
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// (n, pair) -> (n + 1, pair with both halves moved by one the same way): keeps what read() checks.
class Increment final : public ElementFunction {
 public:
  /// `watch` is called with each block before it is computed, on the thread that computes it.
  explicit Increment(std::int64_t block = 1, std::function<void(const ElementBlock&)> watch = {})
      : block_(block), watch_(std::move(watch)) {}

  std::vector<TensorType> output_types(TensorTypes inputs) const override {
    if (inputs.size() != 2) throw Error("increment: two tensors are needed");
    return {inputs.begin(), inputs.end()};
  }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override { return std::make_unique<Runner>(block_, watch_); }

 private:
  class Runner final : public ElementRunner {
   public:
    Runner(std::int64_t block, std::function<void(const ElementBlock&)> watch)
        : block_(block), watch_(std::move(watch)) {}
    std::int64_t block() const override { return block_; }
    void run(const ElementBlock& elements, ElementOutputs& outputs) override {
      if (watch_) watch_(elements);
      const std::span<const TensorView> in = elements.inputs;
      auto* const numbers = reinterpret_cast<std::int64_t*>(outputs.place(0, *in[0].type));
      auto* const pairs = reinterpret_cast<float*>(outputs.place(1, *in[1].type));
      const std::int64_t count = elements.count;
      for (std::int64_t i = 0; i < count * in[0].elements(); ++i) numbers[i] = in[0].as<std::int64_t>()[i] + 1;
      for (std::int64_t i = 0; i < count * in[1].elements(); ++i) {
        pairs[i] = in[1].as<float>()[i] + (i % 2 == 0 ? 1.0F : -1.0F);
      }
    }

   private:
    std::int64_t block_;
    std::function<void(const ElementBlock&)> watch_;
  };

  std::int64_t block_;
  std::function<void(const ElementBlock&)> watch_;
};

/// Throws Error("element 5 is bad") for the element whose number is `bad`.
inline std::shared_ptr<const ElementFunction> fails_at(std::int64_t bad, std::int64_t block) {
  return std::make_shared<Increment>(block, [bad](const ElementBlock& elements) {
    for (std::int64_t i = 0; i < elements.count; ++i) {
      if (elements.inputs[0].as<std::int64_t>()[i] == bad) {
        throw Error("element " + std::to_string(bad) + " is bad");
      }
    }
  });
}

/// Says of numbers() whether `keep(number)`; takes up to `block` elements at a time.
class Predicate final : public ElementFunction {
 public:
  explicit Predicate(std::function<bool(std::int64_t)> keep, std::int64_t block = 1)
      : keep_(std::move(keep)), block_(block) {}
  std::vector<TensorType> output_types(TensorTypes) const override { return {{{}, Dtype::boolean}}; }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override { return std::make_unique<Runner>(*this); }
  int runs() const { return runs_; }

 private:
  class Runner final : public ElementRunner {
   public:
    explicit Runner(const Predicate& predicate) : predicate_(predicate) {}
    std::int64_t block() const override { return predicate_.block_; }
    void run(const ElementBlock& elements, ElementOutputs& outputs) override {
      ++predicate_.runs_;
      std::byte* const answers = outputs.place(0, type_);
      for (std::int64_t i = 0; i < elements.count; ++i) {
        answers[i] = std::byte{predicate_.keep_(elements.inputs[0].as<std::int64_t>()[i])};
      }
    }

   private:
    const Predicate& predicate_;
    const TensorType type_{{}, Dtype::boolean};
  };

  std::function<bool(std::int64_t)> keep_;
  std::int64_t block_;
  mutable std::atomic<int> runs_{0};
};

/// Made of what it says of its outputs and of how it runs, as decoders and parsers are: one element at a time, of any
/// extents.
class Native final : public ElementFunction {
 public:
  using Types = std::function<std::vector<TensorType>(TensorTypes)>;
  using Run = std::function<void(const ElementBlock&, ElementOutputs&)>;

  Native(Types types, Run run, bool any_extents = true)
      : types_(std::move(types)), run_(std::move(run)), any_extents_(any_extents) {}
  std::vector<TensorType> output_types(TensorTypes inputs) const override { return types_(inputs); }
  bool takes_any_extents() const override { return any_extents_; }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override {
    class Runner final : public ElementRunner {
     public:
      explicit Runner(const Run& run) : run_(run) {}
      void run(const ElementBlock& elements, ElementOutputs& outputs) override { run_(elements, outputs); }

     private:
      const Run& run_;
    };
    ++plans_;
    return std::make_unique<Runner>(run_);
  }
  int plans() const { return plans_; }

 private:
  Types types_;
  Run run_;
  bool any_extents_;
  mutable std::atomic<int> plans_{0};
};

/// number -> number % divisor, of the first tensor alone.
inline std::shared_ptr<const ElementFunction> modulo(std::int64_t divisor) {
  return std::make_shared<Native>(
      [](TensorTypes) {
        return std::vector<TensorType>{{{}, Dtype::i64}};
      },
      [divisor](const ElementBlock& elements, ElementOutputs& outputs) {
        const TensorType type{{}, Dtype::i64};
        const std::int64_t rest = elements.inputs[0].as<std::int64_t>()[0] % divisor;
        std::memcpy(outputs.place(0, type), &rest, sizeof rest);
      });
}

/// sum, number, ... -> sum + number, and the sum again behind it unless it is `alone`; an Error for the number `bad`.
inline std::shared_ptr<const ElementFunction> running_sum(bool alone = false, std::int64_t bad = -1) {
  const TensorType type{{}, Dtype::i64};
  return std::make_shared<Native>([=](TensorTypes) { return std::vector<TensorType>(alone ? 1U : 2U, type); },
                                  [=](const ElementBlock& elements, ElementOutputs& outputs) {
                                    const std::int64_t number = elements.inputs[1].as<std::int64_t>()[0];
                                    if (number == bad) throw Error(std::to_string(bad) + " is not added");
                                    const std::int64_t sum = elements.inputs[0].as<std::int64_t>()[0] + number;
                                    for (std::size_t i = 0; i < (alone ? 1U : 2U); ++i)
                                      std::memcpy(outputs.place(i, type), &sum, sizeof sum);
                                  });
}

inline void copy_inputs(const ElementBlock& elements, ElementOutputs& outputs) {
  for (std::size_t i = 0; i < elements.inputs.size(); ++i) {
    const TensorView& input = elements.inputs[i];
    std::memcpy(outputs.place(i, *input.type), input.data, input.type->bytes());
  }
}

/// Gives its inputs as they are.
class Identity final : public ElementFunction {
 public:
  std::vector<TensorType> output_types(TensorTypes inputs) const override { return {inputs.begin(), inputs.end()}; }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override {
    class Runner final : public ElementRunner {
     public:
      void run(const ElementBlock& elements, ElementOutputs& outputs) override { copy_inputs(elements, outputs); }
    };
    return std::make_unique<Runner>();
  }
};

}  // namespace gpubench
