#include "core/data/stage/filter.h"

#include <algorithm>
#include <array>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/element/input_block.h"
#include "core/data/function/block_function.h"
#include "core/data/function/chained_function.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view filter_stage = "filter";
constexpr std::int64_t asked_rows = 64;

class Answers final : public BlockOutputs {
 public:
  void begin(std::int64_t first, std::int64_t /*count*/) override { first_ = static_cast<std::size_t>(first); }
  std::byte* place(std::size_t /*index*/, const TensorType& /*type*/) override { return flags_.data() + first_; }
  bool operator[](std::int64_t i) const { return flags_[static_cast<std::size_t>(i)] != std::byte{0}; }
  void refuse(std::int64_t i) { flags_[static_cast<std::size_t>(i)] = std::byte{0}; }

 private:
  std::array<std::byte, asked_rows> flags_{};
  std::size_t first_ = 0;
};

/// Rows of tensors are tested in blocks and passed on as rows; other elements are tested one by one.
class FilterCursor final : public StageCursor {
 public:
  FilterCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::shared_ptr<const ElementFunction> predicate,
               const ElementNumbers& numbers)
      : StageCursor(filter_stage, std::move(source), types),
        reader_(*source_),
        predicate_(std::move(predicate), reader_.rows()),
        numbers_(numbers) {
    predicate_.start(block_, 0);
  }

  bool next(Element& element) override {
    if (!find_next()) return false;
    if (reader_.rows() != nullptr) {
      reader_.rows()->view(block_.rows[static_cast<std::size_t>(position_)], element);
    } else {
      element.swap(block_.elements[static_cast<std::size_t>(position_)]);
    }
    ++position_;
    produced_.add(element);
    return true;
  }

  std::span<const HostTensor> tables() const override {
    return reader_.rows() != nullptr ? std::span<const HostTensor>(reader_.rows()->tables())
                                     : std::span<const HostTensor>();
  }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    std::size_t count = 0;
    for (; count < rows.size() && find_next(); ++position_) {
      rows[count++] = block_.rows[static_cast<std::size_t>(position_)];
    }
    produced_.add_rows(count);
    return count;
  }

 private:
  /// Sets position_ to the next element that passes; false at the end.
  bool find_next() {
    for (;;) {
      for (; position_ < predicate_.position(); ++position_) {
        if (answers_[position_]) return true;
      }
      check_interrupt();
      if (!predicate_.done()) {
        ask();
      } else if (block_.error) {
        std::rethrow_exception(std::exchange(block_.error, nullptr));
      } else if (!read_block()) {
        return false;
      }
    }
  }

  void ask() {
    const Stopwatch watch;
    try {
      predicate_.advance(numbers_, answers_);
    } catch (...) {
      answers_.refuse(predicate_.position());
      predicate_.pass_over();
      throw;
    }
    busy_.add(watch.elapsed().count());
  }

  bool read_block() {
    read_ += block_.count;
    reader_.read(reader_.rows() != nullptr ? asked_rows : 1, block_);
    predicate_.start(block_, read_);
    position_ = 0;
    return block_.count > 0 || block_.error;
  }

  InputReader reader_;
  BlockFunction predicate_;
  const ElementNumbers numbers_;
  InputBlock block_;
  Answers answers_;
  std::int64_t read_ = 0;  // elements before the block
  std::int64_t position_ = 0;
};

class FilterDataset final : public Transformation {
 public:
  FilterDataset(DatasetPtr source, std::shared_ptr<const ElementFunction> predicate)
      : Transformation(std::move(source)), predicate_(std::move(predicate)) {}
  std::string_view stage() const override { return filter_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return filter(std::move(source), predicate_); }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<FilterCursor>(source().open(epoch, options), element_types(), predicate_,
                                          element_numbers(epoch, source()));
  }

 private:
  std::shared_ptr<const ElementFunction> predicate_;
};

}  // namespace

DatasetPtr filter(DatasetPtr source, std::shared_ptr<const ElementFunction> predicate) {
  require_host_elements(*source, "filter");
  const std::vector<TensorType>& inputs = source->element_types();
  const std::vector<TensorType> outputs = infer_outputs(*predicate, inputs);
  if (outputs != std::vector{TensorType{{}, Dtype::boolean}}) {
    throw Error(fmt::format("filter: the function gives {}; one bool[] is needed, whether to keep the element",
                            to_string(outputs)));
  }
  return std::make_shared<FilterDataset>(std::move(source), std::move(predicate));
}

}  // namespace gpubench
