#include "core/report/archive/pack.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/codec/temporary_name.h"
#include "core/report/archive/anonymous.h"
#include "core/report/chart/draw.h"
#include "core/report/chart/profile_chart.h"
#include "core/report/page/page.h"
#include "core/results/append_file.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

struct PackedFile {
  std::string name;
  std::string bytes;
};

/// `left`: bytes that an archive may still have.
std::string next_file(const fs::path& path, std::size_t& left) {
  std::string bytes;
  try {
    bytes = read_file(path, left);
  } catch (const Error& error) {
    throw Error(fmt::format("pack: {}; all files of a run together may have {}", error.what(), largest_texts));
  }
  left -= bytes.size();
  return bytes;
}

// Neither links nor folders: a script that saves models puts those elsewhere.
std::vector<PackedFile> files_in(const fs::path& folder) {
  std::vector<PackedFile> files;
  std::size_t left = largest_texts;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.symlink_status().type() == fs::file_type::regular && !is_temporary(entry.path().filename().native()))
      files.push_back({entry.path().filename().string(), next_file(entry.path(), left)});
  }
  std::ranges::sort(files, {}, &PackedFile::name);
  return files;
}

std::string page_of(const Run& run, const std::vector<PackedFile>& charts, const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const PackedFile& chart : charts) files.emplace(chart.name, chart.bytes);
  std::vector<DrawnChart> drawn = drawn_before(run, files, folder);
  std::vector<std::string> notes;  // those of run.json are on the page
  std::ranges::move(profile_charts(run.directory, notes), std::back_inserter(drawn));
  return report_page(run, drawn);
}

std::string anonymous_table(const Anonymizer& anonymous, const PackedFile& file) {
  try {
    return anonymous.table(file.bytes);
  } catch (const Error& error) {
    throw Error(fmt::format("pack: {}: {}", file.name, error.what()));
  }
}

void clean_files(const Run& run, const Anonymizer& anonymous, std::vector<PackedFile>& files,
                 std::vector<PackedFile>& charts, const fs::path& folder) {
  for (PackedFile& chart : charts) chart.bytes = anonymous.paths(chart.bytes);
  for (PackedFile& file : files) {
    if (file.name == "run.json")
      file.bytes = to_json(run.info);
    else if (file.name == "report.html")
      file.bytes = page_of(run, charts, folder);
    else if (file.name.ends_with(".csv"))
      file.bytes = anonymous_table(anonymous, file);
    else
      file.bytes = anonymous.text(file.bytes);
  }
}

// For the link in the report.
std::string index_of(const Run& run, const std::string& experiment, const std::string& name) {
  RunSummary summary;
  summary.directory = run.directory;
  summary.experiment = experiment;
  summary.name = name;
  summary.title = run.info.text("title");
  summary.started = run.info.text("started");
  summary.status = run.info.text("status");
  summary.rows = run.records.size();
  summary.info = run.info;
  return index_page({summary});
}

}  // namespace

std::vector<ArchiveEntry> packed_run(const fs::path& directory, bool anonymous) {
  const RunPlace place = place_of_run(directory, "pack");
  Run run = read_run(directory);
  if (run.info.text("status") == unfinished_status || lock_of(directory / "samples.csv") == Lock::held) {
    throw Error(
        fmt::format("pack: a process still writes '{}'; end it first, or wait for its end", directory.string()));
  }
  std::vector<PackedFile> files = files_in(directory);
  std::vector<PackedFile> charts = files_in(plots_root(place.out) / place.experiment / place.name);
  std::string name = place.name.string();
  if (anonymous) {
    const Anonymizer anonymizer(run);
    run = anonymizer.run(run);
    name = anonymizer.run_name();
    clean_files(run, anonymizer, files, charts, place.experiment / name);
  }
  const std::string experiment = place.experiment.string();
  const std::string top = experiment + "-" + name;
  std::vector<ArchiveEntry> entries;
  const auto add = [&](const std::string& folder, PackedFile& file) {
    entries.push_back({fmt::format("{}/{}/{}/{}/{}", top, folder, experiment, name, file.name), std::move(file.bytes)});
  };
  for (PackedFile& chart : charts) add("plots", chart);
  for (PackedFile& file : files) add("results", file);
  entries.push_back({top + "/results/index.html", index_of(run, experiment, name)});
  return entries;
}

std::string archive_name(const std::vector<ArchiveEntry>& entries) {
  const std::string& name = entries.front().name;
  return name.substr(0, name.find('/')) + ".tar.gz";
}

}  // namespace gpubench
