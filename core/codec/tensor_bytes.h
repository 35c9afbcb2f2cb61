// The last step of every decoder: a declared type and its payload become a tensor, after a check that the source can
// hold that many bytes.
#pragma once
#include <string>

#include "core/codec/byte_source.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

/// A tensor and its name in a file.
struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

/// Reads the row-major elements of `type`; `swap` reverses the byte order of elements. Throws Error before it allocates
/// if the source cannot hold that many bytes; also if a bool is neither 0 nor 1.
HostTensor read_tensor(ByteSource& source, TensorType type, bool swap = false);

}  // namespace gpubench
