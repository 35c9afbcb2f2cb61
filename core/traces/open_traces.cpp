#include "core/traces/open_traces.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/codec/byte_source.h"
#include "core/codec/checksum.h"
#include "core/codec/tar.h"
#include "core/traces/chrome_trace.h"
#include "core/traces/nsight.h"
#include "core/traces/xplane.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

enum class FileFormat : std::uint8_t { none, json, xplane, sqlite, zstd, nsight_report, perfetto, damaged_text, tar };

constexpr std::uint64_t largest_xplane = std::uint64_t{1} << 30;
constexpr std::size_t most_files = 10'000;

/// What is read without: gzip is unpacked.
std::string start_of(const fs::path& file) {
  constexpr std::size_t length = 512;
  std::string start(length, '\0');
  std::unique_ptr<ByteSource> source = open_source(file);
  std::size_t used = 0;
  try {
    while (used < length) {
      const std::size_t got = source->read_some(std::as_writable_bytes(std::span(start.data() + used, length - used)));
      if (got == 0) break;
      used += got;
    }
  } catch (const Error&) {
    // Damaged from the start on; what was read says what it is.
  }
  start.resize(used);
  return start;
}

bool may_hold_trace(std::string_view name) {
  const std::string_view file = name.substr(name.rfind('/') + 1);
  return file != "run.json" && (file.ends_with(".json") || file.ends_with(".json.gz") || file.ends_with(".pb"));
}

/// Whether the first header of the archive (POSIX.1-2001, "ustar Interchange Format") is of a trace or a folder.
bool is_tar_of_traces(std::string_view start) {
  constexpr std::size_t name_length = 100, type_at = 156, magic_at = 257, header = 512;
  if (start.size() < header || start.substr(magic_at, 5) != "ustar") return false;
  const std::string_view name = start.substr(0, std::min(start.find('\0'), name_length));
  return start[type_at] == '5' || may_hold_trace(name);
}

FileFormat format_of(const fs::path& file) {
  const std::string start = start_of(file);
  if (is_tar_of_traces(start)) return FileFormat::tar;
  if (start.starts_with("SQLite format 3")) return FileFormat::sqlite;
  if (start.starts_with("\x28\xB5\x2F\xFD")) return FileFormat::zstd;
  if (is_xplane(std::as_bytes(std::span(start)))) return FileFormat::xplane;
  const std::string extension = file.extension().string();
  if (extension == ".nsys-rep" || extension == ".qdrep") return FileFormat::nsight_report;
  if (extension == ".pftrace" || extension == ".perfetto-trace") return FileFormat::perfetto;
  if (start.starts_with("\x0A") && start.find("\xEF\xBF\xBD") != std::string::npos &&
      (start.find("/host:") != std::string::npos || start.find("/device:") != std::string::npos))
    return FileFormat::damaged_text;
  std::string_view text = start;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \n\t\r");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return FileFormat::none;
  const std::size_t second = text.find_first_not_of(" \n\t\r", first + 1);
  // What is in a list of events or the first field of an object.
  if (second == std::string_view::npos) return FileFormat::json;
  return text[first] == '[' ? (text[second] == '{' || text[second] == ']' ? FileFormat::json : FileFormat::none)
                            : (text[second] == '"' || text[second] == '}' ? FileFormat::json : FileFormat::none);
}

std::string shown(const fs::path& file) {
  return shown_text(file.string(), 300);
}

std::vector<std::byte> whole_file(const fs::path& file) {
  std::unique_ptr<ByteSource> source = open_source(file);
  std::vector<std::byte> bytes;
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (true) {
    const std::size_t used = bytes.size();
    if (used > largest_xplane) throw Error(fmt::format("{} is larger than 1 GiB: profile fewer steps", shown(file)));
    bytes.resize(used + piece);
    const std::size_t got = source->read_some(std::span(bytes).subspan(used));
    bytes.resize(used + got);
    if (got == 0) return bytes;
  }
}

ForeignTrace open_xplane(const fs::path& file) {
  const std::vector<std::byte> bytes = whole_file(file);
  try {
    return read_xplane(file.string(), bytes);
  } catch (const Error& error) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.find("\xEF\xBF\xBD") == std::string_view::npos)
      throw Error(fmt::format("{}: {}", shown(file), error.what()));
    throw Error(fmt::format(
        "{} is damaged: {}. It has the bytes ef bf bd, which stand for others after a copy as text: copy it again as "
        "binary",
        shown(file), error.what()));
  }
}

/// The traces of several ranks in one archive.
std::vector<ForeignTrace> open_archive(const fs::path& file) {
  std::vector<ForeignTrace> ranks;
  for (const ArchiveEntry& entry : read_archive(file, may_hold_trace)) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(entry.bytes));
    const std::string name = file.string() + ":" + entry.name;
    if (is_xplane(bytes)) {
      ranks.push_back(read_xplane(name, bytes));
      continue;
    }
    std::unique_ptr<ByteSource> source = std::make_unique<ByteSpanSource>(name, bytes);
    if (entry.bytes.starts_with("\x1F\x8B")) source = std::make_unique<InflateSource>(std::move(source));
    for (ForeignTrace& rank : read_chrome_trace(std::move(source))) ranks.push_back(std::move(rank));
  }
  if (ranks.empty())
    throw Error(fmt::format("{} has no trace: no file in it ends with .json, .json.gz or .pb", shown(file)));
  return ranks;
}

std::vector<ForeignTrace> open_file(const fs::path& file) {
  switch (format_of(file)) {
    case FileFormat::json:
      return read_chrome_trace(open_source(file));
    case FileFormat::xplane: {
      std::vector<ForeignTrace> one;
      one.push_back(open_xplane(file));
      return one;
    }
    case FileFormat::sqlite: {
      std::vector<ForeignTrace> one;
      one.push_back(read_nsight(file));
      return one;
    }
    case FileFormat::tar:
      return open_archive(file);
    case FileFormat::zstd:
      throw Error(fmt::format("{} is packed with zstd; unpack it: zstd -d FILE", shown(file)));
    case FileFormat::nsight_report:
      throw Error(fmt::format("{} is a report of Nsight Systems; export it: nsys export --type sqlite {}", shown(file),
                              shown_text(file.filename().string())));
    case FileFormat::perfetto:
      throw Error(
          fmt::format("{} is a trace of Perfetto, which is not read; the profilers of PyTorch and JAX write "
                      "JSON and XPlane, rocprofv3's ROCm traces come from torch.profiler too",
                      shown(file)));
    case FileFormat::damaged_text:
      throw Error(
          fmt::format("{} is damaged: it has the bytes ef bf bd, which stand for others after a copy as text: "
                      "copy it again as binary",
                      shown(file)));
    case FileFormat::none:
      break;
  }
  throw Error(
      fmt::format("{} is no trace: known are the JSON of torch.profiler and of JAX's and TensorFlow's profiler "
                  "(also .gz), XPlane (.xplane.pb), and Nsight Systems' SQLite export",
                  shown(file)));
}

/// The files of a folder, in order, with those of the folders below.
std::vector<fs::path> files_below(const fs::path& folder, std::vector<std::string>& notes) {
  std::vector<fs::path> files;
  std::error_code error;
  auto place = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && place != fs::recursive_directory_iterator(); place.increment(error)) {
    if (!place->is_regular_file(error)) continue;
    if (files.size() < most_files) {
      files.push_back(place->path());
      continue;
    }
    notes.push_back(fmt::format("{} has more than {} files; the others were not looked at", shown(folder), most_files));
    break;
  }
  std::ranges::sort(files);
  return files;
}

/// JAX's JSON is the same data cut at a million events.
bool has_better_copy(const fs::path& file, const std::set<fs::path>& all) {
  const std::string name = file.filename().string();
  for (const std::string_view ending : {".trace.json.gz", ".trace.json"}) {
    if (!name.ends_with(ending)) continue;
    return all.contains(file.parent_path() / (name.substr(0, name.size() - ending.size()) + ".xplane.pb"));
  }
  return name == "perfetto_trace.json.gz" && std::ranges::any_of(all, [&](const fs::path& one) {
           return one.parent_path() == file.parent_path() && one.string().ends_with(".xplane.pb");
         });
}

std::pair<std::uint64_t, std::uint32_t> fingerprint(const fs::path& file) {
  FileSource source(file);
  const std::uint64_t size = source.left_at_most();
  std::vector<std::byte> piece(std::size_t{1} << 20);
  std::uint32_t sum = 0;
  while (const std::size_t got = source.read_some(piece))
    sum = crc32_of(std::span<const std::byte>(piece).first(got), sum);
  return {size, sum};
}

/// Two ranks of one run have different numbers.
void note_ranks_of_several_runs(OpenedTraces& opened) {
  std::map<std::pair<int, std::string>, const ForeignTrace*> ranks;
  for (const ForeignTrace& one : opened.ranks) {
    if (one.rank < 0) continue;
    const auto [place, is_new] = ranks.try_emplace({one.rank, one.machine}, &one);
    if (!is_new)
      opened.notes.push_back(fmt::format("{} and {} are both rank {}: they may be of different runs",
                                         shown(place->second->file), shown(one.file), one.rank));
  }
  const auto has_size = [](const ForeignTrace& one) { return one.world_size > 0; };
  const auto first = std::ranges::find_if(opened.ranks, has_size);
  if (first == opened.ranks.end()) return;
  const auto other = std::ranges::find_if(
      opened.ranks, [&](const ForeignTrace& one) { return has_size(one) && one.world_size != first->world_size; });
  if (other != opened.ranks.end())
    opened.notes.push_back(fmt::format("{} is of {} ranks, {} of {}: they are of different runs", shown(first->file),
                                       first->world_size, shown(other->file), other->world_size));
}

bool is_run(const fs::path& place) {
  std::error_code error;
  return fs::exists(place / "run.json", error) || fs::exists(place / "results.csv", error);
}

}  // namespace

bool is_trace(const fs::path& place) {
  std::error_code error;
  if (fs::is_directory(place, error)) {
    if (is_run(place) || fs::is_directory(place / "results", error)) return false;
    std::vector<std::string> notes;
    const std::vector<fs::path> files = files_below(place, notes);
    const bool holds_run = std::ranges::any_of(
        files, [](const fs::path& file) { return file.filename() == "run.json" || file.filename() == "results.csv"; });
    return !holds_run && std::ranges::any_of(files, [](const fs::path& file) { return is_trace(file); });
  }
  if (!fs::is_regular_file(place, error)) return false;
  try {
    return format_of(place) != FileFormat::none;
  } catch (const Error&) {
    return false;
  }
}

OpenedTraces open_traces(const std::vector<fs::path>& places) {
  OpenedTraces opened;
  std::vector<std::pair<fs::path, bool>> files;  // and whether the user named it
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::is_directory(place, error)) {
      if (fs::exists(place, error) && !fs::is_regular_file(place, error))
        throw Error(fmt::format("explain: {} is neither a file nor a folder", shown(place)));
      files.emplace_back(place, true);
      continue;
    }
    for (fs::path& file : files_below(place, opened.notes)) files.emplace_back(std::move(file), false);
  }
  std::set<fs::path> all;
  for (const auto& [file, is_named] : files) all.insert(file);
  std::map<std::pair<std::uint64_t, std::uint32_t>, fs::path> known;
  std::size_t others = 0;
  std::string first_error;
  for (const auto& [file, is_named] : files) {
    if (!is_named && !is_trace(file)) {
      ++others;
      continue;
    }
    if (!is_named && has_better_copy(file, all)) {
      opened.notes.push_back(
          fmt::format("{} was left out: the .xplane.pb beside it has the same and more", shown(file)));
      continue;
    }
    if (files.size() > 1) {
      const auto [place, is_new] = known.try_emplace(fingerprint(file), file);
      if (!is_new) {
        opened.notes.push_back(
            fmt::format("{} was left out: it has the same bytes as {}", shown(file), shown(place->second)));
        continue;
      }
    }
    try {
      for (ForeignTrace& rank : open_file(file)) opened.ranks.push_back(std::move(rank));
    } catch (const Error& error) {
      if (is_named && places.size() == 1) throw;
      opened.notes.push_back(fmt::format("left out: {}", error.what()));
      if (first_error.empty()) first_error = error.what();
    }
  }
  if (others > 0)
    opened.notes.push_back(
        fmt::format("{} other file{} left out, as no traces", others, others == 1 ? " was" : "s were"));
  note_ranks_of_several_runs(opened);
  if (opened.ranks.empty())
    throw Error(first_error.empty()
                    ? fmt::format("explain: no trace in {}", places.empty() ? "nothing" : shown(places.front()))
                    : first_error);
  return opened;
}

}  // namespace gpubench
