// One archive of all that a run has left: script, tables, traces, report, charts with their gnuplot files, and
// run.json, which has the versions. Unpacked, it is a folder with results/ and plots/, which all commands read.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/codec/tar.h"

namespace gpubench {

/// The entries of the archive of a run in its folder. `anonymous`: without names of hosts and users, and without paths.
/// Throws Error for a run that a process still writes, and for files that cannot be read.
std::vector<ArchiveEntry> packed_run(const std::filesystem::path& directory, bool anonymous);

/// The name that an archive has by default: "batch_size-20261124T041013Z-vm.tar.gz".
std::string archive_name(const std::vector<ArchiveEntry>& entries);

}  // namespace gpubench
