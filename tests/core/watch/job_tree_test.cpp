#include "core/watch/job_tree.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "core/watch/job.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr int watcher = 50;
/// Of the time of other programs on two processors, what may be rounding.
const double others_rounding_s = 0.01 * std::sqrt(2.0);

/// What /proc tells of a process.
struct Told {
  int parent = watcher;
  double cpu_s = 0, reaped_s = 0;
  int faults = 0, reaped_faults = 0;
  double storage_bytes = 0, asked_bytes = 0;
  int resident_pages = 0, shared_pages = 0;
  int started = 1;
  char state = 'S';
  bool tells_io = true;
};

/// A file system of our own, with processes that come and go.
class JobTreeTest : public TemporaryFolder {
 protected:
  JobTreeTest() {
    set(watcher, {.parent = 1});
    set(1, {.parent = 0});
    write_processors(0, 0);
  }
  void write_file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(file(name).parent_path());
    write(name, text);
  }
  void set(int process, const Told& told) const {
    const std::string folder = fmt::format("proc/{}/", process);
    const auto ticks = [](double seconds) { return static_cast<int>(std::lround(seconds * 100)); };
    write_file(folder + "stat", fmt::format("{} (a) b ( {}) {} {} 1 1 -1 -1 0 7 8 {} {} {} 0 {} 0 20 -5 3 0 {} 999 4\n",
                                            process, "x", told.state, told.parent, told.faults, told.reaped_faults,
                                            ticks(told.cpu_s), ticks(told.reaped_s), told.started));
    write_file(folder + "statm", fmt::format("9999 {} {} 1 0 1 0\n", told.resident_pages, told.shared_pages));
    if (told.tells_io)
      write_file(folder + "io",
                 fmt::format("rchar: {:.0f}\nwchar: 7\nread_bytes: {:.0f}\n", told.asked_bytes, told.storage_bytes));
  }
  void set_thread(int process, int thread, double delayed_s) const {
    write_file(fmt::format("proc/{}/task/{}/schedstat", process, thread), fmt::format("5 {:.0f} 3\n", delayed_s * 1e9));
  }
  void end(int process) const { std::filesystem::remove_all(file(fmt::format("proc/{}", process))); }
  /// Of two processors together.
  void write_processors(double busy_s, double idle_s, double stolen_s = 0) const {
    const auto half = [](double seconds) { return static_cast<long>(seconds * 50 + 0.5); };
    std::string lines = "cpu  1 2 3 4 5 6 7 8 9 10\n";
    for (int i = 0; i < 2; ++i)
      lines += fmt::format("cpu{} {} 0 0 {} 0 0 0 {} 0 0\n", i, half(busy_s), half(idle_s), half(stolen_s));
    write_file("proc/stat", lines);
  }
  JobTree tree(JobTreeOptions options = {}) {
    options.root = file("");
    options.processors = {0, 1};
    options.own = [this] { return ProcessUse{.cpu_s = own_s_}; };
    return JobTree(watcher, std::move(options), second(0));
  }
  static Clock::time_point second(double seconds) {
    return Clock::time_point(std::chrono::duration_cast<Clock::duration>(Seconds(1000 + seconds)));
  }
  static TimeSpan span(double begin, double end) { return {second(begin), second(end)}; }
  static const JobProcess& of(const JobUse& use, int process) {
    static const JobProcess none;
    for (const JobProcess& one : use.processes) {
      if (one.process == process) return one;
    }
    ADD_FAILURE() << "no process " << process;
    return none;
  }

  double own_s_ = 0;
};

TEST_F(JobTreeTest, DescendantsBelongToTheJob) {
  set(60, {});
  set(40, {.parent = 60});  // a child with a lower number
  set(70, {.parent = 1});
  JobTree watched = tree();
  EXPECT_THAT(watched.processes(), ElementsAre(40, 60));
  set(41, {.parent = 40});
  set(71, {.parent = 70});
  watched.read(second(1));
  EXPECT_THAT(watched.processes(), ElementsAre(40, 41, 60));
  end(60);
  set(40, {.parent = 1});
  watched.read(second(2));
  EXPECT_THAT(watched.processes(), ElementsAre(40, 41)) << "who has belonged to it stays, whoever its parent is";
  EXPECT_EQ(watched.use(span(0, 2)).most_processes, 3);
}

TEST_F(JobTreeTest, AmountsBetweenReadings) {
  set(60, {.cpu_s = 5, .faults = 3, .storage_bytes = 1000, .asked_bytes = 5000});
  set_thread(60, 60, 1);
  JobTree watched = tree();
  set(60, {.cpu_s = 6.5,
           .faults = 10,
           .storage_bytes = 1600,
           .asked_bytes = 9000,
           .resident_pages = 10,
           .shared_pages = 4});
  set_thread(60, 60, 1.25);
  set_thread(60, 61, 0.5);
  set(61, {.parent = 60, .cpu_s = 0.5, .resident_pages = 5});
  own_s_ = 0.1;
  write_processors(3, 0.5, 0.5);
  watched.read(second(2));
  const JobUse use = watched.use(span(0, 2));
  EXPECT_DOUBLE_EQ(use.seconds, 2);
  EXPECT_DOUBLE_EQ(of(use, 60).cpu_s, 1.5);
  EXPECT_DOUBLE_EQ(of(use, 61).cpu_s, 0.5);
  EXPECT_NEAR(of(use, 60).delayed_s, 0.75, 1e-9);
  EXPECT_DOUBLE_EQ(of(use, 60).major_faults, 7);
  EXPECT_THAT(of(use, 60).storage_bytes, Optional(600.0));
  EXPECT_THAT(of(use, 60).asked_bytes, Optional(4000.0));
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  EXPECT_DOUBLE_EQ(use.resident_bytes, 15 * page);
  EXPECT_DOUBLE_EQ(use.private_bytes, 11 * page);
  EXPECT_DOUBLE_EQ(use.all().cpu_s, 2);
  EXPECT_THAT(use.of(std::vector{61}), SizeIs(1));
  EXPECT_THAT(use.processors_s, Optional(DoubleNear(4, 1e-9)));
  EXPECT_THAT(use.idle_s, Optional(DoubleNear(0.5, 1e-9)));
  EXPECT_THAT(use.others_s, Optional(DoubleNear(3 - 2 - 0.1 - others_rounding_s, 1e-9)));
  EXPECT_THAT(use.stolen_s, Optional(DoubleNear(0.5, 1e-9)));
  const double taken = 0.75 + 0.5 * 2 / (2 + *use.others_s);
  EXPECT_THAT(use.lost_share(), Optional(DoubleNear(taken / (2 + taken), 1e-9)));
}

TEST_F(JobTreeTest, SpansTakeTheirPartOfAReading) {
  set(60, {});
  JobTree watched = tree();
  for (int i = 1; i <= 10; ++i) {
    set(60, {.cpu_s = i <= 5 ? 0.1 * i : 0.5 + 0.5 * (i - 5)});
    watched.read(second(i));
  }
  EXPECT_NEAR(watched.use(span(0, 5)).all().cpu_s, 0.5, 1e-9);
  EXPECT_NEAR(watched.use(span(4.5, 6.5)).all().cpu_s, 0.05 + 0.5 + 0.25, 1e-9);
  const std::vector<TimeSpan> both = {span(0, 1), span(9.5, 99)};
  EXPECT_NEAR(watched.use(both).all().cpu_s, 0.1 + 0.25, 1e-9);
  EXPECT_NEAR(watched.use(both).seconds, 1.5, 1e-9);
  EXPECT_EQ(watched.use(span(20, 30)).readings, 0);
  EXPECT_FALSE(watched.use(span(20, 30)).others_s);
}

TEST_F(JobTreeTest, WhatAnEndedChildUsedCountsOnce) {
  set(60, {.cpu_s = 1});
  set(61, {.parent = 60, .cpu_s = 2, .faults = 5, .storage_bytes = 100});
  JobTree watched = tree();
  end(61);  // it used another half second, and 20 bytes, before it was waited for
  set(60, {.cpu_s = 1.25, .reaped_s = 2.5, .reaped_faults = 6, .storage_bytes = 130});
  watched.read(second(1));
  const JobUse use = watched.use(span(0, 1));
  EXPECT_NEAR(of(use, 60).cpu_s, 0.25, 1e-9);
  EXPECT_NEAR(of(use, 61).cpu_s, 0.5, 1e-9);
  EXPECT_NEAR(of(use, 61).major_faults, 1, 1e-9);
  EXPECT_THAT(use.all().storage_bytes, Optional(30.0)) << "what the child had read before is known already";
}

TEST_F(JobTreeTest, AChildThatNobodyWaitsForTakesNothingBack) {
  set(60, {.cpu_s = 1, .storage_bytes = 500});
  set(61, {.parent = 60, .cpu_s = 2, .storage_bytes = 100});
  JobTree watched = tree();
  end(61);
  set(60, {.cpu_s = 1.5, .storage_bytes = 500});
  watched.read(second(1));
  EXPECT_NEAR(watched.use(span(0, 1)).all().cpu_s, 0.5, 1e-9);
}

TEST_F(JobTreeTest, AWholeBranchEndsAtOnce) {
  set(60, {.cpu_s = 1});
  set(61, {.parent = 60, .cpu_s = 2});
  set(62, {.parent = 61, .cpu_s = 3});
  JobTree watched = tree();
  end(61), end(62);
  set(60, {.cpu_s = 1, .reaped_s = 5.75});
  watched.read(second(1));
  EXPECT_NEAR(watched.use(span(0, 1)).all().cpu_s, 0.75, 1e-9);
  end(60);
  set(watcher, {.parent = 1, .reaped_s = 7});
  watched.read(second(2));
  EXPECT_NEAR(watched.use(span(1, 2)).all().cpu_s, 0.25, 1e-9) << "waited for by the watcher";
}

TEST_F(JobTreeTest, ChildrenThatNobodyHasSeenCountForTheirParent) {
  set(60, {});
  JobTree watched = tree();
  set(60, {.reaped_s = 0.75, .storage_bytes = 10});
  watched.read(second(1));
  EXPECT_NEAR(of(watched.use(span(0, 1)), 60).cpu_s, 0.75, 1e-9);
  EXPECT_THAT(watched.use(span(0, 1)).all().storage_bytes, Optional(10.0));
}

TEST_F(JobTreeTest, AnotherProcessOfTheSameNumber) {
  set(60, {.cpu_s = 5});
  JobTree watched = tree();
  set(60, {.cpu_s = 0.5, .started = 9});
  watched.read(second(1));
  EXPECT_NEAR(watched.use(span(0, 1)).all().cpu_s, 0.5, 1e-9);
  set(60, {.parent = 1, .cpu_s = 3, .started = 12});
  watched.read(second(2));
  EXPECT_THAT(watched.processes(), IsEmpty()) << "one of somebody else";
}

TEST_F(JobTreeTest, AnEndedProcessThatNobodyHasWaitedForUsesNothingMore) {
  set(60, {.cpu_s = 1, .storage_bytes = 10});
  set_thread(60, 60, 2);
  JobTree watched = tree();
  std::filesystem::remove(file("proc/60/io"));
  set(60, {.cpu_s = 1.5, .state = 'Z', .tells_io = false});
  watched.read(second(1));
  EXPECT_THAT(watched.processes(), IsEmpty());
  EXPECT_NEAR(watched.use(span(0, 1)).all().cpu_s, 0.5, 1e-9);
  EXPECT_THAT(watched.use(span(0, 1)).all().storage_bytes, Optional(0.0));
  EXPECT_EQ(watched.use(span(0, 1)).all().delayed_s, 0);
}

TEST_F(JobTreeTest, WhatTheSystemDoesNotTellIsAbsent) {
  set(60, {.tells_io = false});
  std::filesystem::remove(file("proc/stat"));
  JobTree watched = tree();
  watched.read(second(1));
  const JobUse use = watched.use(span(0, 1));
  EXPECT_FALSE(use.all().storage_bytes || use.all().asked_bytes);
  EXPECT_FALSE(use.processors_s || use.idle_s || use.others_s || use.stolen_s || use.lost_share());
  EXPECT_FALSE(use.throttled_s || use.group_memory_bytes);
}

TEST_F(JobTreeTest, TheControlGroup) {
  write_file("proc/self/cgroup", "0::/job\n");
  write_file("sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nthrottled_usec 1000000\n");
  write_file("sys/fs/cgroup/job/memory.max", "1000\n");
  write_file("sys/fs/cgroup/job/memory.current", "400\n");
  JobTree watched = tree();
  write_file("sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nthrottled_usec 1750000\n");
  watched.read(second(1));
  EXPECT_THAT(watched.use(span(0, 1)).throttled_s, Optional(DoubleNear(0.75, 1e-9)));
  EXPECT_THAT(watched.use(span(0, 1)).group_memory_bytes, Optional(1000.0));
  EXPECT_THAT(watched.use(span(0, 1)).group_memory_used_bytes, Optional(400.0));
}

TEST_F(JobTreeTest, ThrottlingOfTheFirstVersionOfControlGroups) {
  write_file("proc/self/cgroup", "4:cpu,cpuacct:/job\n");
  write_file("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 1000000000\n");
  JobTree watched = tree();
  write_file("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 3000000000\n");
  watched.read(second(1));
  EXPECT_THAT(watched.use(span(0, 1)).throttled_s, Optional(DoubleNear(2, 1e-9)));
}

TEST_F(JobTreeTest, ALongRunIsKeptMoreCoarsely) {
  set(60, {});
  JobTree watched = tree({.most_readings = 8});
  for (int i = 1; i <= 100; ++i) {
    set(60, {.cpu_s = 0.5 * i});
    watched.read(second(i));
  }
  const JobUse use = watched.use(span(0, 100));
  EXPECT_EQ(use.readings, 100);
  EXPECT_NEAR(use.all().cpu_s, 50, 1e-9);
  EXPECT_NEAR(use.mean_processes, 1, 1e-9);
}

TEST_F(JobTreeTest, NonsenseInFilesIsNoProcess) {
  set(60, {});
  JobTree watched = tree();
  for (const char* text : {"", "60", "60 (a) S", "60 (a) S x y z", ") ) )", "60 (a) S 50 1 1 1 1 1"}) {
    write_file("proc/60/stat", text);
    watched.read(second(1));
    EXPECT_THAT(watched.processes(), IsEmpty()) << text;
  }
  write_file("proc/nonsense/stat", "x");
  set(60, {});
  write_file("proc/60/statm", "x");
  write_file("proc/60/io", "read_bytes: many\n");
  write_file("proc/60/task/1/schedstat", "1 -\n");
  watched.read(second(2));
  EXPECT_THAT(watched.processes(), ElementsAre(60));
}

TEST(JobTree, SeesARealJob) {
  Job job({.words = {"sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; exec sleep 1000"}});
  JobTree watched(::getpid());
  const auto used = [&] { return watched.use(watched.sampled()).all(); };
  while (used().cpu_s < 0.02 && job.wait_until(Clock::now() + std::chrono::milliseconds(5))) watched.read();
  EXPECT_THAT(watched.processes(), ElementsAre(job.process()));
  EXPECT_GE(used().cpu_s, 0.02);
  EXPECT_GT(watched.use(watched.sampled()).resident_bytes, 0);
  job.end(Seconds(5));
  watched.read();
  EXPECT_THAT(watched.processes(), IsEmpty());
}

TEST(JobUse, IsDisturbedByWhatOthersTookAndNotByRounding) {
  JobUse use;
  use.seconds = 10;
  use.processes = {{.process = 1, .cpu_s = 0.2, .delayed_s = 0.1}};
  use.stolen_s = 0;
  use.others_s = 0.3;  // a third of what it wanted, and a thirtieth of a processor
  EXPECT_FALSE(use.is_disturbed());
  use.others_s = 5;
  EXPECT_TRUE(use.is_disturbed());
  use.processes[0].delayed_s = 0.001;  // they used processors that the job did not want
  EXPECT_FALSE(use.is_disturbed());
  EXPECT_FALSE(JobUse{}.is_disturbed());
}

}  // namespace
}  // namespace gpubench
