// Writes the figures of every epoch, numbered from 1, as a row of a CSV file; on disk before the next epoch begins.
#pragma once
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "core/train/callback.h"

namespace gpubench {

struct CsvLoggerOptions {
  std::filesystem::path path;
  char separator = ',';
  bool append = false;
};

class CsvLogger final : public Callback {
 public:
  explicit CsvLogger(CsvLoggerOptions options) : options_(std::move(options)) {}

  /// Throws Error when the file cannot be opened.
  void on_train_begin(Training& training) override;
  /// Throws Error when the row cannot be written.
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;
  void on_train_end(Training& training) override;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const std::string& line);

  CsvLoggerOptions options_;
  std::unique_ptr<std::FILE, Close> file_;
  bool needs_header_ = true;
};

}  // namespace gpubench
