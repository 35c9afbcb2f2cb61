#include "core/results/abandoned_run.h"

#include <chrono>

#include "core/results/append_file.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"

namespace gpubench {

bool end_abandoned_run(const std::filesystem::path& directory, const std::string& detail) {
  if (!std::filesystem::exists(directory / "run.json")) return false;
  Run run = read_run(directory);
  if (run.info.text("status") != unfinished_status) return false;
  run.info.set("status", "error");
  run.info.set("detail", detail);
  run.info.set("finished", utc_text(std::chrono::system_clock::now()));
  run.info.set("rows", static_cast<std::int64_t>(run.records.size()));
  replace_file(directory / "run.json", to_json(run.info));
  return true;
}

}  // namespace gpubench
