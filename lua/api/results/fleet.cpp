// gb._native.fleet: who stands out tonight, for the command `fleet`.
//
//   judge { files, out, suite, hosts, format, file, wide }
//     reads the histories, or that of `out` where there are none, and returns { text, headline, status, left_out }:
//     what to print, the verdict, the exit status without regard to `left_out`, the reasons for files that were not
//     read. With `file`, the text is written there
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/fleet/verdict.h"
#include "core/report/page/fleet_page.h"
#include "core/report/text/fleet_text.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

struct FleetOptions {
  std::vector<std::string> files, hosts;
  std::string out = ".", suite, format = "text", file;
  bool wide = false;
  static constexpr auto fields =
      std::tuple{field("files", &FleetOptions::files), field("hosts", &FleetOptions::hosts),
                 field("out", &FleetOptions::out),     field("suite", &FleetOptions::suite),
                 field("file", &FleetOptions::file),   field("format", &FleetOptions::format),
                 field("wide", &FleetOptions::wide)};
};

/// Of a folder its history.
std::filesystem::path history_in(const std::string& given) {
  std::error_code error;
  return std::filesystem::is_directory(given, error) ? history_file(given) : std::filesystem::path(given);
}

/// Opening would make a file that is not there.
void check_file(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw Error(fmt::format("fleet: there is no history '{}'; 'gpubench nightly SUITE' makes one", file.string()));
  if (!std::filesystem::is_regular_file(file, error))
    throw Error(fmt::format("fleet: '{}' is no file; a history is the file results/history.db", file.string()));
  if (std::filesystem::file_size(file, error) == 0)
    throw Error(fmt::format("fleet: '{}' is empty, and no history", file.string()));
}

/// A history that may not be written, such as one on a share: SQLite writes beside a file also when it reads it. Nobody
/// writes such a file, so a copy is whole.
class Copy {
 public:
  explicit Copy(const std::filesystem::path& file) {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpubench-fleet-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Error(fmt::format("fleet: no folder '{}' can be made for a copy of '{}'", pattern, file.string()));
    folder_ = pattern;
    for (const char* const ending : {"", "-wal"}) {
      const std::filesystem::path from = file.string() + ending;
      if (!std::filesystem::exists(from)) continue;
      const std::filesystem::path to = path().string() + ending;
      std::filesystem::copy_file(from, to);
      std::filesystem::permissions(to, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
  }
  ~Copy() {
    std::error_code left_behind;
    std::filesystem::remove_all(folder_, left_behind);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  std::filesystem::path path() const { return folder_ / "history.db"; }

 private:
  std::filesystem::path folder_;
};

bool is_writable(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  return ::access(file.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK) == 0;
}

void read_history(FleetReader& reader, const std::filesystem::path& file) {
  if (is_writable(file)) return reader.add(RunHistory(file));
  const Copy copy(file);
  reader.add(RunHistory(copy.path()));
}

/// Reads each file once; returns why some were not read.
std::vector<std::string> read_all(FleetReader& reader, const FleetOptions& options) {
  std::vector<std::string> files = options.files, left_out;
  if (files.empty()) files.push_back(options.out);
  std::set<std::filesystem::path> seen;
  for (const std::string& given : files) {
    const std::filesystem::path file = history_in(given);
    try {
      check_file(file);
      if (seen.insert(std::filesystem::canonical(file)).second) read_history(reader, file);
    } catch (const std::filesystem::filesystem_error& error) {
      left_out.push_back(fmt::format("fleet: '{}': {}", file.string(), error.code().message()));
    } catch (const Error& error) {
      const std::string reason = error.what();
      left_out.push_back(
          reason.find(file.string()) == std::string::npos ? fmt::format("'{}': {}", file.string(), reason) : reason);
    }
  }
  return left_out;
}

std::string text_of(const Info& verdict, const FleetOptions& options) {
  if (options.format == "json") return to_json(verdict);
  if (options.format == "csv") return fleet_csv(verdict);
  if (options.format == "html") return fleet_page(verdict, fleet_csv(verdict));
  return fleet_text(verdict, options.wide);
}

Info judge_fleet(const FleetOptions& options) {
  FleetReader reader;
  const std::vector<std::string> left_out = read_all(reader, options);
  Info::List reasons(left_out.begin(), left_out.end());
  const std::size_t files = std::max<std::size_t>(options.files.size(), 1);
  if (left_out.size() == files) return Info::Fields{{"status", 2}, {"left_out", std::move(reasons)}};
  const Info verdict = fleet_verdict(fleet_of(reader, options.suite), options.hosts);
  std::string text = text_of(verdict, options);
  if (!options.file.empty()) {
    replace_file(options.file, text);
    text.clear();
  }
  const FleetState state = fleet_states.parse(verdict.text("state"));
  return Info::Fields{{"text", std::move(text)},
                      {"headline", verdict.text("headline")},
                      {"status", state == FleetState::calm         ? 0
                                 : state == FleetState::stands_out ? 1
                                                                   : 3},
                      {"left_out", std::move(reasons)}};
}

}  // namespace

void open_fleet(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.submodule("fleet").function<&judge_fleet>("judge");
}

}  // namespace gpubench::lua
