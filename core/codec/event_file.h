// An event file of TensorBoard: TFRecords of tf.Event messages with scalars. Each is in the file at once, because
// TensorBoard reads it while the training goes on.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/codec/temporary_name.h"

namespace gpubench {

class EventFile {
 public:
  /// Makes a new file in the folder, which is made if it is missing. Throws Error if it cannot be written.
  explicit EventFile(const std::filesystem::path& folder);

  /// Throws Error with the reason.
  void add_scalar(std::string_view tag, double value, std::int64_t step);

 private:
  void write(const std::string& event);

  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace gpubench
