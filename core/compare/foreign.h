// Results of other programs: CSV with named columns, Google Benchmark's JSON, hyperfine's JSON.
#pragma once
#include <filesystem>
#include <vector>

#include "core/compare/side.h"

namespace gpubench {

/// Whether it is a file that may be one of these: it ends with .csv or .json.
bool is_foreign(const std::filesystem::path& file);

/// - CSV: columns of text, settings and integers without a known unit are axes, other numbers are figures with the unit
///   of their name's ending. A column `process` or `run` says which process a line is of; without it all are of one.
/// - Google Benchmark: one process; its repetitions are repeats.
/// - hyperfine: each of `times` is a process.
/// Throws Error with the file's name for a file that is empty, cut, or none of these.
std::vector<MeasuringProcess> read_foreign(const std::filesystem::path& file);

}  // namespace gpubench
