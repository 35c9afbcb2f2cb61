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

/// Where an element that does not pass ends the epoch, or is left out.
struct FilterStage {
  std::string_view name;
  bool ends;
};
constexpr FilterStage filter_stage{"filter", false};
constexpr FilterStage take_while_stage{"take_while", true};
constexpr std::int64_t asked_rows = 64;

class Answers final : public BlockOutputs {
 public:
  void begin(std::int64_t first, std::int64_t /*count*/) override { first_ = static_cast<std::size_t>(first); }
  std::byte* place(std::size_t /*index*/, const TensorType& /*type*/) override { return flags_.data() + first_; }
  bool pass(std::int64_t i) const { return flags_[static_cast<std::size_t>(i)] == std::byte{true}; }
  /// Whether there is no answer.
  bool failed(std::int64_t i) const { return flags_[static_cast<std::size_t>(i)] == no_answer; }
  void fail(std::int64_t i) { flags_[static_cast<std::size_t>(i)] = no_answer; }

 private:
  static constexpr std::byte no_answer{2};
  std::array<std::byte, asked_rows> flags_{};
  std::size_t first_ = 0;
};

/// Rows of tensors are tested in blocks and passed on as rows; other elements are tested one by one.
class FilterCursor final : public StageCursor {
 public:
  FilterCursor(const FilterStage& stage, std::unique_ptr<Cursor> source, TensorTypes types,
               std::shared_ptr<const ElementFunction> predicate, const ElementNumbers& numbers)
      : StageCursor(stage.name, std::move(source), types),
        ends_(stage.ends),
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
    while (!ended_) {
      for (; position_ < predicate_.position(); ++position_) {
        if (answers_.pass(position_)) return true;
        ended_ = ends_ && !answers_.failed(position_);
        if (ended_) return false;
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
    return false;
  }

  void ask() {
    const Stopwatch watch;
    try {
      predicate_.advance(numbers_, answers_);
    } catch (...) {
      answers_.fail(predicate_.position());
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

  const bool ends_;
  bool ended_ = false;
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
  FilterDataset(const FilterStage& stage, DatasetPtr source, std::shared_ptr<const ElementFunction> predicate)
      : Transformation(std::move(source)), stage_(stage), predicate_(std::move(predicate)) {}
  std::string_view stage() const override { return stage_.name; }
  DatasetPtr with_source(DatasetPtr source) const override {
    return std::make_shared<FilterDataset>(stage_, std::move(source), predicate_);
  }
  bool counts_elements() const override { return stage_.ends; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<FilterCursor>(stage_, source().open(epoch, options), element_types(), predicate_,
                                          element_numbers(epoch, source()));
  }

 private:
  const FilterStage& stage_;
  std::shared_ptr<const ElementFunction> predicate_;
};

DatasetPtr filtered_by(const FilterStage& stage, DatasetPtr source, std::shared_ptr<const ElementFunction> predicate) {
  require_host_elements(*source, stage.name);
  const std::vector<TensorType> outputs = infer_outputs(*predicate, source->element_types());
  if (outputs != std::vector{TensorType{{}, Dtype::boolean}}) {
    throw Error(fmt::format("{}: the function gives {}; one bool[] is needed, whether to keep the element", stage.name,
                            to_string(outputs)));
  }
  return std::make_shared<FilterDataset>(stage, std::move(source), std::move(predicate));
}

}  // namespace

DatasetPtr filter(DatasetPtr source, std::shared_ptr<const ElementFunction> predicate) {
  return filtered_by(filter_stage, std::move(source), std::move(predicate));
}

DatasetPtr take_while(DatasetPtr source, std::shared_ptr<const ElementFunction> predicate) {
  return filtered_by(take_while_stage, std::move(source), std::move(predicate));
}

}  // namespace gpubench
