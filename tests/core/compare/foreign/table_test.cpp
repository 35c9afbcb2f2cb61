#include <gmock/gmock.h>

#include "core/compare/comparison.h"
#include "tests/core/compare/foreign/corpus.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Tables as sides, whose columns have their roles.
class Tables : public ForeignFiles {
 protected:
  std::vector<Side> sides(const std::vector<std::string>& texts, const std::vector<std::string>& figures = {}) const {
    std::vector<std::string> names;
    for (const std::string& text : texts) names.push_back(write(std::to_string(names.size()) + ".csv", text).string());
    return read_sides(names, file("out"), figures);
  }
  std::vector<std::string> axes(const std::vector<std::string>& texts,
                                const std::vector<std::string>& figures = {}) const {
    return sides(texts, figures).at(0).processes.at(0).axes;
  }
  Comparison compared(const std::string& before, const std::string& after,
                      const ComparisonOptions& options = {}) const {
    return compare_sides(sides({before, after}), options);
  }
};

/// Nine processes with a row for each of `settings`, whose other cells are `cells(process, setting)`.
template <class Cells>
std::string table(const std::string& header, const std::vector<std::string>& settings, Cells cells) {
  std::string text = "run," + header + "\n";
  for (int process = 0; process < 9; ++process)
    for (const std::string& setting : settings)
      text += std::to_string(process) + "," + setting + "," + cells(process, setting) + "\n";
  return text;
}

/// A little different in each process.
std::string noisy(double value, int process) {
  return std::to_string(value * (1 + 0.0003 * process));
}

TEST_F(Tables, HaveAxesFiguresAndProcesses) {
  const auto read =
      sides({"model,threads,process,time_s,throughput\n"
             "bert,4,first,1.5,10.5\nbert,4,second,1.6,10\ngpt,4,second,2,3.5\n"});
  const auto& processes = read.at(0).processes;
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].name, "first");
  EXPECT_THAT(processes[0].axes, ElementsAre("model", "threads"));
  EXPECT_EQ(processes[1].records.size(), 2u);
  EXPECT_EQ(figure_in(processes[1].records[1], "time_s"), 2);
}

TEST_F(Tables, WithoutProcessesAreOfOne) {
  const auto processes = read("a.csv", "name,time_s\nx,1.5\nx,1.6\n");
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].records.size(), 2u) << "repeats";
}

TEST_F(Tables, RunsWithinAProcessAreRepeats) {
  for (const char* header : {"process,run,time_s\n", "run,process,time_s\n"}) {
    const bool process_first = std::string(header).starts_with("process");
    std::string text = header;
    for (int process = 0; process < 4; ++process) {
      for (int run = 0; run < 2; ++run) {
        text += std::to_string(process_first ? process : run) + "," + std::to_string(process_first ? run : process) +
                ",1.5\n";
      }
    }
    const auto read = sides({text});
    ASSERT_EQ(read[0].processes.size(), 4u) << header;
    EXPECT_EQ(read[0].processes[0].records.size(), 2u);
    EXPECT_THAT(read[0].processes[0].axes, IsEmpty());
  }
}

TEST_F(Tables, WhatThisProgramSaysAboutARowIsNoAxis) {
  const std::string text = "experiment,n,status,quality,stop_reason,time_s\ne,1,ok,ok,enough,1.5\n";
  EXPECT_THAT(axes({text}), ElementsAre("n"));
  EXPECT_EQ(to_text(read("a.csv", text).at(0).records.at(0).get("status")), "ok");
}

TEST_F(Tables, ADecimalThatComesBackIsASetting) {
  const auto times = [](double factor) {
    return table("lr,time_s", {"0.1", "0.2"},
                 [=](int process, const std::string& lr) { return noisy(factor * std::stod(lr), process); });
  };
  const Comparison comparison = compared(times(1), times(1.3));
  EXPECT_EQ(comparison.common_rows, 2u);
  EXPECT_EQ(comparison.count(ChangeVerdict::worse), 2u);
  // Each process measured one setting.
  std::string text = "run,dropout,time_s\n";
  for (int process = 0; process < 14; ++process)
    text += std::to_string(process) + (process % 2 == 0 ? ",0.1," : ",0.5,") + noisy(1, process) + "\n";
  EXPECT_THAT(axes({text, text}), ElementsAre("dropout"));
}

TEST_F(Tables, NumbersThatDifferFromProcessToProcessAreFigures) {
  const auto text = table("size,score,misses,time_s", {"1", "2"}, [](int process, const std::string& size) {
    return noisy(std::stod(size) / 3, process) + "," + std::to_string(1000 * std::stoi(size) + 7 * process) + ",1.5";
  });
  EXPECT_THAT(axes({text}), ElementsAre("size"));
  EXPECT_THAT(axes({text, text}), ElementsAre("size")) << "equal figures on both sides are figures";
  const auto steps = table("size,level,time_s", {"1", "2"}, [](int process, const std::string&) {
    return (process % 3 == 0 ? "1.5," : "2.5,") + noisy(1, process);
  });
  EXPECT_THAT(axes({steps}), ElementsAre("size", "level"));
  EXPECT_THAT(axes({steps}, {"level"}), ElementsAre("size")) << "--figure decides";
}

TEST_F(Tables, SettingsThatProcessesShareOutAreAxes) {
  std::string text = "run,layers,time_s\n";
  for (int process = 0; process < 9; ++process)
    text += std::to_string(process) + "," + std::to_string(12 + process) + ",1.5\n";
  EXPECT_THAT(axes({text, text}), ElementsAre("layers"));
}

TEST_F(Tables, AFileAndItsCopyAreTheSame) {
  const auto text = table("size,lr,score,time_s", {"1,0.1", "2,0.2"}, [](int process, const std::string&) {
    return noisy(0.5, process) + "," + noisy(1, process);
  });
  const Comparison comparison = compared(text, text);
  EXPECT_EQ(comparison.common_rows, 2u);
  EXPECT_EQ(comparison.count(ChangeVerdict::same), 2u);
}

TEST_F(Tables, TextOfOneProcessOrRowTellsNoRowsApart) {
  const auto text = [](const std::string& month, double time) {
    return table("size,stamp,commit,time_s", {"1", "2"}, [=](int process, const std::string& size) {
      return month + "-0" + std::to_string(process) + "T0" + size + ",c" + month + "," + noisy(time, process);
    });
  };
  const Comparison comparison = compared(text("2026-01", 1), text("2026-02", 1.3));
  EXPECT_EQ(comparison.common_rows, 2u);
  EXPECT_EQ(comparison.count(ChangeVerdict::worse), 2u);
  ASSERT_EQ(comparison.differences.size(), 1u);
  EXPECT_EQ(comparison.differences[0].key, "setting.commit");
  EXPECT_THAT(comparison.differences[0].values, ElementsAre("c2026-01", "c2026-02"));
}

TEST_F(Tables, TextThatIsInSeveralProcessesIsAnAxis) {
  const auto text = [](const std::vector<std::string>& models) {
    return table("model,time_s", models, [](int process, const std::string&) { return noisy(1, process); });
  };
  EXPECT_THAT(axes({text({"bert", "gpt"}), text({"bert"})}), ElementsAre("model"));
  const Comparison comparison = compared(text({"bert", "gpt"}), text({"a", "b"}));
  EXPECT_EQ(comparison.common_rows, 0u);
  EXPECT_EQ(comparison.why_no_common_row, "model is bert, gpt and a, b");
}

TEST_F(Tables, NoNumberIsNoFigureAndNoAxis) {
  const auto text = [](const std::string& none, double time) {
    return table("size,time_s,score", {"1"}, [=](int process, const std::string&) {
      return noisy(time, process) + "," + (process == 4 ? none : noisy(0.5, process));
    });
  };
  for (const char* none : {"N/A", "NA", "null", "None", "-", ""}) {
    const Comparison comparison = compared(text(none, 1), text(none, 1.3));
    EXPECT_EQ(comparison.common_rows, 1u) << none;
    EXPECT_EQ(comparison.count(ChangeVerdict::worse), 1u) << none;
  }
}

TEST_F(Tables, UnitsAndDirectionsAreKnown) {
  for (const char* name : {"time_ms", "gpu_time_us", "seconds", "latency"}) {
    const auto text = [&](double factor) {
      return table("size," + std::string(name), {"1", "2"},
                   [=](int process, const std::string&) { return noisy(1000 * factor, process); });
    };
    EXPECT_EQ(compared(text(1), text(1.2)).count(ChangeVerdict::worse), 2u) << name;
    EXPECT_EQ(compared(text(1.2), text(1)).count(ChangeVerdict::better), 2u) << name;
  }
  for (const char* name : {"fps", "throughput", "images/s"}) {
    const auto text = [&](double factor) {
      return table("size," + std::string(name), {"1", "2"},
                   [=](int process, const std::string&) { return noisy(1000 * factor, process); });
    };
    EXPECT_EQ(compared(text(1), text(0.8)).count(ChangeVerdict::worse), 2u) << name;
  }
  EXPECT_NEAR(figure_in(read("a.csv", "time_ms\n250\n").at(0).records.at(0), "time_s"), 0.25, 1e-12);
}

TEST_F(Tables, AFigureWithoutADirectionIsNamedAndCanGetOne) {
  const auto text = [](double factor) {
    return table("size,score,time_s", {"1"},
                 [=](int process, const std::string&) { return noisy(7 * factor, process) + "," + noisy(1, process); });
  };
  const Comparison comparison = compared(text(1), text(0.8));
  EXPECT_THAT(comparison.without_direction, ElementsAre("score"));
  EXPECT_EQ(exit_status_of(comparison, false), 0);
  const Comparison with = compared(text(1), text(0.8), {.better = {{"score", Better::higher}}});
  EXPECT_THAT(with.without_direction, IsEmpty());
  EXPECT_EQ(exit_status_of(with, false), 1);
  EXPECT_EQ(compared(text(0.8), text(1), {.better = {{"score", Better::higher}}}).count(ChangeVerdict::better), 1u);
  EXPECT_EQ(compared(text(0.8), text(1), {.better = {{"score", Better::lower}}}).count(ChangeVerdict::worse), 1u);
}

TEST_F(Tables, AColumnThatOneSideLacksIsNoAxisUnlessItTellsRowsApart) {
  const Comparison one = compared("n,time_s\n1,1.5\n2,2.5\n", "n,host,threads,empty,time_s\n1,a,4,,1.5\n2,a,4,,2.5\n");
  EXPECT_EQ(one.common_rows, 2u);
  const Comparison two = compared("n,time_s\n1,1.5\n2,2.5\n", "n,host,time_s\n1,a,1.5\n2,b,2.5\n");
  EXPECT_EQ(two.common_rows, 0u);
  EXPECT_THAT(two.why_no_common_row, HasSubstr("host is on one side only"));
}

TEST_F(Tables, SettingsOfOurOwnAreAxes) {
  EXPECT_THAT(axes({"device,batch_size,time_s\ncpu:0,32,1.5\n", "device,batch_size,time_s\ngpu:0,32,1\n"}),
              ElementsAre("device", "batch_size"));
}

TEST_F(Tables, WholeNumbersAreTheSameHoweverTheyAreWritten) {
  EXPECT_EQ(compared("size,time_s\n64,1.5\n", "size,time_s\n64.0,1.5\n").common_rows, 1u);
}

TEST_F(Tables, OfSpreadsheetsAreReadOrExplained) {
  EXPECT_THAT(axes({"\xEF\xBB\xBF"
                    "case,Time (s)\r\nx,1.5\r\n"}),
              ElementsAre("case"));
  EXPECT_THAT(mistake("a.csv", "case;time_s\nx;1.5\n"),
              HasSubstr("commas between fields were expected, not semicolons"));
  EXPECT_THAT(mistake("a.csv", "case\ttime_s\nx\t1.5\n"), HasSubstr("not tabs"));
}

TEST_F(Tables, TwoColumnsOfOneNameAreNamed) {
  EXPECT_THAT(mistake("a.csv", "n,n,time_s\n1,2,1.5\n"), HasSubstr("a.csv: the first line names 'n' twice"));
  EXPECT_THAT(mistake("a.csv", "Noise (%),time_s,Noise (%)\n1,2.5,3\n"), HasSubstr("names 'Noise (%)' twice"));
  EXPECT_THAT(mistake("a.csv", "time_ms,time_s\n1500,1.5\n"),
              HasSubstr("the columns 'time_ms' and 'time_s' would both be 'time_s'; leave one out, or rename it"));
}

TEST_F(Tables, MistakesNameFileAndRow) {
  EXPECT_THAT(mistake("a.csv", ""), AllOf(HasSubstr("a.csv"), HasSubstr("the file is empty")));
  EXPECT_THAT(mistake("a.csv", "x,time_s\n"), HasSubstr("a.csv: no line follows the columns' names"));
  EXPECT_THAT(mistake("a.csv", "x,time_s\na,1.5\nb"), HasSubstr("row 2 has 1 fields; the header has 2"));
  EXPECT_THAT(mistake("a.csv", "x,y\na,b\n"), HasSubstr("no column has figures; columns: x, y"));
  EXPECT_THAT(mistake("a.csv", ",time_s\n0,1.5\n"), HasSubstr("a.csv: the first line: '' cannot name a column"));
  EXPECT_THAT(mistake("a.csv", "x,time_s\na,1.5\nb,OOM\n"),
              AllOf(HasSubstr("a.csv: row 2: 'OOM' in the column 'time_s' is no number; leave the field empty"),
                    Not(HasSubstr("the first line"))));
}

}  // namespace
}  // namespace gpubench
