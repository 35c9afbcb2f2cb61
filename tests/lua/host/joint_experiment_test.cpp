// An experiment of ours in many processes: every sentence of its rows that does not depend on the machine's speed.
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

std::vector<Row> rows_of(const std::string& csv) {
  std::istringstream text(csv);
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> columns = cells_of(line);
  std::vector<Row> rows;
  while (std::getline(text, line)) {
    const std::vector<std::string> cells = cells_of(line);
    EXPECT_EQ(cells.size(), columns.size()) << line;
    for (rows.emplace_back(); const std::string& cell : cells)
      rows.back()[columns[static_cast<std::size_t>(&cell - cells.data())]] = cell;
  }
  return rows;
}

class JointExperiment : public FolderTest {};

TEST_F(JointExperiment, MultiWorkerHasRowsOfEveryProcessAndTheirEfficiency) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // of the processes: Open MPI keeps memory to the end
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const Ended ended = run_program(
      {"run", "--workers", "2", GPUBENCH_EXPERIMENTS "/multi_worker.lua", "--quick", "--out", "out"}, path());
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::vector<Row> rows = rows_of(read(find("results.csv")));
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row row = rows[i];
    const std::string scaling = i < 2 ? "weak" : "strong";
    EXPECT_EQ(row["status"], "ok") << row["detail"];
    EXPECT_EQ(row["scaling"], scaling);
    EXPECT_EQ(row["process"], std::to_string(i % 2));
    EXPECT_EQ(row["processes"], "2");
    EXPECT_EQ(row["replicas"], "2");
    EXPECT_EQ(row["batch_size"], i < 2 ? "128" : "64");
    EXPECT_GT(std::stod(row["exchange_bytes"]), 0);
    EXPECT_GT(std::stod(row["exchange_time_s"]), 0);
    const std::string value = row[scaling + "_efficiency"], low = row[scaling + "_efficiency_low"];
    if (value.empty() || low.empty()) {  // other tests kept both processors busy
      EXPECT_THAT(row["quality"], testing::StartsWith("unreliable: "));
      continue;
    }
    EXPECT_GT(std::stod(value), 0);
    EXPECT_LE(std::stod(low), std::stod(value));
    EXPECT_GE(std::stod(row[scaling + "_efficiency_high"]), std::stod(value));
  }
}

}  // namespace
}  // namespace gpubench
