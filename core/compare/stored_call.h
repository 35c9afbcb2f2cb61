// How a stored run is measured again: by the copy of its script, with those of its options that decide what is
// measured. The one place where words of a run, which may come from others, become words of a command line.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/info.h"

namespace gpubench {

struct StoredCall {
  /// script.lua beside the run; relative where it is below the working folder.
  std::filesystem::path script;
  /// Each is one word that is checked: "--quick", "--set=n=1,2".
  std::vector<std::string> options;
  /// Names of the run's other options, such as --trusted, each once.
  std::vector<std::string> left_out;
};

/// `run`: its folder; `info`: its run.json. Throws Error with the reason for a run that cannot be measured again.
StoredCall stored_call(const std::filesystem::path& run, const Info& info);

/// An option of `gpubench run`.
struct StoredOption {
  /// left_out: it decides where results go and what is said of them, or what the script may do.
  /// refused: without it another thing would be measured, with it words of others would name files or start processes.
  enum class Fate : std::uint8_t { repeated, left_out, refused };
  std::string_view name;
  Fate fate = Fate::left_out;
  /// What its value is, for messages; empty for an option without a value.
  std::string_view value = {};
  bool (*fits)(std::string_view value) = nullptr;
};

/// All of them; a test compares them with the command line.
std::span<const StoredOption> stored_options();

}  // namespace gpubench
