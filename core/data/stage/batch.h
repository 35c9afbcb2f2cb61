// Stacks consecutive elements along a new first dimension. Each row is copied once, into 64-byte aligned memory that is
// reused when the last owner of the batch releases it.
//
//   batch(digits, 32)  // (float32[?, 784], float32[?, 10]), the last batch of an epoch may be smaller
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/data/dataset.h"
#include "core/data/element/block_pool.h"
#include "core/data/produced.h"

namespace gpubench {

/// `drop_remainder` drops an incomplete last batch. Throws Error if no batch is left.
DatasetPtr batch(DatasetPtr source, std::int64_t size, bool drop_remainder = false);

/// Base of the stages that create batches: how they divide the source's elements.
class Batching : public Transformation {
 public:
  std::int64_t batch_size() const { return batch_size_; }
  bool drop_remainder() const { return drop_remainder_; }
  /// The same stage, but with batches of `size` elements of `source`.
  virtual DatasetPtr resized(DatasetPtr source, std::int64_t size) const = 0;
  DatasetPtr with_source(DatasetPtr source) const override { return resized(std::move(source), batch_size_); }

  std::string settings() const override;
  std::int64_t examples_per_element() const override {
    const std::int64_t each = source().examples_per_element();
    return batch_size_ > endless / each ? endless : batch_size_ * each;
  }
  std::optional<std::int64_t> size() const override;

 protected:
  Batching(DatasetPtr source, std::int64_t size, bool drop_remainder)
      : Transformation(std::move(source)), batch_size_(size), drop_remainder_(drop_remainder) {}
  /// Rows of every batch; `varying` if the last may have fewer.
  std::int64_t rows() const;

 private:
  std::int64_t batch_size_;
  bool drop_remainder_;
};

/// Base of the cursors of such stages: the batches' memory, and which batches there are.
class BatchCursor : public StageCursor {
 public:
  std::int64_t skip(std::int64_t count) override {
    const std::int64_t most = endless / size_;
    const std::int64_t rows = source_->skip(count > most ? endless : count * size_);
    return rows / size_ + (complete(rows % size_) ? 1 : 0);
  }

 protected:
  /// `types` are those of the batches.
  BatchCursor(std::string_view stage, std::unique_ptr<Cursor> source, TensorTypes types, std::int64_t size,
              bool drop_remainder, const CursorOptions& options)
      : StageCursor(stage, std::move(source), types),
        size_(size),
        drop_remainder_(drop_remainder),
        pool_(options.memory) {}
  /// Whether `rows` elements make a batch.
  bool complete(std::int64_t rows) const { return rows == size_ || (rows > 0 && !drop_remainder_); }

  const std::int64_t size_;
  const bool drop_remainder_;
  BlockPool pool_;
};

/// Throws Error naming `stage` for sizes below 1, including AUTOTUNE: a dataset does not know what fits a model.
void require_batch_size(std::string_view stage, std::int64_t size);

}  // namespace gpubench
