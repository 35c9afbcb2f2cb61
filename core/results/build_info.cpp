#include "core/results/build_info.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace gpubench {

// Defined by the source that cmake/Commit.cmake writes at every build; empty outside a Git checkout.
extern const char* const built_commit;

namespace {

/// The entries "part=libraries" that cmake/Versions.cmake has found, joined by '|'.
Info built_libraries() {
  Info libraries;
  for (std::string_view rest = GPUBENCH_LIBRARIES; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('|'));
    const std::size_t equals = entry.find('=');
    libraries.set(entry.substr(0, equals), std::string(entry.substr(equals + 1)));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return libraries;
}

}  // namespace

Info build_info() {
  Info info;
  info.set("version", GPUBENCH_VERSION);
  if (*built_commit != '\0') info.set("commit", built_commit);
  info.set("compiler", "GCC " __VERSION__);
  info.set("build", GPUBENCH_BUILD);
  info.set("libraries", built_libraries());
  return info;
}

std::string build_text() {
  const Info info = build_info();
  const std::string commit = info.text("commit");
  std::string text = fmt::format("gpubench {}\n", info.text("version"));
  text += fmt::format("{:<11}{}\n", "commit", commit.empty() ? "unknown: built outside a Git checkout" : commit);
  text += fmt::format("{:<11}{}, {}", "build", info.text("build"), info.text("compiler"));
  const Info libraries = built_libraries();
  for (const auto& [part, names] : *libraries.fields()) {
    text += fmt::format("\n{:<11}{}", part, libraries.text(part));
  }
  return text;
}

}  // namespace gpubench
