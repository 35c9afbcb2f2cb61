#include "core/data/stage/window.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/element/block_pool.h"
#include "core/data/element/rows.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view window_stage = "window";

/// Distance from the first to the last element of a window, plus one.
std::int64_t span_of(const WindowOptions& options) {
  return (options.size - 1) * options.stride + 1;
}

/// Keeps the source's elements from the start of the window on, at most a window's span. `Item` is a row number or an
/// Element.
template <class Item>
class WindowCursor : public StageCursor {
 public:
  bool next(Element& element) final {
    release(element);
    if (!fill()) return false;
    const Stopwatch watch;
    const MoveOn after{*this};  // also if the elements cannot be stacked
    stack(std::min(options_.size, (std::ssize(held_) - 1) / options_.stride + 1), element);
    produced_.add(element);
    busy_.add(watch.elapsed().count());
    return true;
  }

  std::int64_t skip(std::int64_t count) final {
    std::int64_t skipped = 0;
    for (; skipped < count && fill(); ++skipped) move_on();
    return skipped;
  }

 protected:
  WindowCursor(std::unique_ptr<Cursor> source, TensorTypes types, const WindowOptions& options,
               const CursorOptions& cursor)
      : StageCursor(window_stage, std::move(source), types), pool_(cursor.memory), options_(options) {}

  /// Appends up to `count` elements to `held`; fewer only at the source's end.
  virtual std::int64_t read(std::int64_t count, std::deque<Item>& held) = 0;
  /// Stacks the first `count` elements of the window.
  virtual void stack(std::int64_t count, Element& window) = 0;

  const Item& item(std::int64_t i) const { return held_[static_cast<std::size_t>(i * options_.stride)]; }

  BlockPool pool_;

 private:
  /// Reads the elements of the window; false if there is none.
  bool fill() {
    const std::int64_t span = span_of(options_);
    while (!ended_ && (gap_ > 0 || std::ssize(held_) < span)) {
      check_interrupt();
      if (gap_ > 0) {
        const std::int64_t passed = source_->skip(gap_);
        ended_ = passed < gap_;
        gap_ -= passed;
        continue;
      }
      const std::int64_t wanted = span - std::ssize(held_);
      ended_ = read(wanted, held_) < wanted;
    }
    if (gap_ > 0 || held_.empty()) return false;
    return !options_.drop_remainder || std::ssize(held_) == span;
  }

  struct MoveOn {
    WindowCursor& cursor;
    ~MoveOn() { cursor.move_on(); }
  };

  void move_on() {
    const std::int64_t dropped = std::min(options_.shift, std::ssize(held_));
    held_.erase(held_.begin(), held_.begin() + dropped);
    gap_ = options_.shift - dropped;
  }

  const WindowOptions options_;
  std::deque<Item> held_;
  std::int64_t gap_ = 0;  // elements before the next window
  bool ended_ = false;
};

/// For rows of tensors: copies each row once, directly from the tensors.
class RowWindowCursor final : public WindowCursor<std::int64_t> {
 public:
  RowWindowCursor(std::unique_ptr<Cursor> source, TensorTypes types, const WindowOptions& options,
                  const CursorOptions& cursor)
      : WindowCursor(std::move(source), types, options, cursor), rows_(source_->tables()) {}

 private:
  std::int64_t read(std::int64_t count, std::deque<std::int64_t>& held) override {
    numbers_.resize(static_cast<std::size_t>(std::min(count, most_at_once)));
    std::int64_t all = 0;
    while (all < count) {
      const auto wanted = static_cast<std::size_t>(std::min(count - all, most_at_once));
      const std::size_t found = source_->next_rows(std::span(numbers_).first(wanted));
      held.insert(held.end(), numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(found));
      all += static_cast<std::int64_t>(found);
      if (found < wanted) break;
    }
    return all;
  }

  void stack(std::int64_t count, Element& window) override {
    numbers_.clear();
    for (std::int64_t i = 0; i < count; ++i) numbers_.push_back(item(i));
    types_ = stacked(rows_.row_types(), count);
    pool_.allocate(types_, window);
    destinations_.clear();
    for (const HostTensor& tensor : window) destinations_.push_back(tensor.data());
    rows_.gather(numbers_, destinations_);
  }

  static constexpr std::int64_t most_at_once = 1 << 16;

  const Rows rows_;
  std::vector<std::int64_t> numbers_;
  std::vector<TensorType> types_;
  std::vector<std::byte*> destinations_;
};

class ElementWindowCursor final : public WindowCursor<Element> {
 public:
  ElementWindowCursor(std::unique_ptr<Cursor> source, TensorTypes types, const WindowOptions& options,
                      const CursorOptions& cursor)
      : WindowCursor(std::move(source), types, options, cursor) {}

 private:
  std::int64_t read(std::int64_t count, std::deque<Element>& held) override {
    for (std::int64_t i = 0; i < count; ++i) {
      check_interrupt();
      Element element;
      if (!source_->next(element)) return i;
      held.push_back(std::move(element));
    }
    return count;
  }

  void stack(std::int64_t count, Element& window) override {
    types_.clear();
    for (const HostTensor& tensor : item(0)) types_.push_back(tensor.type());
    for (std::int64_t i = 1; i < count; ++i) {
      for (std::size_t k = 0; k < types_.size(); ++k) {
        if (item(i)[k].type() != types_[k]) refuse(item(i)[k].type(), types_[k]);
      }
    }
    types_ = stacked(types_, count);
    pool_.allocate(types_, window);
    for (std::size_t k = 0; k < types_.size(); ++k) {
      std::byte* to = window[k].data();
      for (std::int64_t i = 0; i < count; ++i) {
        const HostTensor& from = item(i)[k];
        if (from.bytes() > 0) std::memcpy(to, from.data(), from.bytes());
        to += from.bytes();
      }
    }
  }

  [[noreturn]] static void refuse(const TensorType& type, const TensorType& expected) {
    throw Error(
        fmt::format("window: an element has {} where the first of its window has {}; elements that are stacked "
                    "need equal shapes",
                    to_string(type), to_string(expected)));
  }

  std::vector<TensorType> types_;
};

class WindowDataset final : public Transformation {
 public:
  WindowDataset(DatasetPtr source, const WindowOptions& options)
      : Transformation(std::move(source)),
        options_(options),
        types_(stacked(this->source().element_types(), extent())) {}

  std::string_view stage() const override { return window_stage; }
  std::string settings() const override {
    return fmt::format("size={} shift={} stride={}{}", options_.size, options_.shift, options_.stride,
                       options_.drop_remainder ? " drop_remainder" : "");
  }
  DatasetPtr with_source(DatasetPtr source) const override { return window(std::move(source), options_); }
  bool counts_elements() const override { return true; }
  const std::vector<TensorType>& element_types() const override { return types_; }

  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    if (!elements || *elements == endless) return elements;
    const std::int64_t starts = options_.drop_remainder ? *elements - span_of(options_) + 1 : *elements;
    return starts <= 0 ? 0 : (starts - 1) / options_.shift + 1;
  }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    std::unique_ptr<Cursor> cursor = source().open(epoch, options.for_sources());
    if (!cursor->tables().empty()) {
      return std::make_unique<RowWindowCursor>(std::move(cursor), types_, options_, options);
    }
    return std::make_unique<ElementWindowCursor>(std::move(cursor), types_, options_, options);
  }

 private:
  std::int64_t extent() const {
    const std::optional<std::int64_t> elements = source().size();
    if (options_.drop_remainder || elements == endless) return options_.size;
    // Only if the last window's last element exists are all windows full.
    const bool full =
        elements && *elements > 0 && (size().value_or(0) - 1) * options_.shift + span_of(options_) <= *elements;
    return full ? options_.size : varying;
  }

  WindowOptions options_;
  std::vector<TensorType> types_;
};

/// Elements that a cursor may have to keep.
constexpr std::int64_t longest_span = std::int64_t{1} << 24;

void require_positive(std::string_view option, std::int64_t value) {
  if (value < 1) throw Error(fmt::format("window: a {} of {}; at least 1 is needed", option, value));
}

}  // namespace

DatasetPtr window(DatasetPtr source, const WindowOptions& options) {
  require_host_elements(*source, window_stage);
  require_positive("size", options.size);
  require_positive("shift", options.shift);
  require_positive("stride", options.stride);
  if (options.size > longest_span || options.stride > longest_span || span_of(options) > longest_span) {
    throw Error(fmt::format("window: a size of {} with a stride of {}; a window reaches over at most {} elements",
                            options.size, options.stride, longest_span));
  }
  const std::optional<std::int64_t> elements = source->size();
  if (options.drop_remainder && elements && *elements < span_of(options)) {
    throw Error(
        fmt::format("window: a size of {} with a stride of {} and drop_remainder leaves nothing of a dataset of "
                    "{} elements",
                    options.size, options.stride, *elements));
  }
  return std::make_shared<WindowDataset>(std::move(source), options);
}

}  // namespace gpubench
