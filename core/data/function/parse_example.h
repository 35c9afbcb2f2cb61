// The features of a tf.train.Example as tensors. A feature has a fixed shape, or a varying length: shape {varying}.
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
  /// Row-major with fixed extents, or {varying}. A byte string is a single value, {}, and becomes a uint8[?].
  Shape shape{};
  Dtype dtype = Dtype::f32;  ///< f32, i64 or bytes
  /// Replaces a missing feature; has the feature's type, uint8[n] for bytes.
  std::optional<HostTensor> default_value{};
};

/// (uint8[?] example, ...) -> (the features, in their order, ...). Throws Error for an impossible spec; its elements
/// throw for a feature that is missing without a default, and for values of the wrong type or count.
std::shared_ptr<const ElementFunction> parse_example(std::vector<FeatureSpec> features);

}  // namespace gpubench
