// An input that tells a test when, and on which thread, it is opened and read.
#pragma once
#include <functional>
#include <memory>

#include "core/data/dataset.h"

namespace gpubench {

struct InputEvents {
  std::function<void()> opens = [] {};
  /// Before each element, and the end.
  std::function<void()> reads = [] {};
};

class WatchedInput final : public Transformation {
 public:
  WatchedInput(DatasetPtr source, InputEvents events) : Transformation(std::move(source)), events_(std::move(events)) {}
  std::string_view stage() const override { return "watched"; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    class WatchedCursor final : public Cursor {
     public:
      WatchedCursor(std::unique_ptr<Cursor> inner, const InputEvents& events)
          : inner_(std::move(inner)), events_(events) {}
      bool next(Element& element) override {
        events_.reads();
        return inner_->next(element);
      }
      std::vector<StageStatistics> statistics() const override { return inner_->statistics(); }

     private:
      const std::unique_ptr<Cursor> inner_;
      const InputEvents& events_;
    };
    events_.opens();
    return std::make_unique<WatchedCursor>(source().open(epoch, options), events_);
  }

 private:
  const InputEvents events_;
};

inline DatasetPtr watched(DatasetPtr source, InputEvents events) {
  return std::make_shared<WatchedInput>(std::move(source), std::move(events));
}

}  // namespace gpubench
