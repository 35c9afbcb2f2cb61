#include "core/report/page/embedded_charts.h"

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/report/page/page_parts.h"
#include "core/results/append_file.h"

namespace gpubench {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpubench-charts-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Error("charts: no temporary folder: " + std::generic_category().message(errno));
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code left_behind;
    std::filesystem::remove_all(path_, left_behind);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// `info` names the charts in their order.
void embed_scripts(const std::filesystem::path& folder, Drawing& drawing) {
  for (std::size_t i = 0; i < drawing.charts.size(); ++i) {
    const std::string file = drawing.info[i].text("name") + ".gp";
    drawing.charts[i].links = {embedded_file("gnuplot", file, "text/plain", read_file(folder / file))};
  }
}

template <class Draw>
Drawing drawn_in_temporary_folder(Draw&& draw_in) {
  const TemporaryFolder folder;
  Drawing drawing = draw_in(folder.path());
  embed_scripts(folder.path(), drawing);
  return drawing;
}

}  // namespace

Drawing draw_embedded(const Run& run, const std::vector<ChartSpec>& specs) {
  return drawn_in_temporary_folder([&](const std::filesystem::path& folder) { return draw(run, specs, folder, {}); });
}

Drawing draw_embedded(std::vector<Chart> charts) {
  return drawn_in_temporary_folder(
      [&](const std::filesystem::path& folder) { return draw(std::move(charts), folder, {}); });
}

}  // namespace gpubench
