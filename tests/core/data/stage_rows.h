// Every stage over a source of numbers(): what tests that hold for all stages go through.
#pragma once
#include <filesystem>
#include <functional>
#include <ostream>
#include <span>

#include "core/data/dataset.h"

namespace gpubench {

struct StageRow {
  const char* name;  ///< the stage's, perhaps with more after a space
  std::function<DatasetPtr(DatasetPtr numbers)> make;
  /// Whether an element that the source cannot make costs no others: no batches, no neighbours.
  bool element_wise = false;
};

void PrintTo(const StageRow& row, std::ostream* out);
std::span<const StageRow> stage_rows();
/// The row's name as a test's.
std::string test_name(const StageRow& row);
/// Where the row of a cache in a file has it.
std::filesystem::path stage_cache_path();

}  // namespace gpubench
