// Histories of released schemas are read and go on; samples/schema_N.sql has one of each.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "core/history/history.h"
#include "core/results/append_file.h"
#include "tests/core/history/nights.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::filesystem::path sample_of_schema(int schema) {
  return std::filesystem::path(GPUBENCH_SOURCE_DIR) / "tests/core/history/samples" /
         fmt::format("schema_{}.sql", schema);
}

class OlderFiles : public TemporaryFolder {
 protected:
  std::filesystem::path path() const { return file("history.db"); }
  void make(int schema) const {
    std::filesystem::remove(path());
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    const std::string sql = read_file(sample_of_schema(schema));
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  /// That of a new file.
  int newest_schema() const {
    const RunHistory history(file("new.db"));
    Statement statement = history.database().prepare("PRAGMA user_version");
    return statement.step() ? static_cast<int>(statement.integer(0)) : 0;
  }
};

TEST_F(OlderFiles, OfEverySchemaAreReadAndGoOn) {
  const int newest = newest_schema();
  ASSERT_GT(newest, 0);
  for (int schema = 1; schema <= newest; ++schema) {
    SCOPED_TRACE(sample_of_schema(schema));
    make(schema);
    RunHistory history(path());
    ASSERT_THAT(history.runs("matmul"), SizeIs(2));
    EXPECT_EQ(history.runs()[1].name, "20260902T020000Z-a");
    const auto series = history.series();
    ASSERT_THAT(series, SizeIs(1));
    EXPECT_EQ(series[0].judged, 2) << "what an older program has stored was judged by it";
    std::vector<double> values;
    history.for_each_series(series, [&](const HistorySeries&, const std::vector<HistoryPoint>& points) {
      for (const HistoryPoint& point : points) values.push_back(point.value);
    });
    EXPECT_THAT(values, ElementsAre(0.5, 0.75));
    ASSERT_THAT(history.changes(), SizeIs(1));
    EXPECT_EQ(history.changes()[0].state, ChangeState::open);
    EXPECT_EQ(history.changes()[0].alarm, schema < 3 ? "a-1" : "a-7");
    EXPECT_TRUE(history.append(support::run_of({})));
    EXPECT_THAT(history.runs(), SizeIs(3));
    EXPECT_EQ(history.resolve(history.changes()[0].alarm, "mended", "2026-09-03"), 1u);
  }
}

}  // namespace
}  // namespace gpubench
