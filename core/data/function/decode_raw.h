// Interprets the bytes of numbers as a tensor, as tf.io.decode_raw does.
#pragma once
#include <memory>

#include "core/data/function/element_function.h"

namespace gpubench {

/// Creates tensors of this type from elements that start with a byte string; other tensors of the element are passed
/// on. Numbers are little-endian. One extent may be `varying`: it takes all remaining bytes. Throws Error for other
/// types.
std::shared_ptr<const ElementFunction> decode_raw(const TensorType& type);

}  // namespace gpubench
