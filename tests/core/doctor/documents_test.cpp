// docs/doctor.md lists the checks as the table of core/doctor/doctor.cpp has them.
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/doctor/doctor.h"

namespace gpubench {
namespace {

TEST(DoctorPage, ListsTheChecks) {
  std::vector<std::string> expected, found;
  for (const CheckInfo& one : all_checks()) expected.push_back(fmt::format("| `{}` | {} |", one.name, one.looks_at));
  std::ifstream page("docs/doctor.md");
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `") && !line.starts_with("| `arithmetic`")) found.push_back(line);
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace gpubench
