#include "core/data/stage/ignore_errors.h"

#include <mutex>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view ignore_errors_stage = "ignore_errors";

class IgnoreErrorsCursor final : public StageCursor {
 public:
  IgnoreErrorsCursor(std::unique_ptr<Cursor> source, TensorTypes types)
      : StageCursor(ignore_errors_stage, std::move(source), types), fixed_(is_fixed(types)) {}

  bool next(Element& element) override {
    if (!first_good([&] { return source_->next(element); })) return false;
    produced_.add(element);
    return true;
  }

  bool next_into(std::span<const TensorView> slots) override {
    // A shape that does not fit into a batch is the batch's error, not the element's.
    if (!fixed_) return Cursor::next_into(slots);
    if (!first_good([&] { return source_->next_into(slots); })) return false;
    produced_.add(slots);
    return true;
  }

  std::span<const HostTensor> tables() const override { return source_->tables(); }
  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const std::size_t count = source_->next_rows(rows);
    produced_.add_rows(count);
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = StageCursor::statistics();
    stages.back().errors = errors_.get();
    const std::lock_guard lock(text_mutex_);
    if (!text_.empty()) stages.back().why = "the last error: " + text_;
    return stages;
  }

 private:
  template <class Take>
  bool first_good(const Take& take) {
    for (;;) {
      try {
        return take();
      } catch (const OutOfMemory&) {
        throw;
      } catch (const DeviceError&) {
        throw;
      } catch (const Error& error) {
        if (last_.repeats()) throw;
        errors_.add(1);
        note(error.what());
        check_interrupt();
      }
    }
  }

  void note(const char* text) {
    const std::lock_guard lock(text_mutex_);
    text_ = text;
  }

  bool fixed_;
  LastError last_;
  Tally<std::int64_t> errors_;
  mutable std::mutex text_mutex_;
  std::string text_;
};

class IgnoreErrorsDataset final : public Transformation {
 public:
  using Transformation::Transformation;
  std::string_view stage() const override { return ignore_errors_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return ignore_errors(std::move(source)); }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<IgnoreErrorsCursor>(source().open(epoch, options), element_types());
  }
};

}  // namespace

DatasetPtr ignore_errors(DatasetPtr source) {
  return std::make_shared<IgnoreErrorsDataset>(std::move(source));
}

}  // namespace gpubench
