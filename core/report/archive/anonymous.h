// Removes what tells whose run it is: names of hosts and users, and paths.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/run_reader.h"

namespace gpubench {

class Anonymizer {
 public:
  /// Takes the hosts from the run and the user from the environment (USER, LOGNAME, HOME).
  explicit Anonymizer(const Run& run);

  /// Paths become the name of their file; hosts and users become "host" and "user" where they are words of their own.
  std::string text(std::string_view original) const;
  /// Only paths and the hosts of processes, for text in which a word such as "gpu" means something else than the host
  /// of that name.
  std::string paths(std::string_view original) const;
  /// The run's name without its host: "20261124T041013Z-anonymous".
  std::string run_name() const { return run_name_; }
  /// run.json and rows.
  Run run(const Run& original) const;
  /// results.csv and others: cells of text.
  std::string table(std::string_view csv) const;

 private:
  struct Word {
    std::string from;
    std::string_view to;
    /// "runs_of_anna" has it too: names of users are seldom words of something else.
    bool may_be_part;
  };
  void add_word(const std::string& from, std::string_view to);
  Info clean(const Info& info, std::string_view field) const;
  Cell clean(const Cell& cell, std::string_view column) const;

  std::vector<Word> words_;
  std::string own_name_, run_name_;
};

}  // namespace gpubench
