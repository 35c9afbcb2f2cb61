// MNIST (IDX files, plain or gzip). Searched for in $GPUBENCH_DATA, else in the user's cache, else the sample that
// comes with gpubench is used: the 10 000 test digits, of which the first 8 000 are "train". The result says which one
// it was. Decoded arrays are kept in memory for the process.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/host_tensor.h"

namespace gpubench {

struct MnistOptions {
  bool flatten = true;  ///< images [784]; else [28, 28, 1]
  bool one_hot = true;  ///< labels float32 [10]; else int64 []
  bool scaled = true;   ///< images float32 in [0, 1]; else uint8
};

/// The origin of the arrays, for run.json.
struct DataOrigin {
  std::string kind;  ///< "GPUBENCH_DATA", "user cache" or "sample"
  std::filesystem::path directory;
  std::int64_t examples = 0;
  std::string checksum;  ///< "crc32:89abcdef" of the decoded images and labels
};

/// A folder that may hold the digits: the first one with any of the files must have all requested ones.
struct MnistFolder {
  std::string kind;
  std::filesystem::path directory;
  /// Holds only the test digits, which are split 8 000 to 2 000.
  bool is_sample = false;
};
/// The folders to search, in order. Throws Error if $GPUBENCH_DATA is set but is no folder.
std::vector<MnistFolder> mnist_folders();

struct Mnist {
  HostTensor images;  ///< [n, 784] or [n, 28, 28, 1]
  HostTensor labels;  ///< [n, 10] or [n]
  DataOrigin origin;
};

/// `split` is "train" or "test". Throws Error for other values, and if files are missing or damaged: a damaged file
/// never leads to the next folder. Thread-safe.
Mnist load_mnist(std::string_view split, const MnistOptions& options = {});
/// The same from given folders, without keeping the arrays.
Mnist load_mnist(std::string_view split, const MnistOptions& options, std::span<const MnistFolder> folders);

}  // namespace gpubench
