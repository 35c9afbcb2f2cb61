// Groups of processes, which are threads here, that have met without a launcher.
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "core/base/error.h"
#include "core/group/join.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class JoinedGroupTest : public TemporaryFolder {
 protected:
  /// Each process joins and does its work; what they threw, by rank, or "done".
  std::vector<std::string> run(int size, const std::function<void(ProcessGroup&)>& work,
                               const std::function<JoinOptions(int)>& options) {
    std::vector<std::string> ends(static_cast<std::size_t>(size));
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          const auto group = join_by_rendezvous({"file:" + file("id").string(), rank, size}, options(rank));
          work(*group);
          ends[static_cast<std::size_t>(rank)] = "done";
        } catch (const PeerLost& error) {
          ends[static_cast<std::size_t>(rank)] = fmt::format("lost: {}", error.what());
        } catch (const Error& error) {
          ends[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
    threads.clear();
    return ends;
  }
  std::vector<std::string> run(int size, const std::function<void(ProcessGroup&)>& work) {
    return run(size, work, [](int) { return JoinOptions{.program = "gpubench 1", .task = "a.lua"}; });
  }
};

TEST_F(JoinedGroupTest, ItsProcessesTellEachOther) {
  EXPECT_THAT(run(3,
                  [](ProcessGroup& group) {
                    EXPECT_EQ(group.size(), 3);
                    EXPECT_EQ(group.local_size(), 3);
                    EXPECT_EQ(group.local_rank(), group.rank());
                    EXPECT_EQ(group.sharing_processors(), 3);
                    EXPECT_THAT(group.neighbours(), ElementsAre(::getpid(), ::getpid())) << "threads of this process";
                    EXPECT_THAT(group.name_of(2), HasSubstr("process 2 ("));
                    EXPECT_THAT(group.all_gather(fmt::format("line\n\"{}\"", group.rank())),
                                ElementsAre("line\n\"0\"", "line\n\"1\"", "line\n\"2\""));
                    EXPECT_EQ(group.broadcast(fmt::format("of {}", group.rank()), 1), "of 1");
                    for (std::int64_t round = 0; round < 50; ++round) {
                      const std::int64_t mine[] = {group.rank(), -round};
                      std::int64_t all[6];
                      group.all_gather(mine, all);
                      EXPECT_THAT(all, ElementsAre(0, -round, 1, -round, 2, -round));
                    }
                    group.barrier();
                  }),
              Each("done"));
}

TEST_F(JoinedGroupTest, TextsAreAnyBytes) {  // variables go this way to where a strategy begins
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_THAT(run(2,
                  [&](ProcessGroup& group) {
                    EXPECT_EQ(group.broadcast(group.rank() == 0 ? bytes : std::string(), 0), bytes);
                    EXPECT_THAT(group.all_gather(group.rank() == 1 ? bytes : "x"), ElementsAre("x", bytes));
                  }),
              Each("done"));
}

TEST_F(JoinedGroupTest, APartThatOneLeavesEarlyEndsForAll) {
  EXPECT_THAT(run(3,
                  [](ProcessGroup& group) {
                    std::string failure;
                    try {
                      group.barrier();
                      if (group.rank() == 1) throw Error("out of memory");
                      group.barrier();
                    } catch (const PeerLost& error) {
                      EXPECT_THAT(error.what(), AllOf(HasSubstr("process 1 ("), HasSubstr("out of memory")));
                    } catch (const Error& error) {
                      failure = error.what();
                    }
                    EXPECT_THAT(group.conclude(fmt::format("{}", group.rank()), failure), ElementsAre("0", "1", "2"));
                    EXPECT_EQ(group.all_gather("next part").size(), 3U);
                    group.barrier();
                  }),
              Each("done"));
}

TEST_F(JoinedGroupTest, AProcessThatFailsEndsAll) {
  const std::vector<std::string> ends = run(2, [](ProcessGroup& group) {
    if (group.rank() == 1) {
      group.fail("its GPU is gone", failed_exit_status);
      while (group.lost().empty()) std::this_thread::yield();
    }
    group.barrier();
    group.barrier();
  });
  EXPECT_THAT(ends, Each(AllOf(HasSubstr("lost: "), HasSubstr("its GPU is gone"))));
}

TEST_F(JoinedGroupTest, DifferentScriptsAreRefusedWithBothNamed) {
  const auto options = [](int rank) {
    return JoinOptions{.program = "gpubench 1", .task = rank == 0 ? "a.lua" : "b.lua"};
  };
  EXPECT_THAT(run(
                  2, [](ProcessGroup&) {}, options),
              Each(AllOf(HasSubstr("the processes of a run need the same scripts or arguments: process 0 ("),
                         HasSubstr("has a.lua, process 1 ("), HasSubstr("has b.lua"))));
}

}  // namespace
}  // namespace gpubench
