// The features of a tf.train.Example as tensors. A feature has a fixed shape, or is as long as it is: shape {varying}.
//
//   map(tfrecord({"digits.tfrecord"}), parse_example({{.name = "image", .shape = {784}}}))
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/data/function/element_function.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

struct FeatureSpec {
  std::string name;
  /// Row-major, all extents given; or {varying}. A byte string is one value, {}, and becomes a uint8[?].
  Shape shape{};
  Dtype dtype = Dtype::f32;  ///< f32, i64 or bytes
  /// In place of a feature that is missing: of the feature's type, uint8[n] for bytes.
  std::optional<HostTensor> default_value{};
};

/// (uint8[?] example, ...) -> (the features, in their order, ...). Throws Error for a spec that cannot be; its elements
/// do for a feature that is missing without a default, and for values of another type or number.
std::shared_ptr<const ElementFunction> parse_example(std::vector<FeatureSpec> features);

}  // namespace gpubench
