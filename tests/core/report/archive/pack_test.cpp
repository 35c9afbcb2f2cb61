#include "core/report/archive/pack.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/codec/output_file.h"
#include "core/report/archive/anonymous.h"
#include "core/report/page/finish.h"
#include "core/results/append_file.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string user_of_test = "annabell";

/// The folder of a run that has ended.
fs::path run_with_secrets(const TemporaryDirectory& out) {
  RunWriter writer({.experiment = "e",
                    .title = "A title",
                    .axes = {"batch", "file"},
                    .extra_columns = {},
                    .out = out.path(),
                    .script = "-- by annabell\nlocal path = '/srv/annabell/data/x.csv'\nlocal rate = 1/2\n"});
  writer.add({{"batch", std::int64_t{1}},
              {"file", std::string("/srv/annabell/data/x.csv")},
              {"status", std::string("ok")},
              {"device", std::string("cpu:0 of process 0 (node17, pid 12)")},
              {"step_time_s", 1e-3},
              {"detail", "read by annabell on " + host_name()}});
  writer.set_info(Info::Fields{
      {"machine", Info::Fields{{"host", host_name()}}},
      {"arguments", Info::List{"../annabell/x.lua", "--out=/srv/annabell/runs", "runs_of_annabell"}},
      {"processes", Info::List{"process 0 (node17, pid 12) with 1 thread"}},
      {"devices", Info::List{Info::Fields{{"name", "cpu:0"}, {"description", "AMD EPYC, see /proc/cpuinfo"}}}}});
  finish_run(writer, {.charts = {{.x = "batch", .y = "step_time_s", .series = "file"}},
                      .expectations = {{.id = "i", .claim = "c", .verdict = "confirmed", .reason = "on node17"}}});
  return writer.directory();
}

const std::string& bytes_of(const std::vector<ArchiveEntry>& entries, const std::string& end) {
  for (const ArchiveEntry& entry : entries)
    if (entry.name.ends_with(end)) return entry.bytes;
  throw std::runtime_error("no entry " + end);
}

class Pack : public testing::Test {
 protected:
  void SetUp() override { setenv("USER", user_of_test.c_str(), 1); }
  TemporaryDirectory out_;
};

TEST_F(Pack, HoldsAllThatTheRunHasLeft) {
  const fs::path run = run_with_secrets(out_);
  const std::string name = run.filename().string();
  const std::vector<ArchiveEntry> entries = packed_run(run, false);
  const std::string top = "e-" + name;
  EXPECT_EQ(archive_name(entries), top + ".tar.gz");
  for (const ArchiveEntry& entry : entries) EXPECT_TRUE(entry.name.starts_with(top + "/")) << entry.name;
  for (const char* file : {"results.csv", "samples.csv", "run.json", "script.lua", "report.html"})
    EXPECT_EQ(bytes_of(entries, "/results/e/" + name + "/" + file), read_file(run / file));
  EXPECT_THAT(bytes_of(entries, "/plots/e/" + name + "/step_time_s_by_batch.gp"), HasSubstr("set output"));
  EXPECT_THAT(bytes_of(entries, "/results/index.html"), HasSubstr("e/" + name + "/report.html"));
}

TEST_F(Pack, AnArchiveAndWhatIsUnpackedAreReadLikeTheRun) {
  const fs::path run = run_with_secrets(out_);
  const std::string name = run.filename().string();
  const TemporaryDirectory elsewhere;
  const std::vector<ArchiveEntry> entries = packed_run(run, false);
  const fs::path archive = elsewhere.path() / archive_name(entries);
  write_archive(archive, entries);
  const auto own = read_run(run);
  const auto read = read_run(find_run(archive.string(), "."));
  EXPECT_EQ(read.records, own.records);
  EXPECT_EQ(read.info, own.info);
  EXPECT_EQ(read.columns, own.columns);
  EXPECT_EQ(RunFiles(archive).read("script.lua"), read_file(run / "script.lua"));
  EXPECT_ERROR(HasSubstr("there is no rounds.csv"), static_cast<void>(RunFiles(archive).read("rounds.csv")));
  EXPECT_ERROR(HasSubstr("is an archive, which is not changed"), finish_stored(archive));

  ASSERT_EQ(std::system(("cd " + elsewhere.path().string() + " && tar -xzf *.tar.gz").c_str()), 0);
  const fs::path unpacked = find_run((elsewhere.path() / ("e-" + name)).string(), ".");
  EXPECT_EQ(read_run(unpacked).records, own.records);
  EXPECT_EQ(finish_stored(unpacked), std::nullopt) << "it has its report";
  fs::remove(unpacked / "report.html");
  EXPECT_TRUE(finish_stored(unpacked).has_value());
}

TEST_F(Pack, AnonymousTellsNoHostUserOrPath) {
  const fs::path run = run_with_secrets(out_);
  const std::string name = run.filename().string();
  const std::vector<ArchiveEntry> entries = packed_run(run, true);
  for (const ArchiveEntry& entry : entries) {
    const std::string all = entry.name + "\n" + entry.bytes;
    EXPECT_THAT(all, AllOf(Not(HasSubstr(user_of_test)), Not(HasSubstr("node17")), Not(HasSubstr("/srv")),
                           Not(HasSubstr(out_.path().string())), Not(HasSubstr(name))))
        << entry.name;
  }
  EXPECT_THAT(archive_name(entries), ::testing::MatchesRegex("e-[0-9]*T[0-9]*Z-anonymous.tar.gz"));
  EXPECT_THAT(bytes_of(entries, "/script.lua"), AllOf(HasSubstr("'x.csv'"), HasSubstr("1/2"), HasSubstr("by user")));
  EXPECT_THAT(bytes_of(entries, "/run.json"),
              AllOf(HasSubstr("\"x.lua\""), HasSubstr("process 0 (host, pid 12)"), HasSubstr("/proc/cpuinfo"),
                    HasSubstr("on host"), Not(HasSubstr(host_name() + "\""))));
  EXPECT_THAT(bytes_of(entries, "/results.csv"),
              AllOf(HasSubstr("read by user on host"), HasSubstr("cpu:0 of process 0 (host, pid 12)")));
  EXPECT_THAT(bytes_of(entries, "/report.html"),
              AllOf(HasSubstr("✓ confirmed"), HasSubstr("Figures: step time by batch")))
      << "charts have their figures as tables";
  const TemporaryDirectory elsewhere;
  const fs::path archive = elsewhere.path() / "a.tar.gz";
  write_archive(archive, entries);
  EXPECT_EQ(read_run(archive).records.size(), 1U);
}

TEST_F(Pack, AnonymousRefusesATableThatIsNone) {
  const fs::path run = run_with_secrets(out_);
  replace_file(run / "samples.csv", "point,process\n" + std::string(3000, ',') + "\n");
  EXPECT_ERROR(HasSubstr("pack: samples.csv: line 2 has more than 2000 columns"), packed_run(run, true));
}

TEST_F(Pack, TheSameRunGivesTheSameArchive) {
  const fs::path run = run_with_secrets(out_);
  for (const bool anonymous : {false, true}) {
    write_archive(out_.path() / "1.tar.gz", packed_run(run, anonymous));
    write_archive(out_.path() / "2.tar.gz", packed_run(run, anonymous));
    EXPECT_EQ(read_file(out_.path() / "1.tar.gz"), read_file(out_.path() / "2.tar.gz"));
  }
}

TEST_F(Pack, RefusesARunThatIsWritten) {
  RunWriter writer({.experiment = "e", .title = "t", .axes = {}, .extra_columns = {}, .out = out_.path()});
  EXPECT_ERROR(HasSubstr("a process still writes '"), packed_run(writer.directory(), false));
}

TEST(Anonymizer, LeavesWhatIsNoPath) {
  setenv("USER", "gpu", 1);
  const Anonymizer anonymous({.directory = {}, .columns = {}, .records = {}, .info = Info::Fields{{"run", "1-h"}}});
  for (const char* text : {"a/b", "1 / 2", "https://host.example/a/b", "</g></svg>", "/proc/stat", "/", "and/or", "/a"})
    EXPECT_EQ(anonymous.paths(text), text);
  EXPECT_EQ(anonymous.paths("read '/srv/a/b.csv', \"/x/y/\""), "read 'b.csv', \"y\"");
  EXPECT_EQ(anonymous.text("gpu, gpus, my_gpu and gpu:0"), "user, gpus, my_gpu and user:0");
  EXPECT_EQ(anonymous.paths("gpu:0"), "gpu:0");
}

}  // namespace
}  // namespace gpubench
