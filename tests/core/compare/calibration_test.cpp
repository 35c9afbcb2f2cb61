#include "core/compare/calibration.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/core/compare/sides.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

Side recorded(double spread, std::size_t processes, const std::string& device = "a GPU") {
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (std::size_t i = 0; i < processes; ++i) values.push_back(std::exp(spread * normal(engine)));
  Side side = side_with("s", "step_time_s", values);
  for (MeasuringProcess& process : side.processes)
    process.info.set("devices", Info::List{Info::Fields{{"name", "gpu:0"}, {"description", device}}});
  return side;
}

constexpr std::size_t few_trials = 100;

using CalibrationFiles = TemporaryFolder;

Calibration made_by_hand(const std::string& experiment) {
  const CalibratedSize size{.processes = 10, .false_positive_rate = 0.001};
  return {.machine = "gpu:0 a GPU",
          .figures = {{.experiment = experiment,
                       .figure = "step_time_s",
                       .noise = 0.01,
                       .rows = 1,
                       .processes = 20,
                       .sizes = {size}}}};
}

TEST(Calibration, QuietProcessesShowSmallChanges) {
  const Calibration quiet = calibrate(recorded(0.002, 30), {}, few_trials);
  EXPECT_EQ(quiet.machine, "gpu:0 a GPU");
  ASSERT_EQ(quiet.figures.size(), 1u);
  const CalibratedFigure& figure = quiet.figures[0];
  EXPECT_EQ(figure.experiment, "e");
  EXPECT_EQ(figure.figure, "step_time_s");
  EXPECT_EQ(figure.processes, 30u);
  EXPECT_NEAR(figure.noise, 1.35 * 0.002, 0.001);
  ASSERT_EQ(figure.sizes.size(), 3u);
  EXPECT_LE(figure.sizes[0].false_positive_rate, 0.01);
  EXPECT_GE(figure.sizes[1].found_2, 0.95);
  ASSERT_TRUE(figure.sizes[1].visible);
  EXPECT_LT(*figure.sizes[1].visible, 0.02);
}

TEST(Calibration, NoisyProcessesHideThem) {
  const CalibratedSize noisy = calibrate(recorded(0.03, 30), {}, few_trials).figures.at(0).sizes.at(1);
  EXPECT_LT(noisy.found_1, 0.1);
  EXPECT_LT(noisy.found_2, 0.3);
  EXPECT_TRUE(!noisy.visible || *noisy.visible > 0.04);
}

TEST(Calibration, NeedsManyProcessesOfOneTypeOfMachine) {
  EXPECT_ERROR(HasSubstr("no row that 14 processes have measured"), calibrate(recorded(0.01, 13), {}, few_trials));
  Side mixed = recorded(0.01, 20);
  mixed.processes[0] = recorded(0.01, 1, "another").processes[0];
  EXPECT_ERROR(HasSubstr("not all of one known type of machine"), calibrate(mixed, {}, few_trials));
}

TEST_F(CalibrationFiles, OfManyProgramsAtOnceAreAllStored) {
  const Side side = recorded(0.002, 30);
  std::vector<pid_t> programs(12);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    programs[i] = ::fork();
    if (programs[i] != 0) continue;
    try {
      store_calibration(made_by_hand(std::to_string(i)), file(""));
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t program : programs) {
    int status = 0;
    ::waitpid(program, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const StoredCalibration stored(std::vector<Side>{side}, file(""));
  for (std::size_t i = 0; i < programs.size(); ++i)
    EXPECT_TRUE(stored.limits_of({.experiment = std::to_string(i)}, column_of("step_time_s"), 12).false_positive_rate)
        << i;
}

TEST_F(CalibrationFiles, AreNotWrittenBehindALink) {
  std::filesystem::create_directory(file("elsewhere"));
  std::filesystem::create_directory_symlink("elsewhere", file("calibration"));
  EXPECT_ERROR(HasSubstr("calibration' is a link"), store_calibration(made_by_hand("e"), file("")));
  EXPECT_TRUE(std::filesystem::is_empty(file("elsewhere")));
}

TEST_F(CalibrationFiles, LimitsAreThoseOfTheMachineTheExperimentAndTheFigure) {
  const Side side = recorded(0.002, 30);
  const Calibration calibration = calibrate(side, {}, few_trials);
  store_calibration(calibration, file(""));
  store_calibration(calibration, file(""));  // replaces
  const std::vector<Side> sides{side};
  const StoredCalibration stored(sides, file(""));
  const CalibratedFigure& figure = calibration.figures[0];
  const ChangeLimits limits = stored.limits_of({.experiment = "e"}, column_of("step_time_s"), 12);
  EXPECT_EQ(limits.threshold, ChangeLimits{}.threshold) << "noise makes no change harmless";
  EXPECT_DOUBLE_EQ(*limits.false_positive_rate, figure.sizes[1].false_positive_rate) << "of 10 processes";
  EXPECT_EQ(limits.visible, figure.sizes[1].visible);
  EXPECT_FALSE(stored.limits_of({.experiment = "other"}, column_of("step_time_s"), 12).false_positive_rate);
  EXPECT_FALSE(stored.limits_of({.experiment = "e"}, column_of("step_time_s"), 6).false_positive_rate);
  const std::vector<Side> elsewhere{recorded(0.002, 2, "another")};
  EXPECT_FALSE(StoredCalibration(elsewhere, file(""))
                   .limits_of({.experiment = "e"}, column_of("step_time_s"), 12)
                   .false_positive_rate);
}

TEST_F(CalibrationFiles, ADamagedFileIsNamed) {
  const std::vector<Side> sides{recorded(0.002, 20)};
  const std::filesystem::path stored = store_calibration({.machine = "gpu:0 a GPU", .figures = {}}, file(""));
  const auto mistake = [&](const std::string& text) {
    std::ofstream(stored) << text;
    return support::error_of([&] { StoredCalibration(sides, file("")); });
  };
  EXPECT_THAT(mistake("{\"figures\": ["), HasSubstr("not valid JSON"));
  EXPECT_THAT(mistake("{}"), HasSubstr("'figures' is no list; remove the file and calibrate again"));
  EXPECT_THAT(mistake(R"({"figures": [{"noise": "x", "sizes": []}]})"), HasSubstr("'noise' is no number"));
}

}  // namespace
}  // namespace gpubench
