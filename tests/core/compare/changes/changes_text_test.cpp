#include "core/compare/changes/changes_text.h"

#include <gtest/gtest.h>
#include <sstream>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

TEST(ChangesText, HasALinePerSeries) {
  std::string values;
  for (int i = 0; i < 40; ++i) values += (i < 30 ? "1" : "2") + std::string(i == 10 ? "0, " : ", ");
  std::istringstream in("{\"id\": \"step\", \"values\": [" + values + "2]}\n{\"id\": 7, \"values\": [1]}\n");
  EXPECT_EQ(changes_text(in, "f"),
            "{\"id\": \"step\", \"changes\": [30], \"alarms\": [35], \"outliers\": [10]}\n"
            "{\"id\": 7, \"changes\": [], \"alarms\": [], \"outliers\": []}\n");
}

TEST(ChangesText, NamesTheFile) {
  std::istringstream in("{}\n");
  EXPECT_ERROR("changes: f: line 1: no 'id'", changes_text(in, "changes: f"));
}

}  // namespace
}  // namespace gpubench
