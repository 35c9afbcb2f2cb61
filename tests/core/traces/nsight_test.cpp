#include "core/traces/nsight.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <string>

#include "core/base/error.h"
#include "core/traces/analysis.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

constexpr const char* kernel_table =
    "CREATE TABLE StringIds (id INTEGER, value TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);"
    "INSERT INTO StringIds VALUES (1, 'gemm');";

class Nsight : public TemporaryFolder {
 protected:
  std::filesystem::path database(const std::string& sql) const {
    std::filesystem::remove(file("t.sqlite"));
    sqlite3* made = nullptr;
    EXPECT_EQ(sqlite3_open(file("t.sqlite").c_str(), &made), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(made, ("BEGIN;" + sql + ";COMMIT").c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(made);
    sqlite3_close(made);
    return file("t.sqlite");
  }
  ForeignTrace read_sql(const std::string& sql) const { return read_nsight(database(sql)); }
  /// Without the file's path.
  std::string why_not(const std::filesystem::path& place) const {
    try {
      read_nsight(place);
    } catch (const Error& error) {
      const std::string text = error.what(), start = place.string() + ": ";
      return text.starts_with(start) ? text.substr(start.size()) : "without the file: " + text;
    }
    return "read";
  }
};

TEST_F(Nsight, ReadsWhatItsTablesHave) {
  const ForeignTrace trace =
      read_sql(std::string(kernel_table) +
               "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, nameId, globalTid, correlationId);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 'cudaLaunchKernel', 16777217, 5);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30, 40, 0, 7, 5, 16777216, 1)");
  ASSERT_EQ(trace.device.size(), 1U);
  EXPECT_EQ(trace.text(trace.device.front()), "gemm");
  EXPECT_EQ(trace.device.front().launch, 0U);
}

TEST_F(Nsight, LaunchesOfManyProcessesStayApart) {
  std::string sql = std::string(kernel_table) +
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, nameId, globalTid, correlationId)";
  constexpr int processes = 40;
  for (int p = 1; p <= processes; ++p) {
    const std::string pid = std::to_string(std::int64_t{p} << 24), id = p % 2 == 0 ? "5" : "4294967301";
    sql += ";INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(1000 * p) + "," +
           std::to_string(1000 * p + 10) + ", 'cudaLaunchKernel', " + pid + " + 1, " + id + ")";
    sql += ";INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(1000 * p + 100) + "," +
           std::to_string(1000 * p + 200) + ", 0, 7, " + id + ", " + pid + ", 1)";
  }
  const ForeignTrace trace = read_sql(sql);
  ASSERT_EQ(trace.device.size(), static_cast<std::size_t>(processes));
  for (const DeviceEvent& event : trace.device) {
    ASSERT_NE(event.launch, DeviceEvent::no_launch);
    EXPECT_EQ(event.time.begin - trace.host[event.launch].time.begin, 100);
  }
}

TEST_F(Nsight, OtherDatabasesAreRefusedWithTheirTables) {
  EXPECT_EQ(why_not(database("CREATE TABLE a (b); CREATE TABLE c (d)")),
            "a database, but no export of Nsight Systems: it has the tables a, c");
  EXPECT_EQ(why_not(database("CREATE TABLE rocpd_kernel (b)")),
            "a database of rocprofv3 (rocpd), which is not read yet; torch.profiler and JAX's profiler record the same "
            "GPUs");
  EXPECT_EQ(why_not(database("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start)")),
            "the table CUPTI_ACTIVITY_KIND_KERNEL has no column end: this version of Nsight's export is not known");
  EXPECT_EQ(why_not(write("x.sqlite", "SQLite format 3\0 and more")),
            "cannot be read as a database: file is not a database");
}

TEST_F(Nsight, ViewsAndColumnsThatComputeAreNotRead) {
  EXPECT_EQ(why_not(database("CREATE TABLE a (b); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS"
                             " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                             " SELECT i AS start, i AS end, 0 AS deviceId FROM n")),
            "a database, but no export of Nsight Systems: it has the tables a");
  EXPECT_EQ(why_not(database("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a, end, deviceId,"
                             " start AS (length(hex(zeroblob(100000000)))))")),
            "the table CUPTI_ACTIVITY_KIND_KERNEL has no column start: this version of Nsight's export is not known");
}

TEST_F(Nsight, CutAndChangedFilesAreReadOrRefused) {
  std::string rows;
  for (int i = 0; i < 500; ++i)
    rows += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(100 * i) + ", " +
            std::to_string(100 * i + 50) + ", 0, 7, 0, 0, 1);";
  const std::string bytes = contents(database(kernel_table + rows));
  EXPECT_EQ(why_not(write("x.sqlite", bytes.substr(0, bytes.size() / 2))),
            "cannot be read as a database: database disk image is malformed");
  for (std::size_t at = 100; at < bytes.size(); at += 97) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    const std::filesystem::path place = write("y.sqlite", changed);
    EXPECT_EQ(why_not(place).find("without the file"), std::string::npos) << at;
  }
}

TEST_F(Nsight, ValuesOfAnyKindAreReadOrLeftOut) {
  const std::string insert = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ";
  ForeignTrace trace =
      read_sql(kernel_table + insert + "(10, 20, 0, 7, 0, 0, 99);" + insert + "(20, 10, 0, 7, 0, 0, 1);" + insert +
               "(9223372036854775807, 9223372036854775807, 0, 7, 0, 0, 1);" + insert +
               "(-9223372036854775808, 9223372036854775807, 0, 7, 0, 0, 1);" + insert + "(30, NULL, 0, 7, 0, 0, 1);" +
               insert + "('x', x'00', 'y', NULL, 1e300, -1e300, x'FF');" + insert +
               "(40, 50, -9223372036854775808, 9223372036854775807, -1, -1, NULL)");
  EXPECT_EQ(trace.report.without_time, 4U);
  EXPECT_EQ(trace.device.size(), 3U);
  facts_of(analyse(std::move(trace)));
}

TEST_F(Nsight, TextsAndDevicesHaveLimits) {
  EXPECT_EQ(why_not(database(std::string(kernel_table) + "INSERT INTO StringIds VALUES (2, zeroblob(70000000))")),
            "cannot be read as a database: string or blob too big");
  std::string rows;
  for (int i = 0; i < 300; ++i)
    rows += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, " + std::to_string(i) + ", 7, 0, 0, 1);";
  EXPECT_EQ(why_not(database(kernel_table + rows)), "the trace has more than 256 devices");
}

}  // namespace
}  // namespace gpubench
