#include "core/compare/foreign/foreign.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/compare/foreign/reader.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::array json_readers = {&google_benchmark_reader, &nvbench_reader, &pytest_benchmark_reader,
                                     &hyperfine_reader, &criterion_reader};

std::vector<MeasuringProcess> read_json(const fs::path& file, const std::string& text) {
  const Info json = json_of_file(file, text);
  std::string known;
  for (const JsonReader* const reader : json_readers) {
    if (reader->recognizes(json)) return reader->read(file, json);
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", reader->writer, reader->features);
  }
  fail(file, fmt::format("JSON of no known program; known are {}", known));
}

std::vector<MeasuringProcess> read_csv(const fs::path& file, const std::string& text) {
  const Table lines = parse_csv(text, fmt::format("compare: {}", file.string()));
  if (lines.empty()) fail(file, "empty; a line with the columns' names was expected");
  const std::vector<std::string>& names = lines.front();
  for (const auto& [separator, word] : {std::pair{';', "semicolons"}, {'\t', "tabs"}})
    if (names.size() == 1 && names.front().find(separator) != std::string::npos)
      fail(file, fmt::format("commas between fields were expected, not {}", word));
  if (lines.size() == 1) fail(file, "no line follows the columns' names");
  for (std::size_t row = 1; row < lines.size(); ++row) {
    if (lines[row].size() == names.size()) continue;
    check_is_measured(file, lines[row]);  // lines may stand above it
    fail(file, fmt::format("row {} has {} fields; the header has {}", row, lines[row].size(), names.size()));
  }
  return is_nvbench_table(names) ? read_nvbench_table(file, lines) : read_table(file, lines);
}

/// Files of a folder and of those below it, in the order of their names. Hidden ones are left out.
std::vector<fs::path> files_below(const fs::path& folder) {
  constexpr int deepest = 8;
  std::vector<fs::path> files;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error); entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (error) fail(folder, error.message());
    if (is_turn_of_script()) check_interrupt();
    const bool is_hidden = entry->path().filename().native().starts_with('.');
    if (is_hidden || entry.depth() >= deepest) entry.disable_recursion_pending();
    if (is_hidden || !is_foreign(entry->path()) || !entry->is_regular_file()) continue;
    files.push_back(entry->path());
    check_process_count(files.size(), folder);
  }
  if (error) fail(folder, error.message());
  std::ranges::sort(files);
  return files;
}

bool is_estimates(const fs::path& file) {
  return file.filename() == "estimates.json";
}

/// Files that Criterion writes beside its estimates.
bool is_of_criterion(const fs::path& file) {
  constexpr std::array<std::string_view, 4> names = {"benchmark.json", "sample.json", "tukey.json", "raw.csv"};
  return is_estimates(file) || std::ranges::find(names, file.filename()) != names.end();
}

}  // namespace

bool is_foreign(const fs::path& file) {
  return file.extension() == ".csv" || file.extension() == ".json";
}

std::vector<MeasuringProcess> read_foreign(const fs::path& file) {
  const std::string text = text_of_file(file);
  return file.extension() == ".csv" ? read_csv(file, text) : read_json(file, text);
}

void read_foreign_folder(const fs::path& folder, const std::function<void(MeasuringProcess)>& add) {
  std::vector<fs::path> files = files_below(folder), estimates;
  std::ranges::copy_if(files, std::back_inserter(estimates), is_estimates);
  if (!estimates.empty()) {
    for (MeasuringProcess& process : read_criterion_folder(folder, estimates)) add(std::move(process));
    std::erase_if(files, is_of_criterion);
  }
  for (const fs::path& file : files) {
    for (MeasuringProcess& process : read_foreign(file)) {
      if (process.name == file.filename()) process.name = file.lexically_relative(folder).string();
      add(std::move(process));
    }
  }
}

}  // namespace gpubench
