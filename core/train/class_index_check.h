// Class indices are checked on the host before they reach a kernel: a few comparisons per example instead of undefined
// behaviour on a device.
#pragma once
#include <cstdint>
#include <string>

#include "core/data/element.h"

namespace gpubench {

struct ClassIndexCheck {
  std::string owner;       ///< "sparse_categorical_crossentropy"
  std::size_t tensor = 0;  ///< which tensor of the element
  std::int64_t classes = 0;

  /// Throws Error naming the first label that is not in [0, classes), and the example it belongs to.
  void operator()(const Element& element) const;
};

}  // namespace gpubench
