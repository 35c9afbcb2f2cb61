#include "core/ops/metric.h"

#include <cmath>
#include <fmt/format.h>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/elementwise.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/rows.h"
#include "core/backend/cpu/widened.h"
#include "core/base/error.h"

namespace gpubench::cpu {
namespace {

/// Number of predictions in the row above that of `label`; equal ones count if they come before it, NaN always counts.
std::int64_t rank_of(const float* row, std::int64_t classes, std::int64_t label) {
  const float own = row[label];
  if (std::isnan(own)) return classes;
  std::int64_t larger = 0;
  for (std::int64_t i = 0; i < label; ++i) larger += row[i] < own ? 0 : 1;
  for (std::int64_t i = label + 1; i < classes; ++i) larger += row[i] <= own ? 0 : 1;
  return larger;
}

template <class Label>
class TopK {
 public:
  TopK(const TopKMatches& op, const Signature& signature)
      : k_(op.k), batch_(signature.inputs[0].shape[0]), classes_(signature.inputs[0].shape[1]) {}

  void operator()(Views inputs, Views outputs) const {
    const float* const predictions = inputs[0].as<float>();
    const Label* const labels = inputs[1].as<Label>();
    float* const matches = outputs[0].as<float>();
    for (std::int64_t i = 0; i < batch_; ++i) {
      const float* const row = predictions + i * classes_;
      matches[i] = rank_of(row, classes_, label_of(labels, i)) < k_ ? 1.0F : 0.0F;
    }
  }

 private:
  std::int64_t label_of(const Label* labels, std::int64_t row) const {
    if constexpr (std::is_same_v<Label, float>) {
      const float* const one_hot = labels + row * classes_;
      return std::max_element(one_hot, one_hot + classes_) - one_hot;
    } else {
      const auto label = static_cast<std::int64_t>(labels[row]);
      if (label >= 0 && label < classes_) return label;
      throw Error(fmt::format("top_k_matches: label {} of example {} is outside 0 to {}", label, row, classes_ - 1));
    }
  }

  std::int64_t k_, batch_, classes_;
};

/// NaN is on neither side.
struct SameSide {
  float threshold;
  float operator()(float prediction, float label) const {
    const bool above = prediction > threshold, below = prediction <= threshold;
    return (label > threshold ? above : below) ? 1.0F : 0.0F;
  }
};

std::unique_ptr<Kernel> plan_top_k_matches(const TopKMatches& op, const Signature& signature, Device&) {
  using Labels = Types<float, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t>;
  return dispatch(Labels{}, op.name(), signature.inputs[1].dtype,
                  [&]<class T>() { return loop_kernel(TopK<T>(op, signature)); });
}

std::unique_ptr<Kernel> plan_sum_and_count(const SumAndCount&, const Signature& signature, Device&) {
  return loop_kernel([count = signature.inputs[0].elements()](Views inputs, Views outputs) {
    float* const state = outputs[0].as<float>();
    state[0] = static_cast<float>(sum_of(inputs[0].as<float>(), count));
    state[1] = static_cast<float>(count);
  });
}

std::unique_ptr<Kernel> plan_binary_matches(const BinaryMatches& op, const Signature& signature, Device&) {
  return elementwise<float, float, float>(op.name(), SameSide{static_cast<float>(op.threshold)}, signature);
}

}  // namespace

void add_metric(KernelTable& table) {
  add_float32_row<&plan_top_k_matches>(table);
  add_float32_row<&plan_sum_and_count>(table);
  add_float32_row<&plan_binary_matches>(table);
}

}  // namespace gpubench::cpu
