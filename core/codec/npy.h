// NumPy's format for one array: versions 1 to 3, C order, either byte order, all element types of gpubench.
#pragma once
#include <filesystem>
#include <string>

#include "core/codec/byte_source.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

struct NpyHeader {
  std::string descr;  ///< byte order and type: "<f4"
  bool fortran_order = false;
  Shape shape;
};
/// Reads up to the array's values. Throws Error naming the file and the fault.
NpyHeader read_npy_header(ByteSource& source);

/// Throws Error naming the file and the fault; for float64 and Fortran order it says how to save the array instead.
HostTensor read_npy(const std::filesystem::path& path);
HostTensor decode_npy(ByteSource& source);
/// Throws Error for bfloat16, which NumPy lacks, and if the file cannot be written.
void write_npy(const std::filesystem::path& path, const HostTensor& tensor);

}  // namespace gpubench
