#include "core/train/csv_logger.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {

void CsvLogger::on_train_begin(Training&) {
  std::error_code ignored;
  needs_header_ = !options_.append || std::filesystem::file_size(options_.path, ignored) == 0 || ignored;
  file_.reset(std::fopen(options_.path.c_str(), options_.append ? "a" : "w"));
  if (!file_) {
    throw Error(fmt::format("CSVLogger: cannot write {}: {}", options_.path.string(), std::strerror(errno)));
  }
}

void CsvLogger::write(const std::string& line) {
  const bool written = std::fputs(line.c_str(), file_.get()) >= 0 && std::fflush(file_.get()) == 0;
  if (!written) {
    throw Error(fmt::format("CSVLogger: cannot write {}: {}", options_.path.string(), std::strerror(errno)));
  }
}

void CsvLogger::on_epoch_end(Training&, std::int64_t epoch, Logs& logs) {
  std::string header = "epoch", row = std::to_string(epoch + 1);
  for (const auto& [name, value] : logs) {
    header += options_.separator + name;
    row += fmt::format("{}{}", options_.separator, value);
  }
  if (needs_header_) write(header + "\n");
  needs_header_ = false;
  write(row + "\n");
}

void CsvLogger::on_train_end(Training&) {
  file_.reset();
}

}  // namespace gpubench
