// What the sources that read records from files share: one file after the other, each open only while it is read, and
// errors after which the cursor goes on.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// The records of one open file.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  /// Goes to the next record; false at the end. Throws Error for a record that is damaged, after which the next call
  /// goes on behind it or ends the file.
  virtual bool next() = 0;
  /// Hands out the record.
  virtual void put(ElementOutputs& outputs) const = 0;
};

struct RecordFormat {
  std::string_view stage;
  std::vector<TensorType> types;
  std::function<std::unique_ptr<RecordFile>(const std::string& path)> open;
};

/// The records of all `paths`, in their order.
DatasetPtr record_files(std::vector<std::string> paths, RecordFormat format);

}  // namespace gpubench
