// A tensor with the name that it has in a file.
#pragma once
#include <string>

#include "core/tensor/host_tensor.h"

namespace gpubench {

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

}  // namespace gpubench
