// Paths as elements, for pipelines over whole files. Each is a uint8[?] of the path's bytes.
//
//   map(list_files({"digits/*.png"}), read_file())
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

struct FileOrder {
  bool shuffle = false;  ///< another order in every epoch; else as listed
  std::uint64_t seed = 0;
};

/// The matching files, sorted, without duplicates. Throws Error if a pattern matches nothing.
DatasetPtr list_files(std::span<const std::string> patterns, const FileOrder& order = {});

/// Elements (uint8[?] path, int64 label), one label per path.
DatasetPtr labelled_files(std::vector<std::string> paths, std::vector<std::int64_t> labels,
                          const FileOrder& order = {});

/// "files=3 names=1f2e3d4c": identifies the files in a stage's settings.
std::string file_settings(std::span<const std::string> paths);

}  // namespace gpubench
