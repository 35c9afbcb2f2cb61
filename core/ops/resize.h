// Resizing of images by all methods of tf.image.resize: one op where there is a kernel, else products with matrices.
#pragma once
#include "core/ops/image.h"

namespace gpubench::ops {

/// images -> images of that height and width: of their own type by nearest, else float32. `antialias` widens the
/// filter where an image becomes smaller; nearest and area have none. Throws Error as ResizeImages does.
Value resize_images(Graph& graph, Value images, std::int64_t height, std::int64_t width, ResizeMethod method,
                    bool antialias = false);

/// The gradient of ResizeImages by images of that type.
Value resize_gradient(Graph& graph, Value dy, const TensorType& images, ResizeMethod method);

}  // namespace gpubench::ops
