// The main program of a folder's tests. tests/run starts it once for all cases and sets
//   GPUBENCH_TESTS_REPORT   the file that gets a line for each case, in the form of CTest's JUnit report. It is
//                           written as the cases run: the one that ends the program stands there without a status.
//   GPUBENCH_TESTS_FOLDER   what stands before the names of the cases, such as "core/base/"
//   GPUBENCH_TESTS_FILTER, GPUBENCH_TESTS_EXCLUDE   extended regular expressions of the names to run and not to run
// Without them it is GoogleTest's own.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <gtest/gtest.h>
#include <memory>
#include <regex>
#include <string>

namespace {

constexpr std::time_t limit_seconds = 300;  // of one case

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string name_of(const testing::TestInfo& info) {
  return environment("GPUBENCH_TESTS_FOLDER") + info.test_suite_name() + "." + info.name();
}

std::string xml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += c;
  }
  return escaped;
}

class Report : public testing::EmptyTestEventListener {
 public:
  explicit Report(const std::string& file) : file_{std::fopen(file.c_str(), "w")} {
    if (file_ == nullptr) throw std::runtime_error{"cannot write the report " + file};
    std::setvbuf(file_.get(), nullptr, _IOLBF, 0);
    sigevent at_the_limit{};
    at_the_limit.sigev_notify = SIGEV_SIGNAL;
    at_the_limit.sigev_signo = SIGABRT;
    if (timer_create(CLOCK_MONOTONIC, &at_the_limit, &timer_) != 0) throw std::runtime_error{"timer_create failed"};
  }

  void OnTestStart(const testing::TestInfo& info) override {
    limit(limit_seconds);
    std::fprintf(file_.get(), "<testcase name=\"%s\"\n", xml(name_of(info)).c_str());
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    limit(0);
    const testing::TestResult& result = *info.result();
    const char* const status = result.Failed() ? "fail" : result.Skipped() ? "notrun" : "run";
    std::fprintf(file_.get(), " time=\"%.3f\" status=\"%s\"><system-out>\n",
                 static_cast<double>(result.elapsed_time()) / 1000, status);
    for (int i = 0; i < result.total_part_count(); ++i) {
      const testing::TestPartResult& part = result.GetTestPartResult(i);
      std::fprintf(file_.get(), "%s:%d: %s\n%s\n", part.file_name() == nullptr ? "?" : part.file_name(),
                   part.line_number(), part.skipped() ? "Skipped" : "Failure", xml(part.message()).c_str());
    }
    std::fputs("</system-out></testcase>\n", file_.get());
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void limit(std::time_t seconds) {
    itimerspec time{};
    time.it_value.tv_sec = seconds;
    timer_settime(timer_, 0, &time, nullptr);
  }

  std::unique_ptr<std::FILE, Close> file_;
  timer_t timer_{};
};

constexpr const char* none = "-*";  // GoogleTest runs everything for an empty filter and for "-"

/// Sets GoogleTest's filter to the cases that were asked for.
void select(const std::string& filter, const std::string& exclude) {
  const std::regex wanted{filter, std::regex::extended}, unwanted{exclude, std::regex::extended};
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::string names = none;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& info = *suite.GetTestInfo(t);
      const std::string name = name_of(info);
      if (!std::regex_search(name, wanted) || (!exclude.empty() && std::regex_search(name, unwanted))) continue;
      if (names == none) names.clear();
      names += std::string{suite.name()} + "." + info.name() + ":";
    }
  }
  testing::GTEST_FLAG(filter) = names;
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  const std::string filter = environment("GPUBENCH_TESTS_FILTER"), exclude = environment("GPUBENCH_TESTS_EXCLUDE");
  if (!filter.empty() || !exclude.empty()) select(filter, exclude);
  if (const std::string file = environment("GPUBENCH_TESTS_REPORT"); !file.empty()) {
    testing::UnitTest::GetInstance()->listeners().Append(new Report{file});
  }
  return RUN_ALL_TESTS();
}
