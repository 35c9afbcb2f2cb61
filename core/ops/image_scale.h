// Changes of an image's range of brightness, made of element-wise ops, so that they are fused with what stands around
// them.
#pragma once
#include <span>

#include "core/graph/graph.h"

namespace gpubench::ops {

/// (x - mean) / stddev of images [..., channels], in float32 unless they are of another floating type. One number each,
/// or one per channel. Throws Error for other counts, and for deviations that are not positive.
Value normalize_images(Graph& graph, Value images, std::span<const float> mean, std::span<const float> stddev);

/// The images in another type, where the brightest pixel of uint8, 255, is 1 in floating types: as
/// tf.image.convert_image_dtype, with saturation. Throws Error for types other than these.
Value convert_images(Graph& graph, Value images, Dtype dtype);

}  // namespace gpubench::ops
