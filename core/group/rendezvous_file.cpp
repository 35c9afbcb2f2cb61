// Rank 0 takes away what earlier runs left, each other rank lays down PATH.RANK with a number that it drew, and rank 0
// answers in PATH with all texts and those numbers. A rank believes an answer that has its number: what lies there from
// another run has not. All of it is taken away at the end.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/waiting.h"
#include "core/group/rendezvous.h"

namespace gpubench::nccl {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view mark = "gpubench rendezvous";

/// What one of our files says; null where there is none, or another's.
json read(const fs::path& path) {
  std::ifstream file(path);
  json content = json::parse(file, nullptr, false);
  return content.is_object() && content.value("file", "") == mark ? content : json();
}

class Meeting {
 public:
  Meeting(const Rendezvous& rendezvous, const fs::path& path, Seconds patience)
      : rendezvous_(rendezvous), path_(path), patience_(patience) {}

  std::vector<std::string> lead(const std::string& mine) {
    clear_the_place();
    std::vector<std::string> texts(static_cast<std::size_t>(rendezvous_.size));
    texts[0] = mine;
    json answer{{"file", mark}, {"numbers", json::object()}};
    std::string refused;
    wait_until([&] { return collect(texts, answer["numbers"], refused); },
               [&] { return fmt::format("{}, which did not come", ranks_text(missing(answer["numbers"]))); });
    answer[refused.empty() ? "texts" : "refused"] = refused.empty() ? json(texts) : json(refused);
    write(path_, answer);
    wait_for_readers(answer["numbers"]);
    remove(path_);
    if (!refused.empty()) throw Error(refused);
    return texts;
  }

  std::vector<std::string> follow(const std::string& mine) {
    const fs::path own = path_of(rendezvous_.rank);
    const std::string number = std::to_string(std::random_device()()) + std::to_string(::getpid());
    const json content{{"file", mark}, {"number", number}, {"size", rendezvous_.size}, {"text", mine}};
    write(own, content);
    json answer;
    const std::string key = std::to_string(rendezvous_.rank);
    const auto answered = [&] {
      if (!fs::exists(own)) write(own, content);  // rank 0 came later, and took it for another run's
      answer = read(path_);
      return !answer.is_null() && answer["numbers"].value(key, "") == number;
    };
    try {
      wait_until(answered,
                 [&] { return fmt::format("rank 0, which {}", answer.is_null() ? "did not come" : stale()); });
    } catch (...) {
      remove(own);
      throw;
    }
    remove(own);
    if (answer.contains("refused")) throw Error(answer["refused"].get<std::string>());
    return answer["texts"].get<std::vector<std::string>>();
  }

 private:
  fs::path path_of(int rank) const { return fs::path(fmt::format("{}.{}", path_.string(), rank)); }

  static void remove(const fs::path& path) {
    std::error_code failed;
    fs::remove(path, failed);
  }

  void clear_the_place() const {
    for (int rank = 0; rank < rendezvous_.size; ++rank) {
      const fs::path path = rank == 0 ? path_ : path_of(rank);
      std::error_code failed;
      if (!fs::exists(path, failed)) continue;
      if (read(path).is_null()) {
        throw Error(fmt::format("{}: {} is there and not gpubench's: name a file that is not there yet",
                                subject(rendezvous_), path.string()));
      }
      remove(path);
    }
  }

  void write(const fs::path& path, const json& content) const {
    const fs::path draft = fmt::format("{}.{}.draft", path.string(), ::getpid());
    errno = 0;
    std::ofstream file(draft);
    file << content;
    file.close();
    std::error_code failed;
    if (file) fs::rename(draft, path, failed);
    if (file && !failed) return;
    const std::string reason = failed ? failed.message() : std::strerror(errno);
    remove(draft);
    throw Error(fmt::format("{}: {} cannot be written: {}", subject(rendezvous_), path.string(), reason));
  }

  template <class Done, class Whom>
  void wait_until(const Done& done, const Whom& whom) const {
    const Stopwatch since;
    for (Pause pause; !done(); pause()) {
      check_interrupt();
      if (since.elapsed() < patience_) continue;
      throw Error(fmt::format("{} waited {:.3g} s for {}", subject(rendezvous_), patience_.count(), whom()));
    }
  }

  std::vector<int> missing(const json& numbers) const {
    std::vector<int> ranks;
    for (int rank = 1; rank < rendezvous_.size; ++rank) {
      if (!numbers.contains(std::to_string(rank))) ranks.push_back(rank);
    }
    return ranks;
  }

  /// Whether all have come, or one that does not belong here.
  bool collect(std::vector<std::string>& texts, json& numbers, std::string& refused) const {
    for (const int rank : missing(numbers)) {
      const json content = read(path_of(rank));
      if (content.is_null()) continue;
      numbers[std::to_string(rank)] = content["number"];
      texts[static_cast<std::size_t>(rank)] = content["text"];
      refused = refusal(rendezvous_, rank, content["size"], false);
      if (!refused.empty()) return true;
    }
    return missing(numbers).empty();
  }

  /// They take their files away when they have read the answer. Who does not in time has other troubles.
  void wait_for_readers(const json& numbers) const {
    const Stopwatch since;
    const auto read_by_all = [&] {
      return std::ranges::none_of(numbers.items(), [&](const auto& rank) {
        const json content = read(path_of(std::stoi(rank.key())));
        return !content.is_null() && content["number"] == rank.value();
      });
    };
    for (Pause pause; !read_by_all() && since.elapsed() < patience_; pause()) check_interrupt();
  }

  std::string stale() const {
    return fmt::format("did not come: what lies at {} is of another run; give each run a file of its own",
                       path_.string());
  }

  const Rendezvous& rendezvous_;
  fs::path path_;
  Seconds patience_;
};

}  // namespace

std::vector<std::string> meet_at_file(const Rendezvous& rendezvous, const std::string& path, const std::string& mine,
                                      Seconds patience) {
  Meeting meeting(rendezvous, path, patience);
  return rendezvous.rank == 0 ? meeting.lead(mine) : meeting.follow(mine);
}

}  // namespace gpubench::nccl
