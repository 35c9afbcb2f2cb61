#include "core/ops/pack_weights.h"

#include <fmt/format.h>

#include "core/base/align.h"
#include "core/ops/check.h"

namespace gpubench {
namespace {

std::int64_t rounded_up(std::int64_t count) {
  constexpr std::int64_t block = 64;  // int8 in the widest vector there is
  return align_up(count, block);
}

}  // namespace

TensorType packed_type(const TensorType& weights) {
  constexpr std::int64_t sums = 4 * sizeof(std::int32_t);  // oneDNN keeps up to three for each channel
  const Shape& shape = weights.shape;
  const std::size_t last = shape.size() - 1;
  std::int64_t places = 1;
  for (std::size_t i = 0; i + 1 < last; ++i) places *= shape[i];
  const std::int64_t outputs = rounded_up(shape[last]);
  return {{places * rounded_up(shape[last - 1]) * outputs + sums * outputs}, Dtype::i8};
}

PackWeights::PackWeights(OpPtr of, TensorType by) : product(std::move(of)), x(std::move(by)) {}

std::string PackWeights::attributes() const {
  return fmt::format("for {} {} of {}", product->name(), product->attributes(), to_string(x));
}

std::vector<TensorType> PackWeights::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  const TensorType& weights = inputs[0];
  if (weights.dtype != Dtype::i8 || (weights.rank() != 2 && weights.rank() != 4)) {
    ops::refuse(name(), fmt::format("takes int8 [k, n] or [height, width, input channels, output channels], got {}",
                                    to_string(weights)));
  }
  return {packed_type(weights)};
}

}  // namespace gpubench
