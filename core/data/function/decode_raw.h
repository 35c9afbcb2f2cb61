// The bytes of numbers as they lie in memory, made a tensor: what tf.io.decode_raw does.
#pragma once
#include <memory>

#include "core/data/function/element_function.h"

namespace gpubench {

/// Makes tensors of this type from elements that start with a byte string; the other tensors are handed on. Numbers are
/// little-endian. One extent may be `varying`: as much as there is. Throws Error for other types.
std::shared_ptr<const ElementFunction> decode_raw(const TensorType& type);

}  // namespace gpubench
