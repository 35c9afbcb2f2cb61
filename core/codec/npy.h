// NumPy's format for one array: versions 1 to 3, C order, either byte order, the element types that gpubench has.
#pragma once
#include <filesystem>

#include "core/codec/byte_source.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

/// Throws Error naming the file and what is wrong; for float64 and Fortran order it says how to save them instead.
HostTensor read_npy(const std::filesystem::path& path);
HostTensor decode_npy(ByteSource& source);
/// Throws Error for bfloat16, which NumPy does not have, and when the file cannot be written.
void write_npy(const std::filesystem::path& path, const HostTensor& tensor);

}  // namespace gpubench
