// Rank 0 takes away what earlier runs left, each other rank lays down PATH.RANK with a number that it drew, and rank 0
// answers in PATH with all texts and those numbers. A rank believes an answer that has its number: what lies there from
// another run has not. All of it is taken away at the end.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <random>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/waiting.h"
#include "core/group/line_fields.h"
#include "core/group/rendezvous.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_mark = "gpubench rendezvous";

/// What PATH.RANK says.
struct FileOffer {
  std::string number;  ///< that the rank has drawn
  int size = 0;
  std::string text;
};

/// What PATH says.
struct FileAnswer {
  std::vector<std::string> numbers;  ///< by rank; empty for those that have not come
  std::string refused;               ///< why none of them may go on; empty when they may
  std::vector<std::string> texts;
};

/// The fields of one of our files, after the mark; none where there is none, or another's.
std::optional<LineFields> fields_in(const fs::path& path) {
  std::ifstream file(path);
  std::string line, first;
  std::getline(file, line);
  LineFields fields(line);
  try {
    fields.read(first);
  } catch (const Error&) {
    return std::nullopt;
  }
  return first == file_mark ? std::optional(std::move(fields)) : std::nullopt;
}

std::optional<FileOffer> offer_in(const fs::path& path) {
  std::optional<LineFields> fields = fields_in(path);
  FileOffer offer;
  if (!fields) return std::nullopt;
  fields->read(offer.number, offer.size, offer.text);
  return offer;
}

std::optional<FileAnswer> answer_in(const fs::path& path) {
  std::optional<LineFields> fields = fields_in(path);
  FileAnswer answer;
  if (!fields) return std::nullopt;
  fields->read(answer.numbers, answer.refused, answer.texts);
  return answer;
}

class FileMeeting {
 public:
  FileMeeting(const Rendezvous& rendezvous, const fs::path& path, Seconds patience)
      : rendezvous_(rendezvous), path_(path), patience_(patience) {}

  std::vector<std::string> lead(const std::string& mine) {
    clear_the_place();
    FileAnswer answer;
    answer.texts.resize(static_cast<std::size_t>(rendezvous_.size));
    answer.numbers.resize(answer.texts.size());
    answer.texts[0] = mine;
    wait_until([&] { return collect(answer); },
               [&] { return fmt::format("{}, which did not come", ranks_text(missing(answer))); });
    write(path_, to_line(file_mark, answer.numbers, answer.refused, answer.texts));
    wait_for_readers(answer);
    remove(path_);
    if (!answer.refused.empty()) throw Error(answer.refused);
    return answer.texts;
  }

  std::vector<std::string> follow(const std::string& mine) {
    const fs::path own = path_of(rendezvous_.rank);
    const std::string number = std::to_string(std::random_device()()) + std::to_string(::getpid());
    const std::string content = to_line(file_mark, number, rendezvous_.size, mine);
    write(own, content);
    std::optional<FileAnswer> answer;
    const auto answered = [&] {
      if (!fs::exists(own)) write(own, content);  // rank 0 came later, and took it for another run's
      answer = answer_in(path_);
      const auto rank = static_cast<std::size_t>(rendezvous_.rank);
      return answer && rank < answer->numbers.size() && answer->numbers[rank] == number;
    };
    try {
      wait_until(answered, [&] { return fmt::format("rank 0, which {}", answer ? stale() : "did not come"); });
    } catch (...) {
      remove(own);
      throw;
    }
    remove(own);
    if (!answer->refused.empty()) throw Error(answer->refused);
    return answer->texts;
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
      if (!fields_in(path)) {
        throw Error(fmt::format("{}: {} is there and not gpubench's: name a file that is not there yet",
                                subject(rendezvous_), path.string()));
      }
      remove(path);
    }
  }

  void write(const fs::path& path, const std::string& line) const {
    const fs::path draft = fmt::format("{}.{}.draft", path.string(), ::getpid());
    errno = 0;
    std::ofstream file(draft);
    file << line << '\n';
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

  std::vector<int> missing(const FileAnswer& answer) const {
    std::vector<int> ranks;
    for (int rank = 1; rank < rendezvous_.size; ++rank) {
      if (answer.numbers[static_cast<std::size_t>(rank)].empty()) ranks.push_back(rank);
    }
    return ranks;
  }

  /// Whether all have come, or one that does not belong here.
  bool collect(FileAnswer& answer) const {
    for (const int rank : missing(answer)) {
      const std::optional<FileOffer> offer = offer_in(path_of(rank));
      if (!offer) continue;
      answer.numbers[static_cast<std::size_t>(rank)] = offer->number;
      answer.texts[static_cast<std::size_t>(rank)] = offer->text;
      answer.refused = refusal(rendezvous_, rank, offer->size, false);
      if (!answer.refused.empty()) return true;
    }
    return missing(answer).empty();
  }

  /// They take their files away when they have read the answer. Who does not in time has other troubles.
  void wait_for_readers(const FileAnswer& answer) const {
    const auto is_read = [&](int rank) {
      const std::optional<FileOffer> offer = offer_in(path_of(rank));
      return !offer || offer->number != answer.numbers[static_cast<std::size_t>(rank)];
    };
    const Stopwatch since;
    int rank = 1;
    for (Pause pause; since.elapsed() < patience_; pause()) {
      while (rank < rendezvous_.size && is_read(rank)) ++rank;
      if (rank == rendezvous_.size) return;
      check_interrupt();
    }
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
  FileMeeting meeting(rendezvous, path, patience);
  return rendezvous.rank == 0 ? meeting.lead(mine) : meeting.follow(mine);
}

}  // namespace gpubench
