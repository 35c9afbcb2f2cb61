// JUnit's XML, which servers that watch builds read: the claims of a run, and the rows of a comparison.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace gpubench {

enum class TestOutcome { passed, failed, error, skipped };

struct TestCase {
  std::string classname;
  std::string name;
  TestOutcome outcome = TestOutcome::passed;
  /// Why it has not passed.
  std::string message = {};
};

std::string junit_suite(std::string_view name, std::string_view timestamp, std::span<const TestCase> cases);

}  // namespace gpubench
