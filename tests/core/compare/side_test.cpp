#include "core/compare/side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/codec/tar.h"
#include "core/compare/baseline.h"
#include "core/results/append_file.h"
#include "core/results/run_writer.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Sides : public TemporaryFolder {
 protected:
  std::filesystem::path out() const { return file("out"); }
  RunWriter begun(const std::string& experiment = "e", const Info& facts = Info(Info::Fields{})) const {
    RunWriter run({.experiment = experiment, .title = "t", .axes = {"n"}, .extra_columns = {}, .out = out()});
    run.set_info(facts);
    run.add({{"n", std::int64_t{1}}, {"step_time_s", 1.0}});
    return run;
  }
  /// The folder of a finished run.
  std::filesystem::path run(const std::string& experiment = "e", const Info& facts = Info(Info::Fields{})) const {
    RunWriter writer = begun(experiment, facts);
    writer.finish("done");
    return writer.directory();
  }
  std::size_t count(const std::string& text) const { return read_side(text, out()).processes.size(); }
  std::string mistake(const std::string& text) const {
    return support::error_of([&] { read_side(text, out()); });
  }
};

Info in_group(const std::string& id, Info::List varied = {}) {
  return Info::Fields{{"group", Info::Fields{{"id", id}, {"varied", std::move(varied)}}}};
}

TEST_F(Sides, AreNamedByFolderNameExperimentAndLast) {
  run("other");
  const std::filesystem::path first = run(), second = run();
  EXPECT_EQ(read_side(first.string(), ".").processes.at(0).name, first.filename());
  EXPECT_EQ(count((first / "results.csv").string()), 1u);
  EXPECT_EQ(read_side(second.filename().string(), out()).processes.at(0).source, std::filesystem::canonical(second));
  EXPECT_EQ(read_side("e", out()).processes.at(0).name, second.filename()) << "the newest";
  EXPECT_EQ(count("last"), 1u);
  EXPECT_EQ(count(first.string() + "," + second.string()), 2u);
  EXPECT_EQ(count(first.string() + "," + first.string()), 1u) << "a process counts once";
  EXPECT_EQ(count(out().string()), 3u) << "a folder stands for all runs in it";
}

TEST_F(Sides, ARunThatWasRepeatedStandsForItsGroup) {
  run("e", in_group("g1"));
  const std::filesystem::path member = run("e", in_group("g1"));
  run("f", in_group("g1"));
  run("e", in_group("g2"));
  EXPECT_EQ(count(member.string()), 2u) << "of its experiment";
  EXPECT_EQ(count("g1"), 3u) << "the whole group";
  EXPECT_EQ(count("g2"), 1u);
  EXPECT_EQ(count("e"), 1u) << "the newest group";
}

TEST_F(Sides, AxesThatSidesVaryTellNoRowsApart) {
  EXPECT_TRUE(read_side(run("e", in_group("g", {"n"})).string(), out()).processes.at(0).axes.empty());
}

TEST_F(Sides, TagsStandForAllTheirRuns) {
  const Info night(Info::Fields{{"tags", Info::List{"night"}}});
  run("e", night);
  run("f", night);
  run("e");
  EXPECT_EQ(count("night"), 2u);
}

TEST_F(Sides, ArchivesAreRuns) {
  const std::filesystem::path directory = run(), second = run();
  const auto pack = [&](const std::string& name, const std::string& top, const std::filesystem::path& packed) {
    std::vector<ArchiveEntry> entries;
    for (const char* const member : {"run.json", "results.csv"})
      entries.push_back({top + "/results/e/" + packed.filename().string() + "/" + member, contents(packed / member)});
    entries.push_back({top + "/results/e/" + packed.filename().string() + "/script.lua", "print(1)"});
    write_archive(file(name), entries);
    return file(name).string();
  };
  std::filesystem::create_directory(file("archives"));
  const std::string one = pack("one.tar.gz", "x", directory), other = pack("archives/other.tgz", "y", second);
  const MeasuringProcess process = read_side(one, out()).processes.at(0);
  EXPECT_EQ(process.name, directory.filename()) << "as its run is called";
  EXPECT_EQ(process.records.size(), 1u);
  EXPECT_EQ(process.script, "print(1)");
  EXPECT_EQ(count(one + "," + other), 2u);
  EXPECT_EQ(count(file("archives").string()), 1u) << "a folder of archives";
  pack("archives/copy.tgz", "y", second);
  EXPECT_EQ(count(file("archives").string()), 1u) << "a copy is the same run";
  pack("out/third.tar.gz", "z", directory);
  EXPECT_EQ(count(out().string()), 2u) << "archives beside runs may be of these";
}

TEST_F(Sides, DamagedArchivesAreErrors) {
  EXPECT_THAT(mistake(write("no.tar.gz", "text").string()), HasSubstr("no.tar.gz"));
  write_archive(file("cut.tar.gz"), {{"x/results.csv", std::string(5000, 'x')}});
  std::filesystem::resize_file(file("cut.tar.gz"), 40);
  EXPECT_THAT(mistake(file("cut.tar.gz").string()), HasSubstr("cut.tar.gz"));
  write_archive(file("empty.tar.gz"), {{"x/readme", "text"}});
  EXPECT_THAT(mistake(file("empty.tar.gz").string()), HasSubstr("0 runs are in the archive; one is expected"));
}

TEST_F(Sides, BaselinesOutliveTheirRuns) {
  const std::filesystem::path first = run(), second = run("f");
  const std::vector<std::filesystem::path> runs{first, second};
  save_baseline("v1", runs, out());
  std::filesystem::remove_all(out() / "results");
  EXPECT_EQ(count("v1"), 2u);
  EXPECT_EQ(read_side("v1", out()).processes.at(0).records.size(), 1u);
}

TEST_F(Sides, UnknownNamesListWhatThereIs) {
  EXPECT_THAT(mistake("nothing"), AllOf(HasSubstr("'nothing' is no run"), HasSubstr("there are no runs in")));
  const std::filesystem::path directory = run("e", Info(Info::Fields{{"tags", Info::List{"night"}}}));
  const std::vector<std::filesystem::path> runs{directory};
  save_baseline("v1", runs, out());
  EXPECT_THAT(mistake("nothing"), HasSubstr("experiments: e; tags: night; baselines: v1"));
  std::filesystem::create_directory(file("empty"));
  EXPECT_THAT(mistake(file("empty").string()), HasSubstr("there are no runs in the folder"));
  EXPECT_THAT(mistake(write("x.txt", "x").string()), HasSubstr("is no file of results"));
}

TEST_F(Sides, ACutTableIsRefused) {
  const std::filesystem::path table = run() / "results.csv";
  const std::string text = read_file(table);
  write("out/" + table.lexically_relative(out()).string(), text.substr(0, text.find('\n') + 1));
  EXPECT_THAT(mistake("last"), HasSubstr("results.csv is cut or changed: it has 0 rows, run.json says 1"));
}

TEST_F(Sides, CopiesOfARunCountOnce) {
  const std::filesystem::path original = run();
  std::filesystem::create_directory(file("copies"));
  std::filesystem::copy(original, file("copies/a"), std::filesystem::copy_options::recursive);
  std::filesystem::copy(original, file("copies/b"), std::filesystem::copy_options::recursive);
  EXPECT_EQ(count(file("copies").string()), 1u);
}

TEST_F(Sides, ARunThatIsBeingWrittenIsRefused) {
  const RunWriter writer = begun();
  EXPECT_THAT(mistake("e"), HasSubstr("is being written; wait for its end"));
}

TEST_F(Sides, ANewerSchemaIsRefused) {
  run("e", Info(Info::Fields{{"schema", 99}}));
  EXPECT_THAT(mistake("e"), HasSubstr("written by a newer program (schema 99; this one reads up to 1)"));
}

TEST_F(Sides, DamagedFilesAreErrors) {
  const std::filesystem::path directory = run();
  std::filesystem::resize_file(directory / "run.json", 20);
  EXPECT_THAT(mistake(directory.string()), HasSubstr("not valid JSON"));
  const std::filesystem::path other = run();
  std::ofstream(other / "results.csv", std::ios::app) << "e,1\r\n";
  EXPECT_THAT(mistake(other.string()), HasSubstr("row 2 has 2 fields"));
  std::filesystem::resize_file(other / "results.csv", 0);
  EXPECT_THAT(mistake(other.string()), HasSubstr("a header line was expected"));
}

}  // namespace
}  // namespace gpubench
