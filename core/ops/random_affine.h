// Flips, rotates, zooms or translates each image of a batch by its own random numbers, as Keras' layers do.
#pragma once
#include <string_view>

#include "core/math/affine.h"
#include "core/ops/image.h"

namespace gpubench {

struct RandomAffineAttributes {
  math::MotionRange range = {};
  math::Fill fill = math::Fill::reflect;
  float fill_value = 0;  ///< constant
  bool bilinear = true;  ///< else the nearest pixel
};

/// "constant", "nearest", "reflect", "wrap".
std::string_view to_string(math::Fill fill);
/// Throws Error listing the names.
math::Fill parse_fill(std::string_view name);

/// images, step -> images. Floating types, and uint8, which saturates. No gradient.
class RandomAffine final : public RandomImageOp {
 public:
  RandomAffine(const RandomAffineAttributes& given, std::uint64_t of) : options(given), seed(of) {}
  std::string_view name() const override { return "random_affine"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  /// Of the interpolation: 9 for each element.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const RandomAffineAttributes options;
  const std::uint64_t seed;
};

}  // namespace gpubench
