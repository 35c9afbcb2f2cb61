// gb._native.fleet: who stands out tonight, for the command `fleet`.
//
//   judge { files, out, suite, hosts, format, file, wide }
//     reads the histories, or that of `out` where there are none, and returns { text, headline, status, left_out }:
//     what to print, the verdict, the exit status without regard to `left_out`, the reasons for files that were not
//     read. With `file`, the text is written there
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/fleet/verdict.h"
#include "core/report/fleet_page.h"
#include "core/report/fleet_text.h"
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

/// Reads each file once; returns why some were not read.
std::vector<std::string> read_all(FleetReader& reader, const FleetOptions& options) {
  std::vector<std::string> files = options.files, left_out;
  if (files.empty()) files.push_back(options.out);
  std::set<std::filesystem::path> seen;
  for (const std::string& given : files) {
    const std::filesystem::path file = history_in(given);
    try {
      check_file(file);
      if (seen.insert(std::filesystem::canonical(file)).second) reader.add(RunHistory(file));
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
  const FleetState state = state_of(verdict);
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
