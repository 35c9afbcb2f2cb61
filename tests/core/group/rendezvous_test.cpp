// Processes, which are threads here, that find each other, and those that do not.
#include "core/group/rendezvous.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/base/error.h"
#include "core/group/line_fields.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr Seconds patience{60}, impatience{0.2};

/// A socket of 127.0.0.1, at a port that was free.
class Port {
 public:
  Port() : handle_(::socket(AF_INET, SOCK_STREAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(handle_, reinterpret_cast<sockaddr*>(&address_), sizeof address_);
    socklen_t length = sizeof address_;
    ::getsockname(handle_, reinterpret_cast<sockaddr*>(&address_), &length);
  }
  ~Port() { free(); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  void listen() const { ::listen(handle_, 4); }
  void free() {
    if (handle_ >= 0) ::close(handle_);
    handle_ = -1;
  }
  std::string place() const { return fmt::format("tcp://127.0.0.1:{}", number()); }
  int number() const { return ntohs(address_.sin_port); }

  /// Says something to whoever listens there, once somebody does.
  void knock(const std::string& words) const {
    for (;;) {
      const int caller = ::socket(AF_INET, SOCK_STREAM, 0);
      const bool open = ::connect(caller, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) == 0;
      if (open) static_cast<void>(::send(caller, words.data(), words.size(), MSG_NOSIGNAL));
      ::close(caller);
      if (open) return;
      std::this_thread::yield();
    }
  }

 private:
  int handle_;
  sockaddr_in address_{};
};

using Texts = std::vector<std::string>;

/// What each process got: its texts, or the error's text alone.
using Outcomes = std::map<int, std::vector<std::string>>;

Outcomes meet_all(const std::vector<Rendezvous>& processes, Seconds how_patient = patience) {
  Outcomes outcomes;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    threads.emplace_back([&, i] {
      std::vector<std::string> texts;
      try {
        texts = processes[i].meet(fmt::format("text {}", i), how_patient);
      } catch (const Error& error) {
        texts = {error.what()};
      }
      const std::lock_guard lock(mutex);
      outcomes[static_cast<int>(i)] = texts;
    });
  }
  threads.clear();
  return outcomes;
}

class RendezvousTest : public TemporaryFolder {
 protected:
  std::string path() const { return file("id").string(); }
  std::string place() const { return "file:" + path(); }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(file("").parent_path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST_F(RendezvousTest, ProcessesMeetAtAFileAndLeaveNothing) {
  const Outcomes outcomes = meet_all({{place(), 0, 3}, {place(), 1, 3}, {place(), 2, 3}});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(outcomes.at(i), ElementsAre("text 0", "text 1", "text 2"));
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_THAT(meet_all({{place(), 0, 1}}).at(0), ElementsAre("text 0"));
}

TEST_F(RendezvousTest, WhatAnEarlierRunLeftIsNotTaken) {
  // All that a run leaves that is killed in the middle.
  write("id.1", to_line("gpubench rendezvous", "7", 2, "old"));
  write("id", to_line("gpubench rendezvous", Texts{"", "7"}, "", Texts{"old", "old"}));
  const Outcomes outcomes = meet_all({{place(), 0, 2}, {place(), 1, 2}});
  for (int i = 0; i < 2; ++i) EXPECT_THAT(outcomes.at(i), ElementsAre("text 0", "text 1"));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(RendezvousTest, StaleFilesAreToldFromLiveOnes) {
  write("id", to_line("gpubench rendezvous", Texts{"", "7"}, "", Texts{"old", "old"}));
  EXPECT_THAT(
      [&] {
        (Rendezvous{place(), 1, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(fmt::format("rank 1 of 2 at {} (GPUBENCH_NCCL_ID) waited 0.2 s for rank 0, which did "
                                       "not come: what lies at {} is of another run; give each run a file of its own",
                                       place(), path())));
}

TEST_F(RendezvousTest, FilesOfOthersAreNotTouched) {
  write("id", "the only copy of my thesis");
  EXPECT_THAT(
      [&] {
        (Rendezvous{place(), 0, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(fmt::format("rank 0 of 2 at {} (GPUBENCH_NCCL_ID): {} is there and not gpubench's: "
                                       "name a file that is not there yet",
                                       place(), path())));
  EXPECT_EQ(contents(path()), "the only copy of my thesis");
}

TEST_F(RendezvousTest, WhoDoesNotComeToAFileIsNamed) {
  EXPECT_THAT(
      [&] {
        (Rendezvous{place(), 0, 4}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(fmt::format("rank 0 of 4 at {} (GPUBENCH_NCCL_ID) waited 0.2 s for ranks 1, 2 and 3, "
                                       "which did not come",
                                       place())));
  EXPECT_THAT(
      [&] {
        (Rendezvous{place(), 1, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(HasSubstr("waited 0.2 s for rank 0, which did not come")));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(RendezvousTest, AFileThatCannotBeWrittenIsNamed) {
  const std::string nowhere = "file:" + file("no/such/folder/id").string();
  EXPECT_THAT(
      [&] {
        (Rendezvous{nowhere, 1, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("rank 1 of 2 at " + nowhere), HasSubstr("id.1 cannot be written: No such "
                                                                                   "file or directory"))));
}

TEST_F(RendezvousTest, RanksThatCountDifferentlyAreToldAtOnce) {
  const std::string refused = place() + ": rank 1 came with GPUBENCH_RANKS=3, rank 0 with GPUBENCH_RANKS=2";
  const Outcomes outcomes = meet_all({{place(), 0, 2}, {place(), 1, 3}});
  EXPECT_THAT(outcomes.at(0), ElementsAre(refused));
  EXPECT_THAT(outcomes.at(1), ElementsAre(refused));
}

TEST_F(RendezvousTest, ProcessesMeetAtAnAddress) {
  Port port;
  port.free();
  const std::string at = port.place();
  const Outcomes outcomes = meet_all({{at, 0, 3}, {at, 1, 3}, {at, 2, 3}});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(outcomes.at(i), ElementsAre("text 0", "text 1", "text 2"));
}

TEST_F(RendezvousTest, StrangersAreSentAway) {
  Port port;
  port.free();
  const std::string at = port.place();
  const std::jthread stranger([&] {
    port.knock("GET / HTTP/1.1\r\n\r\n");
    port.knock("gpubench\x7f\x7f\x7f\x7f");
    port.knock(std::string("gpubench\0\0\0\2{}", 14));
    static_cast<void>(Rendezvous{at, 1, 2}.meet("the friend", patience));
  });
  EXPECT_THAT((Rendezvous{at, 0, 2}.meet("mine", patience)), ElementsAre("mine", "the friend"));
}

TEST_F(RendezvousTest, APortThatIsTakenIsNamed) {
  const Port port;
  port.listen();
  EXPECT_THAT(
      [&] {
        (Rendezvous{port.place(), 0, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(fmt::format("rank 0 of 2 at {} (GPUBENCH_NCCL_ID): port {} of 127.0.0.1 cannot be had: "
                                       "Address already in use",
                                       port.place(), port.number())));
}

TEST_F(RendezvousTest, WhoDoesNotComeToAnAddressIsNamed) {
  Port port;
  EXPECT_THAT(
      [&] {
        (Rendezvous{port.place(), 1, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(fmt::format("rank 1 of 2 at {} (GPUBENCH_NCCL_ID) waited 0.2 s for rank 0 there: "
                                       "Connection refused",
                                       port.place())));
  port.listen();
  EXPECT_THAT(
      [&] {
        (Rendezvous{port.place(), 1, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(HasSubstr("waited 0.2 s for an answer of rank 0, which did "
                                     "not come, or is not gpubench's")));
  port.free();
  EXPECT_THAT(
      [&] {
        (Rendezvous{port.place(), 0, 3}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(HasSubstr("waited 0.2 s for ranks 1 and 2, which did not come")));
}

TEST_F(RendezvousTest, RanksThatDoNotGoTogetherAreToldAtOnce) {
  Port port;
  port.free();
  const std::string at = port.place();
  const std::string refused = at + ": rank 1 came with GPUBENCH_RANKS=3, rank 0 with GPUBENCH_RANKS=2";
  const Outcomes sizes = meet_all({{at, 0, 2}, {at, 1, 3}});
  EXPECT_THAT(sizes.at(0), ElementsAre(refused));
  EXPECT_THAT(sizes.at(1), ElementsAre(refused));
  const Outcomes twice = meet_all({{at, 0, 3}, {at, 1, 3}, {at, 1, 3}});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(twice.at(i), ElementsAre(at + ": two processes came with GPUBENCH_RANK=1"));
}

TEST_F(RendezvousTest, AddressesThatAreNoneAreRefused) {
  EXPECT_THAT(
      [] {
        (Rendezvous{"tcp://localhost", 0, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>("rank 0 of 2 at tcp://localhost (GPUBENCH_NCCL_ID): an address is tcp://host:port"));
  EXPECT_THAT(
      [] {
        (Rendezvous{"tcp://no.such.host.invalid:1", 0, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(HasSubstr("rank 0 of 2 at tcp://no.such.host.invalid:1 (GPUBENCH_NCCL_ID): ")));
  EXPECT_THAT(
      [] {
        (Rendezvous{"tcp://192.0.2.1:4000", 0, 2}.meet("mine", impatience));
      },
      ThrowsMessage<Error>(HasSubstr("port 4000 of 192.0.2.1 cannot be had: Cannot assign requested address")));
}

TEST(RendezvousEnvironment, SaysWhereAndWho) {
  const auto set = [](const char* id, const char* rank, const char* ranks) {
    for (const auto& [name, value] :
         {std::pair{"GPUBENCH_NCCL_ID", id}, {"GPUBENCH_RANK", rank}, {"GPUBENCH_RANKS", ranks}}) {
      value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    }
  };
  set(nullptr, nullptr, nullptr);
  EXPECT_FALSE(Rendezvous::from_environment());
  set("file:/tmp/id", "1", "2");
  const Rendezvous found = Rendezvous::from_environment().value();
  EXPECT_EQ(found.place, "file:/tmp/id");
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.size, 2);
  set("/tmp/id", "1", "2");
  EXPECT_THAT([] { Rendezvous::from_environment(); },
              ThrowsMessage<Error>("GPUBENCH_NCCL_ID=/tmp/id is no place to meet; possible are file:/path, seen by all "
                                   "processes, and tcp://host:port, an address of rank 0"));
  set("tcp://a:1", nullptr, "2");
  EXPECT_THAT([] { Rendezvous::from_environment(); },
              ThrowsMessage<Error>("GPUBENCH_NCCL_ID=tcp://a:1 needs GPUBENCH_RANK (from 0) and GPUBENCH_RANKS (how "
                                   "many), one process each; GPUBENCH_RANK is not set"));
  set("tcp://a:1", "0", "two");
  EXPECT_THAT([] { Rendezvous::from_environment(); }, ThrowsMessage<Error>(HasSubstr("GPUBENCH_RANKS is 'two'")));
  set("tcp://a:1", "2", "2");
  EXPECT_THAT([] { Rendezvous::from_environment(); },
              ThrowsMessage<Error>("GPUBENCH_RANK=2 is none of the 2 ranks of GPUBENCH_RANKS, which count from 0"));
  set(nullptr, nullptr, nullptr);
}

}  // namespace
}  // namespace gpubench
