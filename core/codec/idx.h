// IDX, the format of the handwritten digits: one array, big-endian, plain or gzip.
#pragma once
#include <filesystem>

#include "core/codec/byte_source.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

/// Throws Error naming the file and what is wrong: missing, cut short, no IDX magic, an element type that gpubench does
/// not have (float64), bytes after the end.
HostTensor read_idx(const std::filesystem::path& path);
/// Throws Error too when the array is not of the expected type; -1 in its shape stands for any extent.
HostTensor read_idx(const std::filesystem::path& path, const TensorType& expected);
HostTensor decode_idx(ByteSource& source);

}  // namespace gpubench
