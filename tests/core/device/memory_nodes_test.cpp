#include "core/device/memory_nodes.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

#include "core/device/bound_thread.h"
#include "tests/support/expect_error.h"
#include "tests/support/own_processors.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

const auto processors = [](const auto& matcher) { return Field("processors", &MemoryNode::processors, matcher); };

/// A machine that hwloc makes up, while it lives.
class Machine {
 public:
  explicit Machine(const char* description) { setenv("HWLOC_SYNTHETIC", description, 1); }
  ~Machine() { unsetenv("HWLOC_SYNTHETIC"); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
};

std::vector<MemoryNode> nodes_of(const char* description) {
  const Machine machine(description);
  return read_memory_nodes();
}

TEST(MemoryNodes, AreReadWithTheirProcessors) {
  EXPECT_THAT(nodes_of("numa:2 core:2 pu:1"),
              ElementsAre(processors(ElementsAre(0, 1)), processors(ElementsAre(2, 3))));
  EXPECT_THAT(nodes_of("numa:1 core:2 pu:2"), ElementsAre(processors(ElementsAre(0, 1, 2, 3))));
}

TEST(MemoryNodes, SecondHardwareThreadsBelongToTheNodesOfTheirCores) {
  EXPECT_THAT(nodes_of("numa:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)"),
              ElementsAre(processors(ElementsAre(0, 1, 4, 5)), processors(ElementsAre(2, 3, 6, 7))));
}

TEST(MemoryNodes, OfMemoryOfSeveralKindsTheSmallestPartsCount) {
  const auto nodes = nodes_of("pack:2 [numa] l3:2 [numa(memory=1GB)] core:2 pu:1");
  EXPECT_THAT(nodes, ElementsAre(processors(ElementsAre(0, 1)), processors(ElementsAre(2, 3)),
                                 processors(ElementsAre(4, 5)), processors(ElementsAre(6, 7))));
}

TEST(MemoryNodes, OfADeviceOnThePciBusIsWhatTheSystemSays) {
  const std::filesystem::path devices = std::filesystem::path(testing::TempDir()) / "pci_devices";
  const auto say = [&](const std::string& text) {
    std::filesystem::create_directories(devices / "0000:1b:00.0");
    std::ofstream(devices / "0000:1b:00.0" / "numa_node") << text;
  };
  const auto nodes = nodes_of("numa:2 core:2 pu:1");
  const auto index = [&](std::string_view bus_id, const std::vector<MemoryNode>& known) {
    const auto found = node_near(bus_id, known, devices);
    return found ? found->index : -1;
  };
  say("1\n");
  EXPECT_EQ(index("00000000:1B:00.0", nodes), 1);
  EXPECT_EQ(index("0000:1b:00.0", nodes), 1);
  EXPECT_EQ(index("00000000:1C:00.0", nodes), -1) << "no such device";
  EXPECT_EQ(index("", nodes), -1);
  EXPECT_EQ(index("00000000:1B:00.0", nodes_of("numa:1 core:2 pu:2")), -1) << "there is one node";
  for (const char* unknown : {"-1\n", "7\n", "", "?\n"}) {
    say(unknown);
    EXPECT_EQ(index("00000000:1B:00.0", nodes), -1) << unknown;
  }
  std::filesystem::remove_all(devices);
}

TEST(MemoryNodes, OfThisMachineShareNoProcessor) {
  std::set<int> seen;
  std::size_t count = 0;
  for (const MemoryNode& node : read_memory_nodes()) {
    EXPECT_THAT(node.processors, testing::Not(IsEmpty()));
    seen.insert(node.processors.begin(), node.processors.end());
    count += node.processors.size();
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(MemoryNodes, OnlyProcessorsThatTheProcessMayUseCount) {
  const auto nodes = nodes_of("numa:3 core:2 pu:1");
  EXPECT_THAT(nodes_with(nodes, std::vector{1, 4, 5, 99}),
              ElementsAre(processors(ElementsAre(1)), processors(ElementsAre(4, 5))));
  EXPECT_EQ(nodes_with(nodes, std::vector{1, 4})[1].index, 2);
  EXPECT_THAT(nodes_with(nodes, {}), IsEmpty());
}

std::vector<int> places(const char* machine, const std::vector<int>& threads) {
  return nodes_of_devices(nodes_of(machine), threads);
}

TEST(NodesOfDevices, FillTheMachineInOrder) {
  EXPECT_THAT(places("numa:2 core:4 pu:1", {4, 4}), ElementsAre(0, 1));
  EXPECT_THAT(places("numa:2 core:4 pu:1", {2, 2, 2, 2}), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(places("numa:4 core:2 pu:1", {1, 1}), ElementsAre(1, 3));
  EXPECT_THAT(places("numa:2 core:4 pu:1", {1, 1, 1, 1, 1, 1}), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(places("numa:2 core:8 pu:1", {2, 6, 6, 2}), ElementsAre(0, 0, 1, 1));
}

TEST(NodesOfDevices, MoreDevicesThanProcessorsShareThem) {
  EXPECT_THAT(places("numa:2 core:1 pu:1", {1, 1, 1, 1}), ElementsAre(0, 0, 1, 1));
}

TEST(NodesOfDevices, OneThatNeedsMoreThanANodeLiesOnNone) {
  EXPECT_THAT(places("numa:2 core:4 pu:1", {5, 2}), ElementsAre(-1, 1));
  EXPECT_THAT(places("numa:2 core:4 pu:1", {8}), ElementsAre(-1));
}

TEST(NodesOfDevices, OneNodeIsNoChoice) {
  EXPECT_THAT(places("numa:1 core:4 pu:1", {2, 2}), ElementsAre(-1, -1));
  EXPECT_THAT(nodes_of_devices({}, std::vector{1, 1}), ElementsAre(-1, -1));
}

TEST(BoundThread, RunsOnItsNodeAndThenWhereItDidBefore) {
  const std::vector<int>& all = process_processors();
  EXPECT_EQ(support::own_processors(), all);
  const MemoryNode first{0, {all.front()}}, last{1, {all.back()}};
  {
    const BoundThread bound(&first);
    EXPECT_EQ(support::own_processors(), first.processors);
    {
      const BoundThread elsewhere(&last), same(&last), nowhere_in_particular(nullptr);
      EXPECT_EQ(support::own_processors(), last.processors);
      std::thread([&] { EXPECT_EQ(support::own_processors(), last.processors); }).join();
    }
    EXPECT_EQ(support::own_processors(), first.processors);
    EXPECT_EQ(process_processors(), all);
  }
  EXPECT_EQ(support::own_processors(), all);
}

TEST(BoundThread, TellsWhatTheSystemRefuses) {
  const MemoryNode absent{0, {1023}};
  if (process_processors().back() == 1023) GTEST_SKIP() << "this machine has a processor 1023";
  EXPECT_ERROR("cannot bind a thread to the processors 1023: Invalid argument", const BoundThread bound(&absent));
}

}  // namespace
}  // namespace gpubench
