// A source that reads records from files, one file after the other; each file is open only while it is read. A damaged
// record is an Error, after which the cursor continues.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/element/block_pool.h"
#include "core/data/function/element_function.h"
#include "core/data/types.h"

namespace gpubench {

/// Gives each element of a cursor its own memory.
class PooledElement final : public ElementOutputs {
 public:
  PooledElement(BlockPool& pool, Element& element) : pool_(pool), element_(element) { release(element_); }
  std::byte* place(std::size_t index, const TensorType& type) override {
    if (element_.size() <= index) element_.resize(index + 1);
    pool_.allocate(type, element_[index]);
    return element_[index].data();
  }

 private:
  BlockPool& pool_;
  Element& element_;
};

/// Writes an element of a cursor into the slots of a batch.
class ElementSlots final : public ElementOutputs {
 public:
  explicit ElementSlots(std::span<const TensorView> slots) : slots_(slots) {}
  std::byte* place(std::size_t index, const TensorType& type) override {
    if (type == *slots_[index].type) return slots_[index].data;
    throw unequal_shapes(type, *slots_[index].type);
  }

 private:
  std::span<const TensorView> slots_;
};

/// The records of one open file.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  /// Moves to the next record; false at the end. Throws Error for a damaged record; the next call continues after it or
  /// ends the file.
  virtual bool next() = 0;
  /// Writes the record to `outputs`.
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
