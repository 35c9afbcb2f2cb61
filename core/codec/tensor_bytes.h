// The last step of every decoder: declared type and payload become a tensor, once the payload can really be there.
#pragma once
#include <optional>
#include <string>

#include "core/codec/byte_source.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

/// A tensor with the name that it has in a file.
struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

/// Bytes of a tensor whose extents come from a file; none when an extent is negative or the product is too large.
std::optional<std::uint64_t> checked_bytes(const TensorType& type);
/// Reads the row-major elements of `type`; `swap` for elements of the other byte order. Throws Error, before it takes
/// any memory, when the source cannot hold that many bytes, and when a bool is neither 0 nor 1.
HostTensor read_tensor(ByteSource& source, TensorType type, bool swap = false);

}  // namespace gpubench
