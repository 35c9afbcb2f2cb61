// NumPy's archive of named arrays (numpy.savez, numpy.savez_compressed).
#pragma once
#include <filesystem>
#include <vector>

#include "core/codec/tensor_bytes.h"

namespace gpubench {

/// In the archive's order, with ".npy" removed from the names. Throws Error naming the file and the array.
std::vector<NamedTensor> read_npz(const std::filesystem::path& path);

}  // namespace gpubench
