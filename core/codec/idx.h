// IDX, the file format of MNIST: one array, big-endian, plain or gzip.
#pragma once
#include <filesystem>

#include "core/codec/byte_source.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

/// Throws Error naming the file and the fault: missing, cut short, no IDX magic, an unsupported element type (float64),
/// bytes after the end.
HostTensor read_idx(const std::filesystem::path& path);
/// Also throws Error if the array is not of the expected type; -1 in its shape allows any extent.
HostTensor read_idx(const std::filesystem::path& path, const TensorType& expected);
HostTensor decode_idx(ByteSource& source);

}  // namespace gpubench
